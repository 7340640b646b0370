"""Verbs on release folders."""

from pathlib import Path
from typing import Annotated

import typer

from hushway.cli.confined import verify_confined
from hushway.cli.screen import AsJson, answer_json, say, table

_VERDICTS = {
    "verified": "It adds up, and is signed by the given key.",
    "signed": "It adds up, and is signed: compare the key above with the publisher's, or give it "
    "with --key.",
    "unsigned": "It adds up; not signed, so nobody answers for it.",
    "not private": "NOT PRIVATE: intact, but its noise can be drawn again. Protects nobody.",
    "failed": "DO NOT TRUST IT: ask the publisher for an intact copy.",
}
_SHOWN = {"failed": "FAILED"}


def verify(
    folder: Annotated[Path, typer.Argument(metavar="RELEASE", help="The release folder.")],
    *,
    key: Annotated[
        Path | None,
        typer.Option("--key", help="The publisher's public key: the signature must be theirs."),
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(
            "--ledger", help="Also ask the publisher's ledger, or the plan that names it."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Recompute what a release claims, as far as that is possible without the data."""
    found = verify_confined(folder, key=key, ledger=ledger)
    if as_json:
        answer_json(found)
    else:
        rows = [
            [_SHOWN.get(check["outcome"], check["outcome"]), check["name"], check["sentence"]]
            for check in found["checks"]
        ]
        table(f"Verification of {folder}", ["", "check", "finding"], rows)
        say(_VERDICTS[found["result"]])
    if not found["passed"]:
        raise typer.Exit(1)
