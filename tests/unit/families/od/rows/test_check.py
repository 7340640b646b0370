"""Every kind of trouble is found, counted and given the plan's rule."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from hushway.engine.key import BoundingKey
from hushway.engine.settings import EngineSettings
from hushway.errors import DataError
from hushway.families.od.public.cells import ODCells
from hushway.families.od.rows.check import check_trips
from hushway.families.od.rows.counter import EngineTrips
from hushway.families.od.rows.trips import TripColumns, TripsSource
from hushway.privacy.bound import Unit
from hushway.privacy.query import Query
from hushway.tables.check import Policy, Problem
from support.small_cells import cells_of

Write = Callable[..., Path]

AT_8 = "2026-03-02T08:15:00"
GOOD = ("ann", 1, 2, AT_8)
SMALL = EngineSettings(memory_limit="500MB", threads=1)


def check(
    path: Path, cells: ODCells, policy: Policy | None = None, **choices: Any
) -> dict[str, Problem]:
    columns = choices.pop("columns", TripColumns(person="person"))
    source = TripsSource(path, columns, choices.pop("clock", "local"))
    found = check_trips(source, cells, policy or Policy(), settings=SMALL, **choices).problems
    assert all(problem.message and problem.advice for problem in found)
    assert len({problem.kind for problem in found}) == len(found)
    return {problem.kind: problem for problem in found}


def numbers(found: dict[str, Problem]) -> dict[str, int | None]:
    return {kind: problem.count for kind, problem in found.items()}


def test_good_trips_have_no_problems(csv_file: Write, cells: ODCells) -> None:
    assert check(csv_file([GOOD, ("bob", 2, 3, AT_8)]), cells) == {}


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ((None, 1, 2, AT_8), "null_value"),
        (("ann", None, 2, AT_8), "null_value"),
        (("ann", 1, None, AT_8), "null_value"),
        (("ann", 1, 2, None), "null_value"),
        (("ann", 1, 2, "half past eight"), "unparsable_time"),
        (("ann", 1, 2, AT_8 + "-05:00"), "unparsable_time"),
        (("ann", 1, 2, "2026-02-29T08:00:00"), "unparsable_time"),
        (("ann", 1, 2, "2026-03-02T08:00:60"), "unparsable_time"),
        (("ann", 9, 2, AT_8), "unknown_place"),
        (("ann", 1, 9, AT_8), "unknown_place"),
        (("ann", 1, 2, "2026-03-04T00:00:00"), "outside_window"),
        (("ann", 1, 2, "2026-03-02T05:59:59"), "outside_window"),
        (("ann", 1, 2, "9999-12-31T23:59:59"), "outside_window"),
        (("ann", 1, 1, AT_8), "intrazonal"),
    ],
)
def test_each_kind_is_found(csv_file: Write, cells: ODCells, row: Any, kind: str) -> None:
    other = ("bob", 2, 3, AT_8)
    assert numbers(check(csv_file([GOOD, row, other]), cells)) == {kind: 1}


def test_a_row_may_have_several_problems(csv_file: Write, cells: ODCells) -> None:
    rows = [GOOD, (None, 9, 9, "soon"), ("ann", 9, 8, "2031-01-01T08:00:00")]
    assert numbers(check(csv_file(rows), cells)) == {
        "null_value": 1,
        "unparsable_time": 1,
        "unknown_place": 2,
        "outside_window": 1,
    }


def test_the_columns_without_values_are_named(csv_file: Write, cells: ODCells) -> None:
    found = check(csv_file([GOOD, (None, 1, 2, None), ("ann", 1, 2, None)]), cells)["null_value"]
    assert found.count == 2
    assert "'person', 'time'" in found.message
    assert "origin" not in found.message


def test_a_time_that_the_clock_skipped_is_impossible_and_not_outside(csv_file: Write) -> None:
    forward = cells_of(first_day=date(2026, 3, 8), last_day=date(2026, 3, 8), opens=0, closes=1440)
    file = csv_file([("ann", 1, 2, f"2026-03-08T0{hour}:30:00") for hour in (1, 2, 3)])
    assert numbers(check(file, forward)) == {"impossible_time": 1}
    # As instants they are the evening before.
    assert numbers(check(file, forward, clock="utc")) == {"outside_window": 3}


def test_a_trip_to_the_same_place_is_fine_if_it_has_a_cell(csv_file: Write) -> None:
    assert check(csv_file([GOOD, ("ann", 1, 1, AT_8)]), cells_of(include_intrazonal=True)) == {}


def test_alike_rows_are_noted_and_not_refused(csv_file: Write, cells: ODCells) -> None:
    file = csv_file([GOOD, GOOD, GOOD, ("bob", 1, 2, AT_8)])
    found = check(file, cells)["duplicate_rows"]
    assert (found.count, found.severity, found.refused) == (2, "note", False)
    assert check(file, cells, notes=False) == {}


def test_a_repeated_trip_id_is_found(csv_file: Write, cells: ODCells) -> None:
    rows = [("t1", *GOOD), ("t1", "ann", 2, 3, AT_8), ("t2", "bob", 1, 2, AT_8)]
    file = csv_file(rows, header="trip,person,origin,destination,time")
    columns = TripColumns(person="person", trip_id="trip")
    found = check(file, cells, columns=columns)
    assert numbers(found) == {"duplicate_trip_id": 1}
    assert not found["duplicate_trip_id"].refused
    assert check(file, cells) == {}


def test_a_missing_trip_id_is_a_missing_value(csv_file: Write, cells: ODCells) -> None:
    rows = [("t1", *GOOD), (None, "bob", 1, 2, AT_8), (None, "bob", 2, 3, AT_8)]
    file = csv_file(rows, header="trip,person,origin,destination,time")
    found = check(file, cells, columns=TripColumns(person="person", trip_id="trip"))
    assert numbers(found) == {"null_value": 2}


def test_every_rule_is_the_plans(csv_file: Write, cells: ODCells) -> None:
    rows = [GOOD, (None, 1, 2, AT_8), ("ann", 1, 9, AT_8), ("ann", 1, 1, AT_8)]
    file = csv_file(rows)
    strict = Policy(null_value="refuse", unknown_place="refuse")
    found = check_trips(
        TripsSource(file, TripColumns(person="person")), cells, strict, settings=SMALL
    ).problems
    assert [problem.kind for problem in found if problem.refused] == [
        "null_value",
        "unknown_place",
    ]
    # What is refused comes first.
    assert [problem.refused for problem in found] == [True, True, False]
    lenient = check(file, cells, replace(strict, null_value="drop", unknown_place="drop"))
    assert not any(problem.refused for problem in lenient.values())


def test_without_persons_no_person_is_missed(csv_file: Write, cells: ODCells) -> None:
    file = csv_file([(None, 1, 2, AT_8), (None, 2, 3, AT_8)])
    assert check(file, cells, columns=TripColumns()) == {}


def test_trips_of_nobody_are_no_problem_where_single_trips_are_protected(
    csv_file: Write, cells: ODCells
) -> None:
    path = csv_file([GOOD, (None, 1, 2, AT_8)])
    assert numbers(check(path, cells)) == {"null_value": 1}
    assert check(path, cells, unit=Unit.TRIP) == {}


def test_parquet_is_checked_alike(parquet_file: Write, cells: ODCells) -> None:
    file = parquet_file(
        {
            "person": [1, None, 3, 4],
            "origin": [1, 1, 9, 1],
            "destination": ["2", "2", "2", "1"],
            "time": [datetime.fromisoformat(AT_8)] * 3 + [None],
        }
    )
    assert numbers(check(file, cells)) == {
        "null_value": 2,
        "unknown_place": 1,
        "intrazonal": 1,
    }


def test_trips_without_a_row_are_empty(csv_file: Write, cells: ODCells) -> None:
    with pytest.raises(DataError, match="empty"):
        check(csv_file([]), cells)


def test_malformed_rows_are_counted_and_dropped(csv_file: Write, cells: ODCells) -> None:
    file = csv_file([GOOD, ("bob", 1), GOOD, ("cy", 1, 2, AT_8, "more")])
    found = check(file, cells)
    assert numbers(found) == {"malformed_row": 2, "duplicate_rows": 1}
    assert not found["malformed_row"].refused


def test_an_open_quote_is_one_malformed_row(csv_file: Write, cells: ODCells) -> None:
    file = csv_file([GOOD])
    good = file.read_text(encoding="utf-8").splitlines()[1]
    with file.open("a", encoding="utf-8") as more:
        more.write(f'"rider-private-007,1,2\n{good}\nrider-private-007",1,2\n')
    found = check(file, cells)
    assert numbers(found) == {"malformed_row": 2, "duplicate_rows": 1}


@pytest.mark.parametrize("unit", [Unit.PERSON, Unit.TRIP])
def test_rows_said_to_be_kept_are_those_that_are_counted(
    csv_file: Write, cells: ODCells, key: BoundingKey, unit: Unit
) -> None:
    faults = [
        (None, 1, 2, AT_8),
        ("ann", 1, 1, AT_8),
        ("ann", 9, 2, AT_8),
        ("ann", 1, None, AT_8),
        ("ann", 1, 2, "2026-03-02T05:59:59"),
        ("ann", 1, 2, "soon"),
    ]
    source = TripsSource(csv_file([GOOD, *faults, GOOD]), TripColumns(person="person"))
    found = check_trips(source, cells, Policy(), settings=SMALL, unit=unit).found
    counter = EngineTrips(source=source, cells=cells, unit=unit, max_trips=9, key=key)
    assert found is not None
    assert found.read == len(faults) + 2
    assert found.kept == counter.count(Query(name=cells.name, cells=cells)).values.sum()
    # Whose a trip is does not matter where single trips are protected.
    assert found.kept == (2 if unit is Unit.PERSON else 3)
