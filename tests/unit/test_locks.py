"""What `make` installs is what was locked: every pin has a hash, and no lock names a registry."""

import re
from pathlib import Path

import pytest

_FOLDER = Path(__file__).parents[2] / "requirements"
_LOCKS = sorted(_FOLDER.glob("*.lock"))
# A pin, and everything up to the next line that begins at the margin.
_PIN = re.compile(r"^([a-z0-9][\w.\[\]-]*==.*(?:\n[ #].*)*)", re.MULTILINE)


def test_there_are_locks_for_users_developers_and_the_installer() -> None:
    assert [lock.stem for lock in _LOCKS] == ["dev", "lowest", "run", "uv"]


@pytest.mark.parametrize("lock", _LOCKS, ids=lambda lock: lock.stem)
def test_every_pin_has_a_hash(lock: Path) -> None:
    text = lock.read_text("utf-8")
    pins = _PIN.findall(text)
    assert len(pins) == len(re.findall(r"^\S", text, re.MULTILINE)) > 0
    assert all("--hash=sha256:" in pin for pin in pins)


@pytest.mark.parametrize("lock", _LOCKS, ids=lambda lock: lock.stem)
def test_no_lock_names_a_registry(lock: Path) -> None:
    assert "://" not in lock.read_text("utf-8")
