"""A signing key under a passphrase: scrypt and AES-256-GCM, in a PEM block of our own.

A stolen file can be guessed at as fast as its passphrase can be turned into a key. The encrypted
PKCS#8 files that `cryptography` writes take 2,048 rounds of PBKDF2 for that, which is hardly a
hindrance today. scrypt needs memory for every guess; its parameters are those that OWASP advises
(Password Storage Cheat Sheet: N = 2^17, r = 8, p = 1, which is 128 MiB), and every build of
`cryptography` has it. Other parameters mean another version, so that no file can ask for more.
"""

import base64
import binascii
import json
import os
import textwrap
from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from hushway.errors import ReleaseError

SHORTEST_PASSPHRASE = 12

_LABEL = "HUSHWAY ENCRYPTED SIGNING KEY"
_BEGIN, _END = f"-----BEGIN {_LABEL}-----", f"-----END {_LABEL}-----"
_COST, _BLOCK, _LANES = 1 << 17, 8, 1
_METHOD = {
    "version": 1,
    "kdf": "scrypt",
    "n": _COST,
    "r": _BLOCK,
    "p": _LANES,
    "cipher": "AES-256-GCM",
}
_KEY_BYTES, _SALT_BYTES, _NONCE_BYTES = 32, 16, 12
_LINE = 64


class WrongPassphraseError(Exception):
    """A passphrase does not open a key, or the file was changed."""


@dataclass(frozen=True, kw_only=True)
class _Envelope:
    salt: bytes
    nonce: bytes
    ciphertext: bytes

    @property
    def header(self) -> bytes:
        """All but the ciphertext: authenticated with it."""
        return _json({**_METHOD, "salt": self.salt.hex(), "nonce": self.nonce.hex()})


def is_encrypted(data: bytes) -> bool:
    """Whether a file holds a key that `encrypted` wrote."""
    return data.lstrip().startswith(_BEGIN.encode())


def encrypted(raw: bytes, passphrase: str) -> bytes:
    """Returns the file of a private key under a passphrase."""
    refuse_short(passphrase)
    empty = _Envelope(salt=os.urandom(_SALT_BYTES), nonce=os.urandom(_NONCE_BYTES), ciphertext=b"")
    cipher = AESGCM(_derived(passphrase, empty.salt))
    sealed = cipher.encrypt(empty.nonce, raw, empty.header)
    facts = {**json.loads(empty.header), "ciphertext": sealed.hex()}
    lines = textwrap.wrap(base64.b64encode(_json(facts)).decode(), _LINE)
    return "\n".join([_BEGIN, *lines, _END, ""]).encode()


def decrypted(data: bytes, passphrase: str) -> bytes:
    """Returns the bytes of the key that `encrypted` put into a file."""
    envelope = _envelope(data)
    cipher = AESGCM(_derived(passphrase, envelope.salt))
    try:
        return cipher.decrypt(envelope.nonce, envelope.ciphertext, envelope.header)
    except InvalidTag:
        raise WrongPassphraseError from None


def refuse_short(passphrase: str) -> None:
    """Makes sure that a passphrase is long enough to be hard to guess."""
    if len(passphrase.strip()) < SHORTEST_PASSPHRASE:
        raise ReleaseError(
            f"The passphrase is too short: it needs at least {SHORTEST_PASSPHRASE} characters. "
            "Whoever copies the key's file can try short ones until one fits.",
            advice="Take four or more words that do not belong together.",
        )


def _derived(passphrase: str, salt: bytes) -> bytes:
    scrypt = Scrypt(salt=salt, length=_KEY_BYTES, n=_COST, r=_BLOCK, p=_LANES)
    return scrypt.derive(passphrase.encode())


def _envelope(data: bytes) -> _Envelope:
    text = data.decode("ascii").strip()
    try:
        inside = text.removeprefix(_BEGIN).removesuffix(_END)
        body = base64.b64decode("".join(inside.split()), validate=True)
        facts: dict[str, Any] = json.loads(body)
        read = {name: bytes.fromhex(facts.pop(name)) for name in ("salt", "nonce", "ciphertext")}
    except (binascii.Error, LookupError, TypeError, AttributeError):
        raise ValueError("not an envelope of a key") from None
    if facts != _METHOD:
        raise ValueError("another version of the envelope")
    return _Envelope(**read)


def _json(facts: dict[str, Any]) -> bytes:
    return json.dumps(facts, sort_keys=True, separators=(",", ":")).encode()
