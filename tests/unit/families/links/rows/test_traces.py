"""Traces in CSV and Parquet: which columns they have, and of which types."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.errors import DataError
from hushway.families.links.rows.rows import TraceColumns, TracesSource
from hushway.tables.layout import layout_of

EVERYTHING = TraceColumns(trip="trip", speed="speed", heading="heading")


def parquet(folder: Path, **changes: Any) -> Path:
    columns = {
        "person": pa.array([1]),
        "trip": pa.array(["a"]),
        "time": pa.array([0], pa.timestamp("us")),
        "lon": pa.array([0.5]),
        "lat": pa.array([0.5]),
        "speed": pa.array([3.0]),
        "heading": pa.array([90.0]),
        **changes,
    }
    file = folder / "traces.parquet"
    pq.write_table(pa.table(columns), file)
    return file


def test_only_columns_in_use_have_a_purpose() -> None:
    assert TraceColumns().roles == {"person": "person", "time": "time", "lon": "lon", "lat": "lat"}
    assert len(EVERYTHING.roles) == 7


def test_a_column_has_one_purpose() -> None:
    with pytest.raises(DataError, match="named for two purposes"):
        TraceColumns(lon="x", lat="x")


def test_types_are_read_from_the_file(tmp_path: Path) -> None:
    layout = layout_of(TracesSource(parquet(tmp_path), EVERYTHING))
    assert layout.kinds == {
        "person": "integer",
        "trip": "text",
        "time": "naive time",
        "lon": "number",
        "lat": "number",
        "speed": "number",
        "heading": "number",
    }


@pytest.mark.parametrize("role", ["lon", "lat", "speed", "heading"])
def test_positions_must_be_floating_point_numbers(tmp_path: Path, role: str) -> None:
    file = parquet(tmp_path, **{role: pa.array([1])})
    with pytest.raises(DataError, match="does not hold floating-point numbers"):
        layout_of(TracesSource(file, EVERYTHING))


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    file = tmp_path / "traces.csv"
    file.write_text("person,time,lon\nsecret,2026-03-02T08:00:00,0.5\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"no column 'lat' \(lat\)") as caught:
        layout_of(TracesSource(file, TraceColumns()))
    assert "secret" not in str(caught.value)


def test_nothing_there_is_called_traces(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="There are no traces at"):
        layout_of(TracesSource(tmp_path / "none.csv", TraceColumns()))
