"""A small town whose every number can be checked by hand."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.engine.key import BoundingKey
from hushway.families.od.public.cells import ODCells
from support.small_cells import cells_of, key_of

Rows = list[tuple[Any, ...]]
WriteParquet = Callable[..., Path]
WriteCsv = Callable[..., Path]

HEADER = "person,origin,destination,time"


@pytest.fixture
def key() -> BoundingKey:
    return key_of(1)


@pytest.fixture
def cells() -> ODCells:
    return cells_of()


@pytest.fixture
def csv_file(tmp_path: Path) -> WriteCsv:
    def write(rows: Rows, name: str = "trips.csv", header: str = HEADER) -> Path:
        lines = [header, *(",".join("" if v is None else str(v) for v in row) for row in rows)]
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return file

    return write


@pytest.fixture
def parquet_file(tmp_path: Path) -> WriteParquet:
    def write(columns: dict[str, Any], name: str = "trips.parquet") -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(columns), file, row_group_size=1000)
        return file

    return write
