"""Rows in files as people's rows lie in real ones: anywhere, in any file, in any batch."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from support.warehouses import Holding, clickhouse, duckdb_file, postgres

Scatter = Callable[[Path, pa.Table, str, int], Path]


@pytest.fixture(scope="session")
def scatter() -> Scatter:
    """Deals the rows of a table out to files as one deals cards, and returns their folder."""

    def deal(folder: Path, table: pa.Table, form: str, files: int) -> Path:
        folder.mkdir()
        for i in range(files):
            piece = table.take(list(range(i, len(table), files)))
            if form == "parquet":
                pq.write_table(piece, folder / f"{i}.parquet", row_group_size=7)
            else:
                times = [None if t is None else t.isoformat() for t in piece["time"].to_pylist()]
                at = piece.schema.get_field_index("time")
                pa_csv.write_csv(piece.set_column(at, "time", pa.array(times)), folder / f"{i}.csv")
        return folder

    return deal


@pytest.fixture(params=["postgres", "duckdb", "clickhouse"])
def warehouse(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Holding]:
    if request.param == "postgres":
        yield postgres(request.getfixturevalue("fresh_postgres_url"))
    elif request.param == "duckdb":
        yield duckdb_file(tmp_path)
    else:
        with clickhouse(monkeypatch) as holding:
            yield holding


@pytest.fixture
def postgresql(fresh_postgres_url: str) -> Holding:
    return postgres(fresh_postgres_url)
