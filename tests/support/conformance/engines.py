"""Where rows can lie, and who reads and counts them there."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from hushway.engine.settings import Cluster, EngineSettings
from support.warehouses import Holding

HERE = EngineSettings(memory_limit="500MB", threads=2, batch_rows=3)
# Neither the zone of the agency nor that of this machine.
SESSION_ZONE = "Asia/Kathmandu"


@dataclass(frozen=True, kw_only=True)
class Placed:
    """Rows in one place.

    Attributes:
        path: What a source says to find them.
        settings: Who reads and counts them.
    """

    path: Path | str
    settings: EngineSettings


@dataclass(frozen=True, kw_only=True)
class Engine:
    """Somebody who reads and counts.

    Attributes:
        name: What it is called.
        put: Puts rows into all places that are to be tried, in an empty folder.
        reads: What kind of files are read; None for tables.
    """

    name: str
    put: Callable[[pa.Table, Path], Iterator[Placed]]
    reads: str | None


def scattered(folder: Path, table: pa.Table, form: str, files: int) -> Path:
    """Deals the rows of a table out to files as one deals cards, and returns their folder."""
    folder.mkdir()
    for i in range(files):
        piece = table.take(pa.array(range(i, len(table), files), pa.int64()))
        if form == "parquet":
            pq.write_table(piece, folder / f"{i}.parquet", row_group_size=7)
        else:
            pa_csv.write_csv(_with_written_times(piece), folder / f"{i}.csv")
    return folder


def _with_written_times(piece: pa.Table) -> pa.Table:
    at = piece.schema.get_field_index("time")
    if at < 0 or not pa.types.is_timestamp(piece["time"].type):
        return piece
    times = [None if t is None else t.isoformat() for t in piece["time"].to_pylist()]
    return piece.set_column(at, "time", pa.array(times, pa.string()))


def in_parquet() -> Engine:
    """DuckDB here: one file as a whole, and many files in batches of a few rows."""

    def put(table: pa.Table, folder: Path) -> Iterator[Placed]:
        whole = replace(HERE, threads=1, batch_rows=1_000_000)
        yield Placed(path=scattered(folder / "one", table, "parquet", 1), settings=whole)
        yield Placed(path=scattered(folder / "many", table, "parquet", 7), settings=HERE)

    return Engine(name="DuckDB", put=put, reads="parquet")


def in_csv() -> Engine:
    """DuckDB here, and many files of text."""

    def put(table: pa.Table, folder: Path) -> Iterator[Placed]:
        yield Placed(path=scattered(folder / "csv", table, "csv", 7), settings=HERE)

    return Engine(name="DuckDB", put=put, reads="csv")


def in_warehouse(holding: Holding) -> Engine:
    """A database, and DuckDB here for what the database does not count itself."""

    def put(table: pa.Table, _folder: Path) -> Iterator[Placed]:
        holding.write("kept", table)
        yield Placed(path="table:kept", settings=holding.settings)

    return Engine(name=holding.url.partition(":")[0], put=put, reads=None)


def on_cluster(master: str, form: str = "parquet") -> Engine:
    """A cluster: persons on several files, divided into several parts."""
    settings = replace(HERE, cluster=Cluster(master=master, parts=3))

    def put(table: pa.Table, folder: Path) -> Iterator[Placed]:
        yield Placed(path=scattered(folder / "pieces", table, form, 3), settings=settings)

    return Engine(name="cluster", put=put, reads=form)
