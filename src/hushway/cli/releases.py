"""Verbs on release folders."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from hushway.cli.screen import AsJson, answer_json, say, table, working
from hushway.facts.verification import failed_facts
from hushway.release.untrusted.confined import OutOfLimitsError, ask_confined

_VERDICTS = {
    "verified": "It adds up, and is signed by the given key.",
    "signed": "It adds up, and is signed: compare the key above with the publisher's, or give it "
    "with --key.",
    "unsigned": "It adds up; not signed.",
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
        _show(folder, found)
    if not found["passed"]:
        raise typer.Exit(1)


def _show(folder: Path, found: dict[str, Any]) -> None:
    """Says which release it is, what was checked, and what follows; in this order."""
    release = found["release"]
    if release is None:
        say(f"{folder}: which release this is cannot be told. See the checks that failed.")
    else:
        table(f"The release in {folder} says that it is", ["", ""], _named(release, found))
    rows = [
        [_SHOWN.get(check["outcome"], check["outcome"]), check["name"], check["sentence"]]
        for check in found["checks"]
    ]
    table("What was checked", ["", "check", "finding"], rows)
    if found["checked_by"] is not None:
        say(
            f"The files of this release type were checked by the package {found['checked_by']}, "
            "which is not part of hushway: trust that finding as far as you trust the package."
        )
    say(_VERDICTS[found["result"]])
    if found["warning"] is not None:
        say(f"WARNING: {found['warning']}")


def _named(release: dict[str, Any], found: dict[str, Any]) -> list[list[str]]:
    """Returns the rows that name a release; what nobody has checked is said to be so."""
    signer = release["signed_by"]
    signed_by = "nobody"
    if signer is not None:
        compared = "the key that you gave" if found["key_given"] else "compared with no key"
        signed_by = f"key {signer['fingerprint']}, {compared}"
    return [
        ["title", release["title"]],
        ["release id", release["id"]],
        ["release type", release["release_type"]],
        ["data set", release["dataset"]],
        ["window", release["window"] or "none: it holds no times"],
        ["account period", release["account_period"]],
        ["protected unit", release["unit"]],
        ["written at", f"{release['created_at']}, by the publisher's clock"],
        ["publisher", release["publisher"] or "not named"],
        ["signed by", signed_by],
        ["certificate", release["certificate"]],
    ]


_ADVICE = "To verify it all the same, without limits, use hushway.verify in Python."


def verify_confined(folder: Path, *, key: Path | None, ledger: str | None) -> dict[str, Any]:
    """Verifies a release in another process, within limits of time and memory.

    Args:
        folder: The release.
        key: The file of the publisher's public key.
        ledger: The publisher's ledger, or the plan that names it.

    Returns:
        Which release it is, the result and all checks, as `verification_facts` tells them; failed
        when the limits did not suffice.

    Raises:
        HushwayError: There is no release, key or ledger to be read.
    """
    question = {
        "folder": str(folder),
        "key": None if key is None else str(key),
        "ledger": ledger,
    }
    try:
        # A ledger may need a password; nothing else needs what the environment says.
        environment = None if ledger is None else os.environ
        return ask_confined("hushway.cli.verifying", question, environment=environment)
    except OutOfLimitsError as problem:
        sentence = f"{problem} {_ADVICE}"
        return failed_facts("limits", sentence)


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
