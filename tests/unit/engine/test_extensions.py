"""While rows are open, DuckDB loads no code but that of its own makers, and only when told to."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import duckdb
import pytest

from hushway.engine.embedded import embedded_session
from hushway.engine.settings import EngineSettings

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
