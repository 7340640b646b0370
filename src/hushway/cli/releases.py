"""Verbs on release folders."""

from pathlib import Path
from typing import Annotated, Any

import typer

from hushway.cli.screen import AsJson, answer_json, say, table, working
from hushway.release.confined import OutOfLimitsError, ask_confined

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


_ADVICE = "To verify it all the same, without limits, use hushway.verify in Python."


def verify_confined(folder: Path, *, key: Path | None, ledger: str | None) -> dict[str, Any]:
    """Verifies a release in another process, within limits of time and memory.

    Args:
        folder: The release.
        key: The file of the publisher's public key.
        ledger: The publisher's ledger, or the plan that names it.

    Returns:
        The result, whether it passed, and all checks; failed when the limits did not suffice.

    Raises:
        HushwayError: There is no release, key or ledger to be read.
    """
    question = {
        "folder": str(folder),
        "key": None if key is None else str(key),
        "ledger": ledger,
    }
    try:
        return ask_confined("hushway.cli.verifying", question)
    except OutOfLimitsError as problem:
        sentence = f"{problem} {_ADVICE}"
        check = {"name": "limits", "outcome": "failed", "sentence": sentence}
        return {"result": "failed", "passed": False, "checks": [check]}


def synthesize(
    release: Annotated[
        Path, typer.Argument(help="A release folder of the release type od or sequences.")
    ],
    file: Annotated[Path, typer.Argument(help="The file to write: CSV or Parquet.")],
    *,
    seed: Annotated[int, typer.Option(help="Chooses the draw and the times.", min=0)] = 1,
    table: Annotated[
        bool, typer.Option("--table", help="Write a drawn OD table, not single trips.")
    ] = False,
) -> None:
    """Write synthetic trips or taps that fit a release; costs no budget."""
    from hushway.families.synthesis import synthesize as write_synthetic

    with working() as show:
        written = write_synthetic(release, file, seed=seed, table=table, progress=show)
    say(written)
