"""Verbs on release folders."""

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from hushway.cli.addresses import connect
from hushway.cli.screen import AsJson, answer_json, say, table

_VERDICTS = {
    "verified": "It adds up, and is signed by the given key.",
    "signed": "It adds up, and is signed: compare the key above with the publisher's, or give it "
    "with --key.",
    "unsigned": "It adds up; not signed, so nobody answers for it.",
    "not private": "NOT PRIVATE: intact, but its noise can be drawn again. Protects nobody.",
    "failed": "DO NOT TRUST IT: ask the publisher for an intact copy.",
}


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
    from hushway.artefact.verify import verify as verify_folder
    from hushway.privacy.signing import load_public_key

    public = None if key is None else load_public_key(key)
    with contextlib.ExitStack() as stack:
        book = None if ledger is None else stack.enter_context(connect(ledger))
        result = verify_folder(folder, key=public, ledger=book)
    if as_json:
        answer_json(
            {
                "result": result.result,
                "passed": result.passed,
                "checks": [vars(found) for found in result.checks],
            }
        )
    else:
        rows = [
            [found.outcome if found.passed else "FAILED", found.name, found.sentence]
            for found in result.checks
        ]
        table(f"Verification of {folder}", ["", "check", "finding"], rows)
        say(_VERDICTS[result.result])
    if not result.passed:
        raise typer.Exit(1)
