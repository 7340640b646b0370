"""What is installed is what was locked: every pin has a hash, and no lock names a registry."""

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import requires, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_ROOT = Path(__file__).parents[2]
_FOLDER = _ROOT / "requirements"
_LOCKS = {str(lock.relative_to(_FOLDER)): lock for lock in sorted(_FOLDER.rglob("*.lock"))}
# A pin, and everything up to the next line that begins at the margin.
_PIN = re.compile(r"^([a-z0-9][\w.\[\]-]*==.*(?:\n[ #].*)*)", re.MULTILINE)
_PROJECT = tomllib.loads((_ROOT / "pyproject.toml").read_text("utf-8"))
_EXTRAS = list(_PROJECT["project"]["optional-dependencies"])


def pins(name: str) -> dict[str, str]:
    """The versions of a lock that are meant for this machine."""
    lines = (pin.partition("\n")[0] for pin in _PIN.findall(_LOCKS[name].read_text("utf-8")))
    found = (Requirement(line.removesuffix("\\").strip()) for line in lines)
    return {
        canonicalize_name(one.name): str(one.specifier).removeprefix("==")
        for one in found
        if one.marker is None or one.marker.evaluate()
    }


def needed(name: str, extras: frozenset[str], seen: set[tuple[str, str]]) -> Iterator[str]:
    """The names of all that a package asks for on this machine, as its metadata say."""
    for text in requires(name) or []:
        asked = Requirement(text)
        for extra in extras | {""}:
            if asked.marker is not None and not asked.marker.evaluate({"extra": extra}):
                continue
            key = canonicalize_name(asked.name), ",".join(sorted(asked.extras))
            if key not in seen:
                seen.add(key)
                yield key[0]
                yield from needed(asked.name, frozenset(asked.extras), seen)


@pytest.fixture
def as_locked() -> None:
    """Other versions, such as the oldest that are admitted, ask for other packages."""
    if any(version(name) != pinned for name, pinned in pins("run.lock").items()):
        pytest.skip("other versions are installed than the locks of users name")


def test_there_are_locks_for_users_developers_and_the_installer() -> None:
    extras = [f"extras/{extra}.lock" for extra in _EXTRAS]
    assert list(_LOCKS) == sorted([*extras, "dev.lock", "lowest.lock", "run.lock", "uv.lock"])


@pytest.mark.parametrize("lock", _LOCKS)
def test_every_pin_has_a_hash(lock: str) -> None:
    text = _LOCKS[lock].read_text("utf-8")
    found = _PIN.findall(text)
    assert len(found) == len(re.findall(r"^\S", text, re.MULTILINE)) > 0
    assert all("--hash=sha256:" in pin for pin in found)


@pytest.mark.parametrize("lock", _LOCKS)
def test_no_lock_names_a_registry(lock: str) -> None:
    assert "://" not in _LOCKS[lock].read_text("utf-8")


@pytest.mark.usefixtures("as_locked")
@pytest.mark.parametrize("extra", ["", *_EXTRAS])
def test_users_get_all_that_they_need_by_locks_and_nothing_else(extra: str) -> None:
    locked = pins("run.lock") | (pins(f"extras/{extra}.lock") if extra else {})
    asked = set(needed("hushway", frozenset({extra}), set()))
    assert set(locked) == asked


@pytest.mark.parametrize("extra", _EXTRAS)
def test_the_lock_of_an_extra_only_adds_to_that_of_users(extra: str) -> None:
    assert not set(pins(f"extras/{extra}.lock")) & set(pins("run.lock"))


@pytest.mark.parametrize("lock", ["run.lock", *(f"extras/{extra}.lock" for extra in _EXTRAS)])
def test_users_get_the_versions_that_tests_run_with(lock: str) -> None:
    assert pins(lock).items() <= pins("dev.lock").items()


@pytest.mark.usefixtures("as_locked")
def test_without_extras_nothing_pins_duckdb_but_hushway() -> None:
    """A package that asks for one very version of it decides for everybody when to follow."""
    names = set(pins("run.lock"))
    asked = [Requirement(text) for name in names for text in requires(name) or []]
    pinned = {one.name for one in asked if one.name == "duckdb" and "==" in str(one.specifier)}
    assert not pinned
    assert "duckdb-extension-httpfs" not in names


def test_users_find_their_locks_in_the_sdist() -> None:
    packed = _PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert {"/requirements/run.lock", "/requirements/extras"} <= set(packed)


@pytest.mark.parametrize("extra", _EXTRAS)
def test_every_extra_is_described_where_installing_is(extra: str) -> None:
    page = (_ROOT / "docs/operations/installing.md").read_text("utf-8")
    assert f"| `hushway[{extra}]` |" in page
