"""Signing keys under passphrases: today's encryption, and that of earlier versions."""

import base64
import json
import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
)

from hushway.errors import ReleaseError
from hushway.privacy import encrypted_key
from hushway.privacy.encrypted_key import decrypted, encrypted
from hushway.privacy.signing import (
    load_signing_key,
    new_key_pair,
    set_passphrase,
    should_be_encrypted_again,
)

WORDS = "correct horse battery staple"
RAW = bytes(range(32))


def envelope(data: bytes) -> dict[str, object]:
    lines = data.decode().splitlines()[1:-1]
    read: dict[str, object] = json.loads(base64.b64decode("".join(lines)))
    return read


def written(facts: dict[str, object]) -> bytes:
    body = base64.b64encode(json.dumps(facts).encode()).decode()
    label = "HUSHWAY ENCRYPTED SIGNING KEY"
    return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----\n".encode()


def old_file(path: Path, passphrase: bytes) -> Path:
    """Writes a key as earlier versions encrypted it."""
    key = Ed25519PrivateKey.generate()
    encryption = BestAvailableEncryption(passphrase)
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption))
    path.chmod(0o600)
    return path


def test_a_guess_costs_what_owasp_advises_for_scrypt() -> None:
    facts = envelope(encrypted(RAW, WORDS))
    cost = int(str(facts["n"])), int(str(facts["r"])), int(str(facts["p"]))
    assert (facts["kdf"], facts["cipher"]) == ("scrypt", "AES-256-GCM")
    assert cost[0] >= 1 << 17
    assert cost[1:] == (8, 1)


def test_the_same_key_and_passphrase_never_make_the_same_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(encrypted_key, "_COST", 2)
    one, other = envelope(encrypted(RAW, WORDS)), envelope(encrypted(RAW, WORDS))
    assert {name for name in one if one[name] == other[name]}.isdisjoint(
        {"salt", "nonce", "ciphertext"}
    )


@pytest.mark.parametrize("name", ["version", "kdf", "n", "r", "p", "cipher", "salt", "ciphertext"])
def test_no_part_of_the_file_can_be_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(encrypted_key, "_COST", 2)
    facts = envelope(encrypted(RAW, WORDS))
    old = facts[name]
    facts[name] = old + 1 if isinstance(old, int) else f"{str(old)[:-2]}00"
    path = tmp_path / "key.pem"
    path.write_bytes(written(facts))
    path.chmod(0o600)
    with pytest.raises(ReleaseError, match=r"not a private key|does not open"):
        load_signing_key(path, passphrase=lambda: WORDS)


@pytest.mark.parametrize("body", [b"", b"!", b"e30=", b"W10=", b"\xff"])
def test_a_damaged_file_is_one_clear_error(tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "key.pem"
    path.write_bytes(b"-----BEGIN HUSHWAY ENCRYPTED SIGNING KEY-----\n" + body)
    path.chmod(0o600)
    with pytest.raises(ReleaseError, match=r"key\.pem is not a private key"):
        load_signing_key(path, passphrase=lambda: WORDS)


def test_an_old_key_is_read_and_encrypted_again(tmp_path: Path) -> None:
    path = old_file(tmp_path / "old.pem", b"a")
    before = load_signing_key(path, passphrase=lambda: "a").public
    assert should_be_encrypted_again(path)
    assert set_passphrase(path, current=lambda: "a", new=lambda: WORDS) == before
    assert not should_be_encrypted_again(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]
    assert load_signing_key(path, passphrase=lambda: WORDS).public == before


def test_a_plain_key_gets_a_passphrase_without_being_asked_for_one(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    made = new_key_pair(path, tmp_path / "key.pub.pem")
    assert set_passphrase(path, current=lambda: pytest.fail("asked"), new=lambda: WORDS) == made
    assert b"BEGIN PRIVATE KEY" not in path.read_bytes()


@pytest.mark.parametrize(("current", "new"), [("b", WORDS), ("a", "short")])
def test_a_key_stays_as_it_was_when_it_is_not_encrypted_again(
    tmp_path: Path, current: str, new: str
) -> None:
    path = old_file(tmp_path / "old.pem", b"a")
    before = path.read_bytes()
    with pytest.raises(ReleaseError, match=r"does not open|too short"):
        set_passphrase(path, current=lambda: current, new=lambda: new)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_passphrase_may_be_of_any_letters() -> None:
    words = "Straße — Überfahrt 東京"
    assert decrypted(encrypted(RAW, words), words) == RAW
