"""Keys that sign releases."""

from pathlib import Path
from typing import Annotated

import typer

from hushway.cli.screen import say
from hushway.errors import ReleaseError

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
