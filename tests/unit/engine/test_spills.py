"""Rows that do not fit into memory: private while they lie on disk, and gone afterwards."""

import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
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


_HTTPFS = "httpfs.duckdb_extension"
_LOADED = (
    "SELECT extension_name FROM duckdb_extensions() WHERE loaded AND extension_name = 'httpfs'"
)


def signed_extension() -> Path:
    """An extension that DuckDB's makers have signed: the one that encrypts."""
    found = find_spec("duckdb_extension_httpfs")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "extensions" / f"v{duckdb.__version__}" / _HTTPFS


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The DuckDB of a session, with an extension at hand as if somebody had installed it."""
    with embedded_session(EngineSettings(temp_folder=tmp_path)) as session:
        connection = session.backend.con
        (platform,) = connection.execute("PRAGMA platform").fetchone()
        installed = tmp_path / "extensions" / f"v{duckdb.__version__}" / platform
        installed.mkdir(parents=True)
        (installed / _HTTPFS).symlink_to(signed_extension())
        connection.execute(f"SET extension_directory = '{tmp_path / 'extensions'}'")
        yield connection


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_csv('https://localhost:1/rows.csv')",
        "SELECT * FROM read_parquet('s3://nowhere/rows.parquet')",
        "SET s3_region = 'nowhere'",
    ],
)
def test_nothing_is_loaded_because_a_query_needs_it(
    connection: duckdb.DuckDBPyConnection, query: str
) -> None:
    with pytest.raises(duckdb.Error, match=r"httpfs|s3_region"):
        connection.execute(query)
    assert connection.execute(_LOADED).fetchall() == []


def test_an_extension_whose_signature_is_wrong_is_refused(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    code = bytearray(signed_extension().read_bytes())
    code[1000] ^= 1
    changed = tmp_path / _HTTPFS
    changed.write_bytes(code)
    with pytest.raises(duckdb.IOException, match="signature is either missing or invalid"):
        connection.execute(f"LOAD '{changed}'")
    assert connection.execute(_LOADED).fetchall() == []


@pytest.mark.parametrize("whose", ["community", "unsigned"])
def test_extensions_of_others_are_off_and_cannot_be_switched_on(
    connection: duckdb.DuckDBPyConnection, whose: str
) -> None:
    """DuckDB checks no signature of a community while this is off."""
    name = f"allow_{whose}_extensions"
    with pytest.raises(duckdb.InvalidInputException, match="while database is running"):
        connection.execute(f"SET {name} = true")
    assert connection.execute(f"SELECT current_setting('{name}')").fetchall() == [(False,)]
