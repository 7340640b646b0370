"""Events name places or carry positions, never both."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.errors import DataError
from hushway.families.density.rows.rows import EventColumns, EventsSource
from hushway.tables.layout import layout_of

POSITIONS = EventColumns(location=None, lon="x", lat="y")


def test_columns_are_known_by_purpose() -> None:
    assert EventColumns().roles == {"person": "person", "location": "location", "time": "time"}
    assert POSITIONS.roles == {"person": "person", "lon": "x", "lat": "y", "time": "time"}


@pytest.mark.parametrize(
    "named",
    [
        {"lon": "x", "lat": "y"},
        {"lon": "x"},
        {"location": None},
        {"location": None, "lon": "x"},
        {"location": None, "lat": "y"},
    ],
)
def test_half_a_position_and_a_place_twice_are_refused(named: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="either a place, or a longitude and a latitude"):
        EventColumns(**named)


def test_a_column_cannot_have_two_purposes() -> None:
    with pytest.raises(DataError, match="named for two purposes"):
        EventColumns(location=None, lon="x", lat="x")


def positions(tmp_path: Path, kind: pa.DataType) -> EventsSource:
    table = pa.table(
        {
            "person": pa.array([1], pa.int64()),
            "x": pa.array([2.3]).cast(kind, safe=False),
            "y": pa.array([48.9]),
            "time": pa.array([0], pa.timestamp("us")),
        }
    )
    pq.write_table(table, tmp_path / "events.parquet")
    return EventsSource(tmp_path / "events.parquet", POSITIONS)


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
def test_positions_are_floating_point_in_parquet(tmp_path: Path, kind: pa.DataType) -> None:
    kinds = layout_of(positions(tmp_path, kind)).kinds
    assert kinds == {"person": "integer", "lon": "number", "lat": "number", "time": "naive time"}


@pytest.mark.parametrize("kind", [pa.int64(), pa.string()])
def test_other_positions_in_parquet_are_refused(tmp_path: Path, kind: pa.DataType) -> None:
    with pytest.raises(DataError, match=r"'x' \(lon\) does not hold floating-point numbers"):
        layout_of(positions(tmp_path, kind))


def test_positions_are_text_in_csv(tmp_path: Path) -> None:
    file = tmp_path / "events.csv"
    file.write_text("person,x,y,time\n1,2.3,48.9,2026-03-02T08:00:00\n", encoding="utf-8")
    assert set(layout_of(EventsSource(file, POSITIONS)).kinds.values()) == {"text"}
