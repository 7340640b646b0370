"""Signatures on releases: Ed25519 keys in PEM files.

A seal shows that nothing in a release changed; a signature shows who sealed it. A reader needs the
publisher's public key from somewhere other than the release itself, and compares its fingerprint.
A private key under a passphrase is written by `encrypted_key`; encrypted PKCS#8 files, which
earlier versions wrote, are still read.
"""

import base64
import hashlib
import os
import secrets
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from hushway.errors import ReleaseError
from hushway.privacy.encrypted_key import WrongPassphraseError, decrypted, encrypted, is_encrypted

ALGORITHM = "Ed25519"

Passphrase = Callable[[], str | None]

# What encrypted PKCS#8 files begin with.
_OLD_ENCRYPTION = b"-----BEGIN ENCRYPTED PRIVATE KEY-----"
_OWNER_ONLY = 0o600
_EVERYONE_READS = 0o644
_FIELD = 2**255 - 19
# Points whose double has the height 0 are of order 8; their heights are these two.
_ORDER_8 = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
# The heights of the points of order 4, 1, 2 and 8.
_SMALL_ORDER = frozenset({0, 1, _FIELD - 1, _ORDER_8, _FIELD - _ORDER_8})
# A key in a PEM file is about a hundred bytes, and one with a passphrase a few hundred.
_MOST_BYTES = 1 << 14
_FINGERPRINT_LETTERS = 20
_GROUP = 4


@dataclass(frozen=True)
class PublicKey:
    """The half of a key pair that everyone may have."""

    raw: bytes

    def __post_init__(self) -> None:
        try:
            Ed25519PublicKey.from_public_bytes(self.raw)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            raise _not_a_key("The public key is not an Ed25519 key.") from None
        _refuse_weak(self.raw)

    @property
    def fingerprint(self) -> str:
        """A short name of the key to read out over the phone: 100 bits in five groups of four."""
        letters = base64.b32encode(hashlib.sha256(self.raw).digest()).decode()[
            :_FINGERPRINT_LETTERS
        ]
        return "-".join(letters[i : i + _GROUP] for i in range(0, len(letters), _GROUP))

    @property
    def pem(self) -> bytes:
        """The key as a PEM file."""
        return Ed25519PublicKey.from_public_bytes(self.raw).public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )

    def verifies(self, data: bytes, signature: bytes) -> bool:
        """Returns whether the signature over the data was made with this key's private half."""
        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, data)
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True, repr=False)
class SigningKey:
    """The half of a key pair that never leaves the publisher."""

    private: Ed25519PrivateKey

    @property
    def public(self) -> PublicKey:
        """The other half."""
        return PublicKey(self.private.public_key().public_bytes_raw())

    def sign(self, data: bytes) -> bytes:
        """Returns the signature over the data: 64 bytes."""
        return self.private.sign(data)

    def __repr__(self) -> str:
        return f"SigningKey({self.public.fingerprint})"


def new_key_pair(
    private_path: Path, public_path: Path, *, passphrase: Passphrase | None = None
) -> PublicKey:
    """Makes a key pair and writes both halves, the private one readable by its owner only.

    Args:
        passphrase: Asked for the passphrase that encrypts the private file; without one, the file
            is left plain.
    """
    for path in (private_path, public_path):
        if os.path.lexists(path):
            raise _in_the_way(path)
    key = SigningKey(Ed25519PrivateKey.generate())
    data = _plain_pem(key) if passphrase is None else encrypted_pem(key, passphrase() or "")
    _write_new(private_path, data, _OWNER_ONLY)
    try:
        _write_new(public_path, key.public.pem, _EVERYONE_READS)
    except ReleaseError:
        # Half a pair is of no use, and would be in the way of the next attempt.
        private_path.unlink()
        raise
    return key.public


def set_passphrase(path: Path, *, current: Passphrase, new: Passphrase) -> PublicKey:
    """Encrypts the file of a signing key again, with today's encryption; the key stays the same.

    The new file takes the place of the old one at once or not at all.
    """
    key = load_signing_key(path, passphrase=current)
    data = encrypted_pem(key, new() or "")
    # A link to the key stays a link.
    place = path.resolve()
    partial = place.with_name(f".{place.name}.{secrets.token_hex(8)}")
    try:
        try:
            _write(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY), data)
            partial.replace(place)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as problem:
        raise _unwritable(path, problem, " It is as it was.") from None
    return key.public


def encrypted_pem(key: SigningKey, passphrase: str) -> bytes:
    """Returns the file of a private key under a passphrase."""
    return encrypted(key.private.private_bytes_raw(), passphrase)


def load_signing_key(path: Path, *, passphrase: Passphrase | None = None) -> SigningKey:
    """Reads a private key; the passphrase is asked for only if the file is encrypted."""
    data = _read(path)
    try:
        if is_encrypted(data) or has_old_encryption(data):
            key = _opened(data, _asked(path, passphrase))
        else:
            key = _private_key(data, None)
    except WrongPassphraseError:
        raise ReleaseError(
            f"The passphrase does not open the signing key {path.name}.",
            advice="Try again; a lost passphrase cannot be recovered.",
        ) from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise _not_a_key(f"{path.name} is not a private key.") from None
    _refuse_open(path)
    return SigningKey(key)


def has_old_encryption(data: bytes) -> bool:
    """Whether a file holds a key under a passphrase that can be guessed at quickly."""
    return data.lstrip().startswith(_OLD_ENCRYPTION)


def should_be_encrypted_again(path: Path) -> bool:
    """Whether a signing key's file can be guessed at quickly; False if there is none.

    The file is not opened with its passphrase for that.
    """
    try:
        return has_old_encryption(_read(path))
    except ReleaseError:
        return False


def _asked(path: Path, passphrase: Passphrase | None) -> str:
    secret = passphrase() if passphrase else None
    if not secret:
        raise ReleaseError(
            f"The signing key {path.name} is encrypted.", advice="Give its passphrase."
        )
    return secret


def _opened(data: bytes, secret: str) -> Ed25519PrivateKey:
    if is_encrypted(data):
        return Ed25519PrivateKey.from_private_bytes(decrypted(data, secret))
    try:
        return _private_key(data, secret.encode())
    except ValueError:
        # The library does not tell a wrong passphrase from a damaged file.
        raise WrongPassphraseError from None


def _plain_pem(key: SigningKey) -> bytes:
    return key.private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _refuse_open(path: Path) -> None:
    if stat.S_IMODE(path.stat().st_mode) & (stat.S_IRWXG | stat.S_IRWXO):
        raise ReleaseError(
            f"Others may read or replace the signing key {path.name}.",
            advice=f"Take that right away (chmod 600 {path.name}), and ask yourself whether "
            "somebody has used it.",
        )


def load_public_key(path: Path) -> PublicKey:
    """Reads a public key."""
    try:
        key = serialization.load_pem_public_key(_read(path))
    except (ValueError, UnsupportedAlgorithm):
        raise _not_a_key(f"{path.name} is not a public key.") from None
    if not isinstance(key, Ed25519PublicKey):
        raise _not_a_key(f"{path.name} holds a key of another kind.")
    return PublicKey(key.public_bytes_raw())


def _refuse_weak(raw: bytes) -> None:
    """Refuses keys under which anybody can sign: points of small order, however they are written.

    The curve has eight of them. Two points share each height (the sign is the topmost bit), and
    heights from the field's size on are second ways to write small ones.
    """
    height = int.from_bytes(raw, "little") & ((1 << 255) - 1)
    if height >= _FIELD or height in _SMALL_ORDER:
        raise ReleaseError(
            "The public key is a weak one: it is not written in the one right way, or signatures "
            "under it can be made by anybody.",
            advice="Do not trust it; ask the publisher for a key made by `hushway keys new`.",
        )


def _private_key(data: bytes, secret: bytes | None) -> Ed25519PrivateKey:
    key = serialization.load_pem_private_key(data, secret)
    if not isinstance(key, Ed25519PrivateKey):
        raise _not_a_key("The signing key is a key of another kind.")
    return key


def _read(path: Path) -> bytes:
    if path.exists() and not path.is_file():
        raise _not_a_key(f"{path.name} is not a file.")
    try:
        # A pipe may hand over a key too, and so may a device without an end.
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as problem:
        raise ReleaseError(
            f"The key {path.name} cannot be read: {problem.strerror}.",
            advice="Check the path and its permissions.",
        ) from None
    if len(data) > _MOST_BYTES:
        raise _not_a_key(f"{path.name} is larger than any file with a key.")
    return data


def _write_new(path: Path, data: bytes, mode: int) -> None:
    """Writes a file that did not exist, with its permissions from the first moment on."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        raise _in_the_way(path) from None
    except OSError as problem:
        raise _unwritable(path, problem) from None
    try:
        _write(handle, data)
    except OSError as problem:
        path.unlink(missing_ok=True)
        raise _unwritable(path, problem) from None


def _write(handle: int, data: bytes) -> None:
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _in_the_way(path: Path) -> ReleaseError:
    return ReleaseError(
        f"There is already a file {path.name}; a key is never overwritten.",
        advice="Choose another name, or move the old key away.",
    )


def _unwritable(path: Path, problem: OSError, state: str = "") -> ReleaseError:
    return ReleaseError(
        f"The key {path.name} cannot be written: {problem.strerror}.{state}",
        advice="Check the folder, its permissions and the space on the disk.",
    )


def _not_a_key(message: str) -> ReleaseError:
    return ReleaseError(
        message, advice="Give a PEM file with an Ed25519 key, as `new_key_pair` writes it."
    )
