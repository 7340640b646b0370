"""Warehouses for tests: tables are written into them, and plans and sources name them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import ibis
import psycopg
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

from hushway.engine.settings import EngineSettings, Warehouse

_CLICKHOUSE = {
    "int64": "Int64",
    "int32": "Int32",
    "string": "String",
    "timestamp[us]": "DateTime64(6)",
    "timestamp[us, tz=UTC]": "DateTime64(6, 'UTC')",
    "double": "Float64",
}


@dataclass(frozen=True, kw_only=True)
class Holding:
    """A warehouse in which tests may write.

    Attributes:
        url: Its address.
        write: Writes a table under a name, in the place of one that has it.
    """

    url: str
    write: Callable[[str, pa.Table], None]

    @property
    def settings(self) -> EngineSettings:
        """How it is used."""
        return EngineSettings(
            memory_limit="500MB", threads=2, batch_rows=3, warehouse=Warehouse(url=self.url)
        )

    @property
    def plan(self) -> dict[str, Any]:
        """What a plan says to use it."""
        return {"kind": "warehouse", "url": self.url}


def moved_to(holding: Holding) -> Callable[[dict[str, Any], Path], None]:
    """Returns what moves the rows of a plan from their file to a table, all of them as text."""

    def move(data: dict[str, Any], folder: Path) -> None:
        option = next(name for name in ("trips", "taps", "events", "traces") if name in data)
        file = folder / data[option]
        with file.open() as opened:
            texts = dict.fromkeys(opened.readline().strip().split(","), pa.string())
        as_text = pa_csv.ConvertOptions(
            column_types=texts | {name: pa.float64() for name in ("lon", "lat") if name in texts}
        )
        holding.write("moved", pa_csv.read_csv(file, convert_options=as_text))
        file.unlink()
        data[option] = "table:moved"

    return move


def postgres(url: str) -> Holding:
    """A PostgreSQL server."""

    def write(name: str, table: pa.Table) -> None:
        run_sql(url, f'DROP TABLE IF EXISTS "{name}"')
        backend = ibis.connect(url)
        backend.create_table(name, table)
        backend.disconnect()

    return Holding(url=url, write=write)


def run_sql(url: str, *statements: str) -> None:
    """Runs statements on a PostgreSQL server."""
    with psycopg.connect(url) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def duckdb_file(folder: Path) -> Holding:
    """A DuckDB database in a file."""
    file = folder / "it's a warehouse.duckdb"

    def write(name: str, table: pa.Table) -> None:
        with duckdb.connect(file) as connection:
            connection.register("given", table)
            connection.execute(f'CREATE OR REPLACE TABLE "{name}" AS FROM given')

    return Holding(url=f"duckdb://{file}", write=write)


@contextmanager
def clickhouse(monkeypatch: pytest.MonkeyPatch, zone: str = "UTC") -> Iterator[Holding]:
    """The engine of ClickHouse in this process, behind the driver that a server has, too."""
    pytest.importorskip("chdb")
    clickhouse_connect = pytest.importorskip("clickhouse_connect")
    backends = pytest.importorskip("ibis.backends.clickhouse")
    client = clickhouse_connect.get_client(interface="chdb", settings={"session_timezone": zone})
    connect = ibis.connect

    def connected(url: str) -> Any:
        if not url.startswith("clickhouse://"):
            return connect(url)
        backend = backends.Backend.from_connection(client)
        # The next session of a test uses the same engine.
        backend.disconnect = lambda: None
        return backend

    def write(name: str, table: pa.Table) -> None:
        columns = ", ".join(f"{c.name} Nullable({_CLICKHOUSE[str(c.type)]})" for c in table.schema)
        client.command(f"DROP TABLE IF EXISTS {name}")
        client.command(f"CREATE TABLE {name} ({columns}) ENGINE = Memory")
        client.insert_arrow(name, table)
        written.append(name)

    written: list[str] = []
    monkeypatch.setattr(ibis, "connect", connected)
    yield Holding(url="clickhouse://host", write=write)
    for name in written:
        client.command(f"DROP TABLE IF EXISTS {name}")
    client.close()
