import ibis
import pyarrow as pa
import pytest

from hushway.engine.warehouse.remote import rows_between
from hushway.families.od.rows.trips import TripColumns, TripsSource
from hushway.tables.layout import layout_of_table

SOURCE = TripsSource("table:trips", TripColumns(person="person"))
# A quarter of a second before 1970, and the last microsecond of a day of 2026.
TIMES = [-250_000, -1, 0, 1, 1_774_828_799_999_999]


@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York"])
@pytest.mark.parametrize("unit", ["us", "ns"])
def test_times_become_microseconds_to_the_last_one(zone: str | None, unit: str) -> None:
    scale = 1_000 if unit == "ns" else 1
    times = pa.array([us * scale for us in TIMES], pa.int64()).cast(pa.timestamp(unit, tz=zone))
    table = pa.table(
        {"person": ["a"] * 5, "origin": [1] * 5, "destination": [2] * 5, "time": times}
    )
    source = SOURCE if zone is None else TripsSource("table:trips", SOURCE.columns, "utc")
    layout = layout_of_table("trips", table.schema, source)
    rows = rows_between(ibis.memtable(table), layout)(-1_000_000, TIMES[-1] + 1)
    found = ibis.duckdb.connect().to_pyarrow(rows.order_by("us"))
    assert found["us"].to_pylist() == TIMES


def test_a_text_of_blanks_is_nobodys_wherever_it_is_read() -> None:
    blank = [chr(code) for code in range(0x110000) if chr(code).isspace()]
    people = [*blank, "", "".join(blank), "a", " a ", "\u200b", None]
    size = len(people)
    table = pa.table(
        {
            "person": people,
            "origin": ["o"] * size,
            "destination": [""] * size,
            "time": pa.array([0] * size, pa.timestamp("us")),
        }
    )
    layout = layout_of_table("trips", table.schema, SOURCE)
    rows = rows_between(ibis.memtable(table), layout)(0, 1)
    found = ibis.duckdb.connect().to_pyarrow(rows)
    assert [p for p in found["person"].to_pylist() if p is not None] == ["a", " a ", "\u200b"]
    assert found["destination"].to_pylist() == [""] * size
