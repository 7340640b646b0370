"""Commands on signing keys: make a pair, and put it under a passphrase."""

from pathlib import Path
from typing import Annotated

import typer

from hushway.cli.console import notice, say

keys = typer.Typer(help="Make the keys that sign releases, and protect them.", no_args_is_help=True)


def ask_passphrase() -> str | None:
    """Asks the person at the terminal, without showing what is typed."""
    return str(typer.prompt("Passphrase of the signing key", hide_input=True, err=True))


def notice_old_encryption(key: Path | None) -> None:
    """Says so if the passphrase of a signing key can be guessed at quickly."""
    from hushway.privacy.signing import should_be_encrypted_again

    if key is not None and should_be_encrypted_again(key):
        notice(
            f"The signing key {key.name} is encrypted as earlier versions did it: whoever copies "
            "the file can try passphrases quickly. Encrypt it again with: "
            f"hushway keys passphrase {key}"
        )


@keys.command("new")
def new(
    name: Annotated[str, typer.Argument(help="Writes NAME.pem and NAME.pub.pem.")],
    *,
    passphrase: Annotated[
        bool, typer.Option("--passphrase", help="Protect the key with a passphrase.")
    ] = False,
) -> None:
    """Make an Ed25519 key pair: one half signs, the other goes to everyone who verifies."""
    from hushway.steward.keys import new as new_key

    pair = new_key(name, passphrase=_choose_passphrase if passphrase else None)
    say(f"{pair.private}: keep it secret; name it as signing_key in a plan.")
    say(f"{pair.public}: give it to everyone; hushway verify RELEASE --key {pair.public}")
    say(f"Fingerprint: {pair.key.fingerprint}")


@keys.command("passphrase")
def set_new_passphrase(
    file: Annotated[Path, typer.Argument(help="The private half: NAME.pem.")],
) -> None:
    """Give a signing key a new passphrase, and the encryption of this version."""
    from hushway.steward.keys import passphrase

    key = passphrase(file, current=ask_passphrase, new=_choose_passphrase)
    say(f"{file} is encrypted again. The key is the same, and so is its public half.")
    say("Copies of the old file still open with the old passphrase: delete them.")
    say(f"Fingerprint: {key.fingerprint}")


def _choose_passphrase() -> str | None:
    from hushway.privacy.encrypted_key import SHORTEST_PASSPHRASE

    asked = f"New passphrase (at least {SHORTEST_PASSPHRASE} characters)"
    return str(typer.prompt(asked, hide_input=True, confirmation_prompt=True, err=True))
