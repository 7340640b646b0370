"""A small town whose every number can be checked by hand."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.engine.key import BoundingKey
from hushway.families.od.public.cells import ODCells
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods

Rows = list[tuple[Any, ...]]
WriteParquet = Callable[..., Path]
WriteCsv = Callable[..., Path]

HEADER = "person,origin,destination,time"


@pytest.fixture
def key() -> BoundingKey:
    return key_of(1)


def key_of(seed: int) -> BoundingKey:
    """A key that is the same on every run."""
    words = np.random.default_rng(seed).integers(0, 2**63, BoundingKey.WORDS)
    return BoundingKey.from_words([int(word) for word in words])


@pytest.fixture
def make_key() -> Callable[[int], BoundingKey]:
    return key_of


@pytest.fixture
def make_cells() -> Callable[..., ODCells]:
    def make(
        ids: tuple[str, ...] = ("1", "2", "3"), *, include_intrazonal: bool = False, **periods: Any
    ) -> ODCells:
        settings: dict[str, Any] = {
            "zone": "America/Detroit",
            "first_day": date(2026, 3, 2),
            "last_day": date(2026, 3, 3),
            "opens": 360,
            "closes": 1320,
            "minutes": 60,
            **periods,
        }
        places = tuple(
            Location(id=key, name="", lon=i / 100, lat=0.0, zone="") for i, key in enumerate(ids)
        )
        return ODCells(
            locations=Locations(places),
            periods=Periods(**settings),
            include_intrazonal=include_intrazonal,
        )

    return make


@pytest.fixture
def cells(make_cells: Callable[..., ODCells]) -> ODCells:
    return make_cells()


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
