"""Rows that do not fit into memory: private while they lie on disk, and gone afterwards."""

import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from hushway.engine.embedded import NO_FOREIGN_CODE, embedded_session
from hushway.engine.settings import EngineSettings
from hushway.engine.spilling import can_encrypt_spills, spill_folder
from hushway.errors import DataError

# Sorts more rows than fit, and says so when they have begun to lie on disk.
SPILLING = """
import sys, threading, time
from pathlib import Path
from hushway.engine.embedded import embedded_session
from hushway.engine.settings import EngineSettings

place, encrypted = Path(sys.argv[1]), sys.argv[2] == "encrypted"
settings = EngineSettings(
    memory_limit="60MB", threads=1, temp_folder=place, encrypt_spills=encrypted
)

def tell():
    while not any(path.stat().st_size for path in place.rglob("duckdb_temp*")):
        time.sleep(0.01)
    print("spilt", flush=True)

threading.Thread(target=tell, daemon=True).start()
rows = "SELECT 'somebody-' || (i * 7919 % 1000003) AS id FROM range(4000000) t(i)"
with embedded_session(settings) as session:
    session.backend.con.execute(f"CREATE TEMP TABLE rows AS {rows}")
    session.backend.con.execute("SELECT id FROM rows ORDER BY id").fetchmany(1)
    time.sleep(60)
"""


@contextmanager
def spilling(place: Path, kind: str) -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen(
        [sys.executable, "-c", SPILLING, str(place), kind], stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "spilt\n"
        try:
            yield running
        finally:
            running.kill()


def on_disk(place: Path) -> bytes:
    return b"".join(path.read_bytes() for path in place.rglob("*") if path.is_file())


def test_a_folder_is_private_and_gone_afterwards(tmp_path: Path) -> None:
    with spill_folder(tmp_path) as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
        (folder / "rows").write_text("somebody")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["plain", "encrypted"])
def test_what_a_killed_run_leaves_is_taken_away_by_the_next(tmp_path: Path, kind: str) -> None:
    if kind == "encrypted" and not can_encrypt_spills():
        pytest.fail("the library that encrypts is not that of this DuckDB")
    with spilling(tmp_path, kind), spill_folder(tmp_path) as beside:
        left = [path for path in beside.parent.iterdir() if path != beside]
        assert len(left) == 1, "the folder of a living run stays"
    data = on_disk(tmp_path)
    assert data
    assert (b"somebody-" in data) == (kind == "plain")
    with spill_folder(tmp_path) as folder:
        assert list(folder.parent.iterdir()) == [folder]
    assert list(tmp_path.iterdir()) == []


def test_folders_that_others_can_change_are_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(DataError, match="others could"), spill_folder(tmp_path):
        pass
    tmp_path.chmod(0o1777)
    with spill_folder(tmp_path) as folder:
        assert folder.is_dir()


@pytest.mark.parametrize("place", ["nowhere", "file"])
def test_a_place_that_is_no_folder_is_refused(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="no folder"), spill_folder(tmp_path / place):
        pass


def test_encryption_without_its_library_is_refused_with_the_way_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hushway.engine.spilling._encryption_library", lambda: None)
    settings = EngineSettings(temp_folder=tmp_path, encrypt_spills=True)
    with pytest.raises(DataError) as caught, embedded_session(settings):
        pass
    assert "hushway[encrypted-spills]" in caught.value.advice
    assert list(tmp_path.iterdir()) == []


def test_what_is_left_open_is_encrypted_where_the_library_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = EngineSettings(temp_folder=tmp_path, encrypt_spills=None)

    def encrypted() -> bool:
        with embedded_session(settings) as session:
            query = "SELECT current_setting('temp_file_encryption')"
            return bool(session.backend.con.execute(query).fetchone()[0])

    assert encrypted()
    monkeypatch.setattr("hushway.engine.spilling._encryption_library", lambda: None)
    assert not encrypted()


def test_duckdb_does_not_encrypt_by_itself(tmp_path: Path) -> None:
    """Should this fail, DuckDB may do without the extra."""
    config = {"memory_limit": "60MB", "threads": 1, "temp_directory": str(tmp_path)}
    rows = "SELECT 'somebody-' || (i * 7919 % 1000003) AS id FROM range(3000000) t(i)"
    with duckdb.connect(config=config | NO_FOREIGN_CODE) as connection:
        connection.execute("SET temp_file_encryption = true")
        with pytest.raises(duckdb.Error, match="read-only crypto module"):
            connection.execute(f"CREATE TEMP TABLE rows AS {rows}")


def test_encryption_brings_no_way_into_the_network(tmp_path: Path) -> None:
    settings = EngineSettings(temp_folder=tmp_path, encrypt_spills=True)
    with (
        embedded_session(settings) as session,
        pytest.raises(duckdb.PermissionException, match="disabled by configuration"),
    ):
        session.backend.con.execute("SELECT * FROM read_csv('https://example.org/rows.csv')")


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    """Without a lock nobody can tell, so only what can be locked is taken away."""
    runs = tmp_path / f"hushway-rows-{os.geteuid()}"
    runs.mkdir(mode=0o700)
    (runs / "a file").write_text("not a run")
    with spill_folder(tmp_path):
        time.sleep(0)
    assert (runs / "a file").exists()
