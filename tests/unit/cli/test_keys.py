"""Making keys by the command, and protecting them."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
)
from typer.testing import CliRunner

from hushway.cli.app import app
from hushway.cli.keys import new, notice_old_encryption
from hushway.errors import ReleaseError
from hushway.privacy.signing import load_signing_key


@pytest.mark.parametrize("name", ["", "  ", ".", "keys/"])
def test_a_key_without_a_name_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ReleaseError, match="needs a name") as caught:
        new(name)
    assert caught.value.advice
    assert not list(tmp_path.iterdir())


@pytest.fixture
def old_key(tmp_path: Path) -> Path:
    """A key as earlier versions encrypted it, under a passphrase of one letter."""
    path = tmp_path / "old.pem"
    encryption = BestAvailableEncryption(b"a")
    key = Ed25519PrivateKey.generate()
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption))
    path.chmod(0o600)
    return path


def test_a_passphrase_of_one_letter_is_refused_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["keys", "new", "agency", "--passphrase"], input="a\na\n")
    assert isinstance(done.exception, ReleaseError)
    assert "at least 12 characters" in str(done.exception)
    assert not list(tmp_path.iterdir())


def test_an_old_key_is_encrypted_again_by_a_command(
    old_key: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = load_signing_key(old_key, passphrase=lambda: "a").public
    notice_old_encryption(old_key)
    assert "hushway keys passphrase" in capsys.readouterr().err
    words = "four words at least"
    done = CliRunner().invoke(
        app, ["keys", "passphrase", str(old_key)], input=f"a\n{words}\n{words}\n"
    )
    assert done.exit_code == 0, done.output
    assert before.fingerprint in done.output
    assert load_signing_key(old_key, passphrase=lambda: words).public == before
    notice_old_encryption(old_key)
    assert capsys.readouterr().err == ""
