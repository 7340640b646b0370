"""Folders that nobody else can change, and folders of runs: gone at the end, swept after a kill."""

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hushway.numerics import folders
from hushway.numerics.folders import hold_private, move_away, run_folder


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
    "step", ["fcntl.flock", "hushway.numerics.folders._check"], ids=["lock", "check"]
)
def test_a_folder_that_is_moved_while_it_is_taken_is_made_again(
    folder: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = {"fcntl.flock": fcntl.flock}.get(step, folders._check)
    monkeypatch.setattr(step, moved_before(folder, real, times=2))
    handle = hold_private(folder)
    assert os.path.samestat(os.fstat(handle), folder.stat())
    os.close(handle)


def test_a_folder_that_is_always_moved_is_given_up(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "_check", moved_before(folder, folders._check, 99))
    with pytest.raises(OSError, match="again and again"):
        hold_private(folder)


KILLED = """
import os, signal, sys
from pathlib import Path
from hushway.numerics.folders import run_folder
with run_folder(Path(sys.argv[1]), "test") as folder:
    (folder / "left").touch()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_folder_is_private_and_gone_at_the_end(tmp_path: Path) -> None:
    with run_folder(tmp_path, "test") as folder:
        (folder / "file").touch()
        assert folder.stat().st_mode & 0o077 == 0
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_taken_away_by_the_next_of_its_kind(tmp_path: Path) -> None:
    with run_folder(tmp_path, "test") as living:
        subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
        runs = tmp_path / f"hushway-test-{os.geteuid()}"
        assert len(list(runs.iterdir())) == 2
        with run_folder(tmp_path, "test") as next_one:
            assert set(runs.iterdir()) == {living, next_one}


def test_a_place_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotADirectoryError), run_folder(tmp_path / "none", "test"):
        pass
