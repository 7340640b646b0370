import os
import re
import stat
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from hushway.errors import ReleaseError
from hushway.privacy.signing import PublicKey, load_public_key, load_signing_key, new_key_pair
from support.small_order import POINTS, WEAK_KEYS, decoded, times_8


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    private, public = tmp_path / "key.pem", tmp_path / "key.pub.pem"
    new_key_pair(private, public)
    return private, public


def test_a_signature_verifies_with_the_other_half_only(
    tmp_path: Path, pair: tuple[Path, Path]
) -> None:
    key, public = load_signing_key(pair[0]), load_public_key(pair[1])
    other = new_key_pair(tmp_path / "other.pem", tmp_path / "other.pub.pem")
    signature = key.sign(b"seal")
    assert key.public == public
    assert public.verifies(b"seal", signature)
    assert not public.verifies(b"sea1", signature)
    assert not public.verifies(b"seal", signature[:-1])
    assert not other.verifies(b"seal", signature)


def test_the_private_half_is_readable_by_its_owner_only(pair: tuple[Path, Path]) -> None:
    assert stat.S_IMODE(pair[0].stat().st_mode) == 0o600


def test_a_key_is_never_overwritten(tmp_path: Path, pair: tuple[Path, Path]) -> None:
    before = [path.read_bytes() for path in pair]
    for private, public in [pair, (pair[0], tmp_path / "new"), (tmp_path / "new", pair[1])]:
        with pytest.raises(ReleaseError, match="never overwritten"):
            new_key_pair(private, public)
    assert [path.read_bytes() for path in pair] == before
    assert not (tmp_path / "new").exists()


def test_half_a_pair_is_never_left_behind(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="cannot be written"):
        new_key_pair(tmp_path / "key.pem", tmp_path / "missing" / "key.pub.pem")
    assert list(tmp_path.iterdir()) == []


def test_a_passphrase_protects_the_private_half(tmp_path: Path) -> None:
    private, public = tmp_path / "key.pem", tmp_path / "key.pub.pem"
    made = new_key_pair(private, public, passphrase=lambda: "open, old sesame")
    assert b"ENCRYPTED" in private.read_bytes()
    assert load_signing_key(private, passphrase=lambda: "open, old sesame").public == made
    with pytest.raises(ReleaseError, match="does not open"):
        load_signing_key(private, passphrase=lambda: "close, old sesame")
    with pytest.raises(ReleaseError, match="encrypted"):
        load_signing_key(private)


@pytest.mark.parametrize("short", ["", "a", "eleven char", "a           ", None])
def test_a_passphrase_that_is_quickly_guessed_is_refused(tmp_path: Path, short: str | None) -> None:
    with pytest.raises(ReleaseError, match="too short") as caught:
        new_key_pair(tmp_path / "key.pem", tmp_path / "key.pub.pem", passphrase=lambda: short)
    assert caught.value.advice
    assert list(tmp_path.iterdir()) == []


def test_a_passphrase_is_not_asked_for_without_need(pair: tuple[Path, Path]) -> None:
    key = load_signing_key(pair[0], passphrase=lambda: pytest.fail("asked"))
    assert key.public == load_public_key(pair[1])


def test_a_fingerprint_is_short_and_readable(pair: tuple[Path, Path]) -> None:
    key = load_signing_key(pair[0])
    assert re.fullmatch(r"([A-Z2-7]{4}-){4}[A-Z2-7]{4}", key.public.fingerprint)
    assert repr(key) == f"SigningKey({key.public.fingerprint})"


def test_wrong_files_give_clear_errors(tmp_path: Path, pair: tuple[Path, Path]) -> None:
    junk = tmp_path / "junk.pem"
    junk.write_bytes(b"junk")
    for load in (load_signing_key, load_public_key):
        with pytest.raises(ReleaseError, match="cannot be read"):
            load(tmp_path / "missing.pem")
        with pytest.raises(ReleaseError, match="not a"):
            load(junk)
    with pytest.raises(ReleaseError, match="not a private key"):
        load_signing_key(pair[1])
    with pytest.raises(ReleaseError, match="not a public key"):
        load_public_key(pair[0])


def test_keys_of_another_kind_are_refused(tmp_path: Path) -> None:
    key = generate_private_key(SECP256R1())
    private, public = tmp_path / "ec.pem", tmp_path / "ec.pub.pem"
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    public.write_bytes(
        key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    )
    with pytest.raises(ReleaseError, match="another kind"):
        load_signing_key(private)
    with pytest.raises(ReleaseError, match="another kind"):
        load_public_key(public)


def test_a_public_key_is_32_bytes() -> None:
    with pytest.raises(ReleaseError, match="Ed25519"):
        PublicKey(b"short")


@pytest.mark.parametrize("mode", [0o666, 0o640, 0o604, 0o620])
def test_a_key_that_others_may_use_is_not_used(pair: tuple[Path, Path], mode: int) -> None:
    pair[0].chmod(mode)
    with pytest.raises(ReleaseError, match="Others may read or replace"):
        load_signing_key(pair[0])
    pair[0].chmod(0o400)
    assert load_signing_key(pair[0]).public == load_public_key(pair[1])


def test_the_weak_keys_are_all_ways_to_write_the_points_of_small_order() -> None:
    assert len(set(POINTS)) == 8
    assert {times_8(point) for point in POINTS} == {(0, 1)}
    points = {decoded(key) for key in WEAK_KEYS}
    assert points == set(POINTS)
    # Eight as they should be written, two signs of points without one, and heights beyond the
    # field: 0 and 1, with either sign.
    assert len(WEAK_KEYS) == 14


@pytest.mark.parametrize("raw", WEAK_KEYS, ids=bytes.hex)
def test_a_key_under_which_anybody_can_sign_is_refused(tmp_path: Path, raw: bytes) -> None:
    with pytest.raises(ReleaseError, match="weak"):
        PublicKey(raw)
    path = tmp_path / "weak.pub.pem"
    path.write_bytes(
        Ed25519PublicKey.from_public_bytes(raw).public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    )
    with pytest.raises(ReleaseError, match="weak"):
        load_public_key(path)


def test_a_height_beyond_the_field_is_refused_whatever_the_point() -> None:
    # The same as a height of 3, which is a point of large order.
    raw = (2**255 - 19 + 3).to_bytes(32, "little")
    with pytest.raises(ReleaseError, match="right way"):
        PublicKey(raw)
    assert PublicKey((3).to_bytes(32, "little")).raw[0] == 3


def test_a_key_without_an_end_is_not_read_to_it(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="not a file"):
        load_public_key(Path("/dev/zero"))
    path = tmp_path / "key.pem"
    path.write_bytes(b"x" * 20_000)
    with pytest.raises(ReleaseError, match="larger than any"):
        load_signing_key(path)


@pytest.mark.parametrize("load", [load_signing_key, load_public_key])
def test_a_key_in_a_pipe_is_not_waited_for(load: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "key.pem")
    with pytest.raises(ReleaseError, match=r"key\.pem is not a file"):
        load(tmp_path / "key.pem")
