"""The verbs on signing keys: make a pair, and put it under a passphrase."""

from dataclasses import dataclass
from pathlib import Path

from hushway.errors import ReleaseError
from hushway.privacy.signing import Passphrase, PublicKey, new_key_pair, set_passphrase


@dataclass(frozen=True, kw_only=True)
class KeyPair:
    """The two files of a key.

    Attributes:
        private: The file that signs; to be kept secret.
        public: The file for everyone who verifies.
        key: The public half.
    """

    private: Path
    public: Path
    key: PublicKey


def new(name: Path | str, *, passphrase: Passphrase | None = None) -> KeyPair:
    """Makes an Ed25519 key pair: one half signs, the other goes to everyone who verifies.

    Args:
        name: Writes NAME.pem and NAME.pub.pem.
        passphrase: Called for the passphrase that protects the key; without one it is left plain.

    Raises:
        ReleaseError: The name is empty, or a file is in the way or cannot be written.
    """
    private, public = Path(f"{name}.pem"), Path(f"{name}.pub.pem")
    if not private.name.removesuffix(".pem").strip(" ."):
        raise ReleaseError(
            "A key needs a name: NAME.pem and NAME.pub.pem are called after it.",
            advice="Give one, such as: hushway keys new agency",
        )
    key = new_key_pair(private, public, passphrase=passphrase)
    return KeyPair(private=private, public=public, key=key)


def passphrase(file: Path | str, *, current: Passphrase, new: Passphrase) -> PublicKey:
    """Gives a signing key a new passphrase, and the encryption of this version.

    Args:
        file: The private half, encrypted or not.
        current: Called for its passphrase if it has one.
        new: Called for the passphrase that it gets.

    Raises:
        ReleaseError: The file is no key, a passphrase is wrong, or the file cannot be replaced.
    """
    return set_passphrase(Path(file), current=current, new=new)
