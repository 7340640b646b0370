import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hushway.numerics import private_folder
from hushway.numerics.private_folder import hold_private, move_away


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "code"


def held(folder: Path) -> bool:
    """Holds a folder for a moment, and says that it could."""
    os.close(hold_private(folder))
    return True


def test_a_new_folder_and_those_above_it_are_the_owners_alone(folder: Path) -> None:
    before = os.umask(0)
    try:
        assert held(folder)
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert folder.parent.stat().st_mode & 0o777 == 0o700


def test_a_folder_of_somebody_else_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert held(folder)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(PermissionError, match="belongs to somebody else"):
        hold_private(folder)


@pytest.mark.parametrize("mode", [0o720, 0o702])
def test_a_folder_that_others_may_write_to_is_refused(folder: Path, mode: int) -> None:
    assert held(folder)
    folder.chmod(mode)
    with pytest.raises(PermissionError, match="others may write"):
        hold_private(folder)


@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_a_folder_that_others_could_replace_is_refused(folder: Path, mode: int) -> None:
    assert held(folder)
    folder.parent.chmod(mode)
    with pytest.raises(PermissionError, match="others could replace"):
        hold_private(folder)


def test_a_folder_below_one_for_everybodys_temporary_files_is_taken(folder: Path) -> None:
    assert held(folder)
    folder.parent.chmod(0o1777)
    assert held(folder)


def test_a_folder_below_somebody_elses_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert held(folder)
    real = Path.stat

    def theirs(path: Path, **how: bool) -> os.stat_result:
        found = real(path, **how)
        if path != folder.parent:
            return found
        fields = list(found)
        fields[4] = os.getuid() + 1
        return os.stat_result(fields)

    monkeypatch.setattr(Path, "stat", theirs)
    with pytest.raises(PermissionError, match="others could replace"):
        hold_private(folder)


def test_a_link_is_refused(folder: Path, tmp_path: Path) -> None:
    assert held(folder)
    link = tmp_path / "link"
    link.symlink_to(folder)
    with pytest.raises(NotADirectoryError, match="not a folder"):
        hold_private(link)


def test_a_held_folder_is_not_moved_and_a_free_one_is(folder: Path) -> None:
    aside = folder.with_name("aside")
    handle = hold_private(folder)
    assert not move_away(folder, aside)
    os.close(handle)
    assert move_away(folder, aside)
    assert not folder.exists()
    assert aside.is_dir()


def moved_before(folder: Path, real: Callable[..., None], times: int) -> Callable[..., None]:
    """Returns a step before which the folder is moved away, so many times."""
    moves = iter(range(times))

    def late(*arguments: Any) -> None:
        move = next(moves, None)
        if move is not None:
            folder.rename(folder.with_name(f"aside{move}"))
        real(*arguments)

    return late


@pytest.mark.parametrize(
    "step", ["fcntl.flock", "hushway.numerics.private_folder._check"], ids=["lock", "check"]
)
def test_a_folder_that_is_moved_while_it_is_taken_is_made_again(
    folder: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = {"fcntl.flock": fcntl.flock}.get(step, private_folder._check)
    monkeypatch.setattr(step, moved_before(folder, real, times=2))
    handle = hold_private(folder)
    assert os.path.samestat(os.fstat(handle), folder.stat())
    os.close(handle)


def test_a_folder_that_is_always_moved_is_given_up(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private_folder, "_check", moved_before(folder, private_folder._check, 99))
    with pytest.raises(OSError, match="again and again"):
        hold_private(folder)
