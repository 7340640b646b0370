"""Puts a signing key under another passphrase, and under today's encryption."""

import os
import secrets
from pathlib import Path

from hushway.errors import ReleaseError
from hushway.privacy.signing import Passphrase, PublicKey, encrypted_pem, load_signing_key

_OWNER_ONLY = 0o600


def set_passphrase(path: Path, *, current: Passphrase, new: Passphrase) -> PublicKey:
    """Encrypts the file of a signing key again; the key itself stays the same.

    The new file takes the place of the old one at once or not at all.

    Args:
        path: The private half, encrypted or not.
        current: Asked for its passphrase if it has one.
        new: Asked for the passphrase that it gets.

    Returns:
        The public half, which does not change.

    Raises:
        ReleaseError: There is no such key, a passphrase is wrong or too short, or the file cannot
            be written.
    """
    key = load_signing_key(path, passphrase=current)
    _replace(path, encrypted_pem(key, new() or ""))
    return key.public


def _replace(path: Path, data: bytes) -> None:
    # A link to the key stays a link.
    place = path.resolve()
    partial = place.with_name(f".{place.name}.{secrets.token_hex(8)}")
    try:
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(place)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as problem:
        raise ReleaseError(
            f"The key {path.name} cannot be written: {problem.strerror}. It is as it was.",
            advice="Check the folder, its permissions and the space on the disk.",
        ) from None
