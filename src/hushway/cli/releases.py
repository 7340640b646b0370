"""Verbs on release folders, and the keys that sign them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from hushway.cli.screen import AsJson, answer_json, say, table, working
from hushway.errors import HushwayError, ReleaseError

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


# Asks for a verification in another process, so that a stranger's folder cannot take this machine.
#
# Limits of files and tables keep what a verifier holds small; this is for what nobody thought of.
# Shapes alone can be drawn so that libraries take hours over a few kilobytes, and no signal stops
# them.

MOST_SECONDS = 60
MOST_MEMORY = 2 << 30

# Every thread sets memory aside, and large machines would start a hundred of them.
_THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "2")
_ADVICE = "To verify it all the same, without limits, use hushway.verify in Python."


def verify_confined(folder: Path, *, key: Path | None, ledger: str | None) -> dict[str, Any]:
    """Verifies a release within `MOST_SECONDS` and `MOST_MEMORY`.

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
        "memory": MOST_MEMORY,
    }
    try:
        done = subprocess.run(
            # -P: a module in the folder where somebody stands must not be taken for one of ours.
            [sys.executable, "-P", "-m", "hushway.cli.verifying"],
            input=json.dumps(question).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=MOST_SECONDS,
            check=False,
            env={**os.environ, **_THREADS},
        )
    except subprocess.TimeoutExpired:
        return _stopped(f"It takes longer than {MOST_SECONDS} seconds, and was stopped.")
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        memory = f"{MOST_MEMORY >> 30} GB"
        return _stopped(f"It ended before an answer, as if it took more than {memory} of memory.")
    if "problem" in answer:
        raise HushwayError(answer["problem"], advice=answer["advice"])
    return answer


def _stopped(sentence: str) -> dict[str, Any]:
    check = {"name": "limits", "outcome": "failed", "sentence": f"{sentence} {_ADVICE}"}
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
