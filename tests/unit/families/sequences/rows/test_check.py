"""Every kind of trouble with taps and ready sequences is found, counted and given its rule."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hushway.engine.settings import EngineSettings
from hushway.errors import DataError
from hushway.families.sequences.rows.check import check_sequences, check_taps
from hushway.families.sequences.rows.sequences import (
    SequenceColumns,
    SequenceRule,
    SequencesSource,
    TapColumns,
    TapsSource,
)
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods
from hushway.tables.check import Policy, Problem

Write = Callable[..., Path]

SMALL = EngineSettings(memory_limit="500MB", threads=1)
HEADER = "person,location,time"
AT_8 = "2026-03-02T08:15:00"
GOOD = ("ann", 1, AT_8)
PLACES = Locations(
    tuple(Location(id=key, name="", lon=i / 10, lat=0.0, zone="") for i, key in enumerate("123"))
)


def window(**changes: Any) -> Periods:
    settings: dict[str, Any] = {
        "zone": "America/Detroit",
        "first_day": date(2026, 3, 2),
        "last_day": date(2026, 3, 3),
        "opens": 360,
        "closes": 1320,
        "minutes": 60,
        **changes,
    }
    return Periods(**settings)


def check(path: Path, policy: Policy | None = None, **choices: Any) -> dict[str, Problem]:
    source = TapsSource(path, choices.pop("columns", TapColumns()), choices.pop("clock", "local"))
    notes = choices.pop("notes", True)
    rule = SequenceRule(**{"max_stops": 3, "window": window(), **choices})
    found = check_taps(
        source, PLACES, rule, policy or Policy(), settings=SMALL, notes=notes
    ).problems
    assert all(problem.message and problem.advice for problem in found)
    return {problem.kind: problem for problem in found}


def test_good_taps_have_no_problems(csv_file: Write) -> None:
    rows = [GOOD, ("ann", 2, "2026-03-02T09:00:00"), ("bob", 3, AT_8)]
    assert check(csv_file(rows, header=HEADER)) == {}


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ((None, 1, AT_8), "null_value"),
        (("ann", None, AT_8), "null_value"),
        (("ann", 1, None), "null_value"),
        (("ann", 1, "half past eight"), "unparsable_time"),
        (("ann", 1, AT_8 + "-05:00"), "unparsable_time"),
        (("ann", 9, AT_8), "unknown_place"),
        (("ann", "1.0", AT_8), "unknown_place"),
        (("ann", 1, "2026-03-04T08:00:00"), "outside_window"),
        (("ann", 1, "2026-03-02T05:59:59"), "outside_window"),
        (("ann", 1, "9999-12-31T23:59:59"), "outside_window"),
        (GOOD, "duplicate_rows"),
    ],
)
def test_each_kind_of_tap_is_found_and_counted(
    csv_file: Write, row: tuple[Any, ...], kind: str
) -> None:
    found = check(csv_file([GOOD, row, ("zoe", 2, AT_8)], header=HEADER))
    assert {name: problem.count for name, problem in found.items()} == {kind: 1}
    rule = getattr(Policy(), kind, "note")
    assert found[kind].severity == rule
    assert "origin" not in found[kind].message


def test_times_that_the_clock_skipped_are_told_apart(csv_file: Write) -> None:
    file = csv_file([GOOD, ("ann", 2, "2026-03-08T02:30:00")], header=HEADER)
    spring = window(last_day=date(2026, 3, 8), opens=0)
    assert set(check(file, window=spring)) == {"impossible_time"}
    assert set(check(file, window=spring, clock="utc")) == set()


def test_stops_beyond_the_first_ones_are_noted(csv_file: Write) -> None:
    rows = [("ann", 1 + i % 3, f"2026-03-0{2 + i % 2}T{8 + i:02d}:00:00") for i in range(8)]
    file = csv_file([*rows, ("ann", 9, AT_8), (None, 1, AT_8)], header=HEADER)
    by_day = check(file)["long_records"]
    assert (by_day.count, by_day.severity) == (2, "note")
    assert check(file, record="window")["long_records"].count == 5
    assert "long_records" not in check(file, max_stops=4)
    assert "long_records" not in check(file, notes=False)


def test_the_plan_can_refuse(csv_file: Write) -> None:
    file = csv_file([GOOD, ("ann", 9, AT_8)], header=HEADER)
    assert check(file, Policy(unknown_place="refuse"))["unknown_place"].refused


def test_columns_without_a_value_are_named(csv_file: Write) -> None:
    columns = TapColumns(person="card", location="station", time="at")
    file = csv_file([("ann", None, AT_8), GOOD], header="card,station,at")
    assert "'station'" in check(file, columns=columns)["null_value"].message


def test_a_missing_column_and_an_empty_file_are_refused(csv_file: Write) -> None:
    with pytest.raises(DataError, match=r"taps file .* has no column 'location'"):
        check(csv_file([GOOD], header="person,place,time"))
    with pytest.raises(DataError, match="taps are empty"):
        check(csv_file([], header=HEADER))


def test_ready_sequences_are_checked_stop_by_stop(parquet_file: Write) -> None:
    stops = pa.array([["1", "2", "3", "1", "2"], ["9", "1"], [None, "2"], [], ["1"]])
    file = parquet_file({"who": pa.array(["a", "b", "c", "d", None]), "stops": stops})
    source = SequencesSource(file, SequenceColumns(person="who"))
    rule = SequenceRule(max_stops=3)
    found = check_sequences(source, PLACES, rule, Policy(), settings=SMALL).problems
    assert {problem.kind: problem.count for problem in found} == {
        "null_value": 2,
        "unknown_place": 1,
        "long_records": 2,
    }
    message = next(problem.message for problem in found if problem.kind == "null_value")
    assert "'who', 'stops'" in message


def test_sequences_without_any_stop_are_refused(parquet_file: Write) -> None:
    file = parquet_file({"stops": pa.array([[], None], pa.list_(pa.string()))})
    source = SequencesSource(file, SequenceColumns())
    with pytest.raises(DataError, match="sequences are empty"):
        check_sequences(source, PLACES, SequenceRule(max_stops=3), Policy(), settings=SMALL)
