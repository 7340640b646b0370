"""All engines count alike, to the last trip, on any rows, ties and oddities included."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hushway.engine.key import PRIME, BoundingKey
from hushway.families.od.audit.suite import trips_file_by_file
from hushway.families.od.public.cells import ODCells
from hushway.families.od.rows.bounding import ArrayCounter
from hushway.families.od.rows.counter import EngineSettings, EngineTrips, TripColumns, TripsSource
from hushway.privacy.bound import Unit
from hushway.privacy.query import Query
from support.random_trips import (
    Counts,
    Trips,
    as_counts,
    by_hand,
    period_by_hand,
    random_key,
    random_trips,
    table_of,
    town,
)

Scatter = Callable[[Path, pa.Table, str, int], Path]
SETTINGS = EngineSettings(memory_limit="500MB", threads=2, batch_rows=3)


def by_memory(trips: Trips, cells: ODCells, key: BoundingKey, most: int) -> Counts:
    # Outside the window there is no period; -1 has no cell.
    known = [period_by_hand(cells.periods, us) for us in trips.us.tolist()]
    counter = ArrayCounter(
        cells=cells,
        unit=Unit.PERSON,
        max_trips=most,
        key=key,
        person=trips.person,
        period=np.array([-1 if p is None else p for p in known]),
        origin=trips.origin,
        destination=trips.destination,
        since_us=trips.us - cells.periods.wall_slots[0].start_us,
    )
    found = counter.count(Query(name="trips", cells=cells))
    return as_counts(found.cells.tolist(), found.values.tolist())


def by_duckdb(
    folder: Path,
    cells: ODCells,
    key: BoundingKey,
    most: int,
    engine: Callable[..., Any] = EngineTrips,
) -> Counts:
    counter = engine(
        source=TripsSource(folder, TripColumns(person="person")),
        cells=cells,
        unit=Unit.PERSON,
        max_trips=most,
        key=key,
        settings=SETTINGS,
    )
    found = counter.count(Query(name="trips", cells=cells))
    return as_counts(found.cells.tolist(), found.values.tolist())


STEPS: dict[str, int] = {"microseconds": 1, "minutes": 60_000_000, "six hours": 21_600_000_000}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("include_intrazonal", [False, True])
@pytest.mark.parametrize("most", [1, 4, 1000])
def test_every_engine_counts_what_the_rule_says(
    tmp_path: Path, scatter: Scatter, step: str, include_intrazonal: bool, most: int
) -> None:
    cells = town(4, include_intrazonal=include_intrazonal)
    trips = random_trips(cells, seed=11, size=2_500, step_us=STEPS[step])
    key = random_key(12)
    expected = by_hand(trips, cells, key, most)
    assert expected
    assert by_memory(trips, cells, key, most) == expected
    for text, form, files in ((False, "parquet", 1), (True, "parquet", 23), (True, "csv", 17)):
        table = table_of(trips, cells, text=text)
        folder = scatter(tmp_path / f"{form} {text}", table, form, files)
        assert by_duckdb(folder, cells, key, most) == expected


def test_a_reader_that_bounds_each_file_by_itself_is_seen(tmp_path: Path, scatter: Scatter) -> None:
    cells, key = town(4, include_intrazonal=False), random_key(12)
    trips = random_trips(cells, seed=11, size=2_500, step_us=1)
    folder = scatter(tmp_path / "files", table_of(trips, cells, text=False), "parquet", 3)
    wrong = by_duckdb(folder, cells, key, 4, trips_file_by_file)
    assert sum(wrong.values()) > sum(by_hand(trips, cells, key, 4).values())


@pytest.mark.parametrize("seed", range(6))
def test_engines_agree_on_random_keys(tmp_path: Path, scatter: Scatter, seed: int) -> None:
    cells = town(30, include_intrazonal=False, minutes=15)
    trips = random_trips(cells, seed=seed, size=4_000, step_us=900_000_000)
    key = random_key(seed + 100)
    expected = by_memory(trips, cells, key, 7)
    for text in (False, True):
        table = table_of(trips, cells, text=text)
        folder = scatter(tmp_path / str(text), table, "parquet", 5)
        assert by_duckdb(folder, cells, key, 7) == expected


def test_engines_agree_on_cells_beyond_32_bits(tmp_path: Path, scatter: Scatter) -> None:
    cells = town(3_000, include_intrazonal=False, minutes=2)
    assert cells.size > 2**32
    trips = random_trips(cells, seed=5, size=1_500, step_us=1)
    key = BoundingKey((PRIME - 1,) * BoundingKey.WORDS)
    expected = by_hand(trips, cells, key, 3)
    assert max(expected) > 2**32
    assert by_memory(trips, cells, key, 3) == expected
    folder = scatter(tmp_path / "files", table_of(trips, cells, text=True), "parquet", 2)
    assert by_duckdb(folder, cells, key, 3) == expected


def test_the_choice_changes_with_the_key(tmp_path: Path, scatter: Scatter) -> None:
    cells = town(10, include_intrazonal=False)
    trips = random_trips(cells, seed=3, size=2_000, step_us=1)

    def run(seed: int) -> Counts:
        return by_memory(trips, cells, random_key(seed), 2)

    assert run(1) != run(2)
    assert sum(run(1).values()) == sum(run(2).values())
    folder = scatter(tmp_path / "files", table_of(trips, cells, text=False), "parquet", 1)
    assert by_duckdb(folder, cells, random_key(2), 2) == run(2)
