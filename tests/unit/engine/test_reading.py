"""What reaches the one definition of counting: ids as they are, times as microseconds."""

from collections.abc import Callable
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from ibis.common.exceptions import IbisError

from hushway.engine.embedded import embedded_session, quietly
from hushway.engine.reading import read_rows
from hushway.engine.settings import EngineSettings
from hushway.errors import DataError
from hushway.families.od.rows.trips import TripColumns, TripsSource
from hushway.tables.header import Clock
from hushway.tables.layout import layout_of

Write = Callable[..., Path]


def times(
    file: Path, clock: Clock, written: str | None = None, columns: TripColumns | None = None
) -> list[int | None]:
    source = TripsSource(file, columns or TripColumns(), clock, written)
    with embedded_session(EngineSettings(threads=1)) as session:
        rows = read_rows(session, layout_of(source), clock)
        assert rows.schema()["us"].is_int64()
        found: list[int | None] = rows.to_pyarrow()["us"].to_pylist()
    return found


def us(text: str) -> int:
    since = datetime.fromisoformat(text).astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 10**6 + since.microseconds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-02T08:15:00", "2026-03-02T08:15:00+00:00"),
        ("2026-03-02 08:15", "2026-03-02T08:15:00+00:00"),
        ("2026-03-02T08:15:00.5", "2026-03-02T08:15:00.5+00:00"),
        ("2026-03-02T08:15:00.123456789", "2026-03-02T08:15:00.123456+00:00"),
        ("1969-12-31T23:59:59.999999", "1969-12-31T23:59:59.999999+00:00"),
        ("2024-02-29T00:00:00", "2024-02-29T00:00:00+00:00"),
    ],
)
def test_iso_texts_are_read_on_both_clocks(csv_file: Write, text: str, expected: str) -> None:
    file = csv_file([("a", 1, 2, text)])
    assert times(file, "local") == times(file, "utc") == [us(expected)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-02T08:15:00Z", "2026-03-02T08:15:00+00:00"),
        ("2026-03-02T08:15:00+05:30", "2026-03-02T02:45:00+00:00"),
        ("2026-03-02T23:15:00-0500", "2026-03-03T04:15:00+00:00"),
        ("2026-03-02T08:15:00+14", "2026-03-01T18:15:00+00:00"),
        ("2026-03-02T08:15Z", "2026-03-02T08:15:00+00:00"),
        ("2026-03-02 08:15+05:30", "2026-03-02T02:45:00+00:00"),
    ],
)
def test_offsets_belong_to_instants_only(csv_file: Write, text: str, expected: str) -> None:
    file = csv_file([("a", 1, 2, text)])
    assert times(file, "utc") == [us(expected)]
    assert times(file, "local") == [None]


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-02",
        "02/03/2026 08:15",
        "2026-3-2 8:15",
        "20260302T081500",
        "2026-03-02T24:00:00",
        "2026-03-02T08:60:00",
        "2026-03-02T08:15:60",
        "2026-02-29T08:15:00",
        "2026-13-01T08:15:00",
        "2026-03-02T08:15:00 Europe/Paris",
        " 2026-03-02T08:15:00",
        "2026-03-02T08:15:00 (BC)",
        "1772439300",
        "infinity",
        "now",
    ],
)
def test_nothing_else_is_a_time(csv_file: Write, text: str) -> None:
    file = csv_file([("a", 1, 2, text)])
    assert times(file, "local") == times(file, "utc") == [None]


def test_a_file_that_goes_away_is_one_clear_error(csv_file: Write) -> None:
    file = csv_file([("a", 1, 2, "2026-03-02T08:15:00")])
    layout = layout_of(TripsSource(file, TripColumns()))
    file.unlink()
    with embedded_session(EngineSettings(threads=1)) as session:
        with pytest.raises(DataError, match="cannot be read") as caught:
            read_rows(session, layout, "local").to_pyarrow()
        assert caught.value.__context__ is None


@pytest.mark.parametrize("kind", [duckdb.Error, duckdb.ConversionException, IbisError])
def test_what_an_engine_says_stays_inside(kind: type[Exception]) -> None:
    def fail() -> None:
        raise kind("Could not convert rider-private-007")

    with pytest.raises(DataError) as caught:
        quietly(fail)
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None
    assert "private" not in f"{error}{error.advice}"


def test_an_error_of_the_engine_at_loading_is_translated() -> None:
    with embedded_session(EngineSettings(threads=1)) as session:
        session.load("places", pa.table({"id": [1]}))
        with pytest.raises(DataError) as caught:
            session.load("places", pa.table({"id": [1]}))
    assert caught.value.advice
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("written", "text", "clock"),
    [
        ("%d/%m/%Y %H:%M", "16/11/2009 07:45", "local"),
        ("%d/%m/%Y %H:%M", "16/11/2009 7:45", "utc"),
        ("%m/%d/%Y %I:%M %p", "11/16/2009 7:45 am", "local"),
        ("%d-%b-%y %H:%M", "16-Nov-09 07:45", "local"),
        ("%d/%m/%Y %H:%M %z", "16/11/2009 09:45 +0200", "utc"),
        ("epoch_s", "1258357500", "utc"),
        ("epoch_s", "1258357500.0000001", "utc"),
        ("epoch_s", "0000000000001258357500", "utc"),
        ("epoch_ms", "1258357500000", "utc"),
    ],
)
def test_times_are_read_as_the_plan_says(
    csv_file: Write, written: str, text: str, clock: Clock
) -> None:
    file = csv_file([("a", 1, 2, text), ("a", 1, 2, "31/02/2009 noon"), ("a", 1, 2, None)])
    assert times(file, clock, written) == [us("2009-11-16T07:45:00+00:00"), None, None]


@pytest.mark.parametrize("text", ["1.5", "-1.5", "-1", "99999999999999", "999999999999999999999"])
@pytest.mark.parametrize(("written", "unit"), [("epoch_s", 1_000_000), ("epoch_ms", 1_000)])
def test_counts_since_1970_are_exact_or_null(
    csv_file: Write, written: str, unit: int, text: str
) -> None:
    exact = round(Fraction(text) * unit)
    file = csv_file([("a", 1, 2, text)])
    assert times(file, "utc", written) == [exact if abs(exact) < 1 << 63 else None]


def test_a_day_may_be_in_a_column_of_its_own(csv_file: Write) -> None:
    rows = [("a", 1, 2, "16/11/2009", "07:45"), ("a", 1, 2, "16/11/2009", None)]
    file = csv_file(rows, header="person,origin,destination,day,time")
    found = times(file, "local", "%d/%m/%Y %H:%M", TripColumns(date="day"))
    assert found == [us("2009-11-16T07:45:00+00:00"), None]


def test_whole_numbers_are_times_only_if_the_plan_says_what_they_count(
    parquet_file: Callable[..., Path],
) -> None:
    moments = pa.array([1_258_357_500_000, None], pa.int64())
    file = parquet_file({"origin": ["1"] * 2, "destination": ["2"] * 2, "time": moments})
    assert times(file, "utc", "epoch_ms") == [us("2009-11-16T07:45:00+00:00"), None]
    with pytest.raises(DataError, match="holds whole numbers"):
        times(file, "utc")
