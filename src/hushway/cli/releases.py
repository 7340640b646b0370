"""Verbs on release folders, and the keys that sign them."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from hushway.cli.screen import AsJson, answer_json, say, table, working
from hushway.errors import ReleaseError
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
        # A ledger may need a password; nothing else needs what the environment says.
        environment = None if ledger is None else os.environ
        return ask_confined("hushway.cli.verifying", question, environment=environment)
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


keys = typer.Typer(help="Make the keys that sign releases.", no_args_is_help=True)


def ask_passphrase() -> str | None:
    """Asks the person at the terminal, without showing what is typed."""
    return str(typer.prompt("Passphrase of the signing key", hide_input=True))


@keys.command("new")
def new(
    name: Annotated[str, typer.Argument(help="Writes NAME.pem and NAME.pub.pem.")],
    *,
    passphrase: Annotated[
        bool, typer.Option("--passphrase", help="Protect the key with a passphrase.")
    ] = False,
) -> None:
    """Make an Ed25519 key pair: one half signs, the other goes to everyone who verifies."""
    from hushway.privacy.signing import new_key_pair

    if not Path(f"{name}.pem").name.removesuffix(".pem").strip(" ."):
        raise ReleaseError(
            "A key needs a name: NAME.pem and NAME.pub.pem are called after it.",
            advice="Give one, such as: hushway keys new agency",
        )
    ask = _choose_passphrase if passphrase else None
    private, public = Path(f"{name}.pem"), Path(f"{name}.pub.pem")
    key = new_key_pair(private, public, passphrase=ask)
    say(f"{private}: keep it secret; name it as signing_key in a plan.")
    say(f"{public}: give it to everyone; hushway verify RELEASE --key {public}")
    say(f"Fingerprint: {key.fingerprint}")


def _choose_passphrase() -> str | None:
    return str(typer.prompt("New passphrase", hide_input=True, confirmation_prompt=True))
