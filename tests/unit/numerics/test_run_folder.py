"""Folders of runs: private, gone at the end, and swept after a kill."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hushway.numerics.run_folder import run_folder

KILLED = """
import os, signal, sys
from pathlib import Path
from hushway.numerics.run_folder import run_folder
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
