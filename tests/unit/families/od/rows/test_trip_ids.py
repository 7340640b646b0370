"""One trip is one unit, however trip ids were given out: numbered within each person, or not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hushway.engine.embedded import embedded_session
from hushway.engine.key import BoundingKey
from hushway.engine.ranks import RankSteps
from hushway.engine.settings import EngineSettings
from hushway.families.od.public.cells import ODCells
from hushway.families.od.rows.check import check_trips
from hushway.families.od.rows.counter import EngineTrips, TripPart
from hushway.families.od.rows.trips import TripColumns, TripsSource, trips_read
from hushway.privacy.bound import Unit
from hushway.privacy.query import Query
from hushway.tables.check import Policy

Write = Callable[..., Path]
Row = tuple[Any, ...]

SMALL = EngineSettings(memory_limit="500MB", threads=1, encrypt_spills=False)
HEADER = "trip,person,origin,destination,time"
BY_PERSON = TripColumns(person="person", trip_id="trip")
BY_ID = TripColumns(trip_id="trip")
AT_8 = "2026-03-02T08:15:00"


def numbered_trips(people: int) -> list[Row]:
    """As in a household survey: everybody has the trips 1 to 3."""
    return [
        (
            trip,
            f"p{one}",
            1 + (one + trip) % 3,
            1 + (one + trip + 1) % 3,
            f"2026-03-02T{7 + trip:02}:15:00",
        )
        for one in range(people)
        for trip in (1, 2, 3)
    ]


def counted(
    path: Path, cells: ODCells, key: BoundingKey, columns: TripColumns, unit: Unit = Unit.TRIP
) -> np.ndarray:
    counter = EngineTrips(
        source=TripsSource(path, columns),
        cells=cells,
        unit=unit,
        max_trips=9,
        key=key,
        settings=SMALL,
    )
    exact = counter.count(Query(name=cells.name, cells=cells))
    values = np.zeros(cells.size, dtype=np.int64)
    values[exact.cells] = exact.values
    return values


@pytest.mark.parametrize("unit", [Unit.TRIP, Unit.PERSON])
def test_trips_numbered_within_each_person_are_all_counted(
    csv_file: Write, cells: ODCells, key: BoundingKey, unit: Unit
) -> None:
    file = csv_file(numbered_trips(20), header=HEADER)
    assert counted(file, cells, key, BY_PERSON, unit).sum() == 60


def test_one_trip_more_moves_one_cell_by_one(
    csv_file: Write, cells: ODCells, key: BoundingKey
) -> None:
    rows = numbered_trips(6)
    without = counted(csv_file(rows, header=HEADER), cells, key, BY_PERSON)
    for trip in (1, 2, 3, 4):
        more = (trip, "one more", 3, 1, AT_8)
        moved = counted(csv_file([*rows, more], header=HEADER), cells, key, BY_PERSON) - without
        assert np.abs(moved).sum() == 1


def test_rows_that_do_not_say_which_trip_they_are_of_do_not_count(
    csv_file: Write, cells: ODCells, key: BoundingKey
) -> None:
    ends = (1, 2, AT_8)
    rows = [("1", "ann", *ends), ("1", None, *ends), ("1", " ", *ends), (None, "ann", *ends)]
    file = csv_file(rows, header=HEADER)
    assert counted(file, cells, key, BY_PERSON).sum() == 1
    checked = check_trips(
        TripsSource(file, BY_PERSON), cells, Policy(), settings=SMALL, unit=Unit.TRIP
    )
    assert {problem.kind: problem.count for problem in checked.problems} == {"null_value": 3}


def test_without_persons_a_repeated_id_is_one_trip(
    csv_file: Write, cells: ODCells, key: BoundingKey
) -> None:
    file = csv_file(numbered_trips(20), header=HEADER)
    assert counted(file, cells, key, BY_ID).sum() == 3


@pytest.mark.parametrize(
    ("unit", "columns"), [(Unit.TRIP, BY_PERSON), (Unit.TRIP, BY_ID), (Unit.PERSON, BY_PERSON)]
)
def test_rows_said_to_be_kept_are_the_trips_that_are_counted(
    csv_file: Write, cells: ODCells, key: BoundingKey, unit: Unit, columns: TripColumns
) -> None:
    rows = numbered_trips(5)
    outside = [(trip, person, o, d, "2026-03-02T03:00:00") for trip, person, o, d, _ in rows]
    again = [(trip, person, o, d, AT_8) for trip, person, o, d, _ in rows[:4]]
    file = csv_file([*outside, *rows, *again], header=HEADER)
    source = TripsSource(file, columns)
    checked = check_trips(source, cells, Policy(), settings=SMALL, unit=unit, max_trips=9)
    found = checked.found
    assert found is not None
    assert found.kept == counted(file, cells, key, columns, unit).sum()
    problems = {problem.kind: problem.count for problem in checked.problems}
    assert problems["duplicate_trip_id"] == len(rows) + len(again) - found.kept
    assert problems["outside_window"] == found.dropped - problems["duplicate_trip_id"]
    if found.people is not None:
        assert found.people.quantiles["most"] == 3


@pytest.mark.parametrize(
    ("columns", "unit", "together"),
    [
        (BY_PERSON, Unit.PERSON, "person"),
        (BY_PERSON, Unit.TRIP, "person"),
        (BY_ID, Unit.TRIP, "trip_id"),
        (TripColumns(person="person"), Unit.TRIP, None),
    ],
)
def test_a_cluster_keeps_all_rows_of_a_unit_together(
    csv_file: Write, cells: ODCells, columns: TripColumns, unit: Unit, together: str | None
) -> None:
    source = TripsSource(csv_file(numbered_trips(1), header=HEADER), columns)
    key = BoundingKey((1,) * BoundingKey.WORDS)
    part = TripPart(
        cells=cells,
        clock="local",
        id_kinds=("text", "text"),
        unit=unit,
        steps=RankSteps((1,)),
        key=key,
    )
    with embedded_session(SMALL) as session:
        assert part.after(trips_read(session, source)).together == together
