from typing import Any

import numpy as np
import pytest

from hushway.engine.key import BoundingKey
from hushway.errors import DataError, PrivacyError
from hushway.families.od.public.cells import ODCells
from hushway.families.od.rows.bounding import ArrayCounter
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.query import Query
from support.small_cells import cells_of, key_of

Counts = dict[int, int]


def arrays(**columns: list[int]) -> dict[str, Any]:
    return {name: np.array(values, dtype=np.int64) for name, values in columns.items()}


def counts(
    cells: ODCells, key: BoundingKey, most: int, unit: Unit = Unit.PERSON, **columns: Any
) -> Counts:
    counter = ArrayCounter(cells=cells, unit=unit, max_trips=most, key=key, **columns)
    found = counter.count(Query(name="trips", cells=cells))
    assert (np.diff(found.cells) > 0).all()
    assert found.cells.dtype == found.values.dtype == np.int64
    return dict(zip(found.cells.tolist(), found.values.tolist(), strict=True))


def test_below_the_cap_everything_is_counted(cells: ODCells, key: BoundingKey) -> None:
    columns = arrays(person=[1, 1, 2], period=[0, 0, 1], origin=[0, 0, 2], destination=[1, 1, 0])
    first = int(cells.encode(*(np.array([v]) for v in (0, 0, 1)))[0])
    second = int(cells.encode(*(np.array([v]) for v in (1, 2, 0)))[0])
    assert counts(cells, key, 2, **columns) == {first: 2, second: 1}


@pytest.mark.parametrize("most", [1, 2, 5, 100])
def test_every_person_is_cut_to_the_cap(cells: ODCells, most: int) -> None:
    rng = np.random.default_rng(4)
    sizes = [1, 2, 3, 4, 5, 6, 50]
    person = np.repeat(np.arange(len(sizes)) * 10**12 - 3, sizes)
    columns = {
        "person": person,
        "period": rng.integers(0, 16, len(person)),
        "origin": np.zeros(len(person), dtype=np.int64),
        "destination": rng.integers(1, 3, len(person)),
    }
    for seed in range(20):
        found = counts(cells, key_of(seed), most, **columns)
        assert sum(found.values()) == sum(min(size, most) for size in sizes)


def test_unit_trip_counts_every_trip_once(cells: ODCells, key: BoundingKey) -> None:
    columns = arrays(period=[0] * 9, origin=[0] * 9, destination=[1] * 9)
    assert list(counts(cells, key, 1, Unit.TRIP, **columns).values()) == [9]


def test_trips_without_a_cell_are_dropped(cells: ODCells, key: BoundingKey) -> None:
    columns = arrays(
        person=[1] * 7,
        period=[0, -1, 16, 0, 0, 0, 0],
        origin=[0, 0, 0, -1, 3, 0, 1],
        destination=[1, 1, 1, 1, 1, 3, 1],
    )
    assert sum(counts(cells, key, 10, **columns).values()) == 1


def test_no_trips_make_no_counts(cells: ODCells, key: BoundingKey) -> None:
    assert counts(cells, key, 1, **arrays(person=[], period=[], origin=[], destination=[])) == {}


def test_trips_alike_are_told_apart_by_counting(cells: ODCells) -> None:
    # Were they one trip to the key, they would all be kept or all be left.
    columns = arrays(
        person=[1] * 8, period=[0] * 4 + [1, 2, 3, 4], origin=[0] * 8, destination=[1] * 8
    )
    first = int(cells.encode(*(np.array([v]) for v in (0, 0, 1)))[0])
    kept = {counts(cells, key_of(seed), 4, **columns).get(first, 0) for seed in range(400)}
    assert kept == {0, 1, 2, 3, 4}


def test_trips_in_different_periods_are_different_trips_to_the_key(cells: ODCells) -> None:
    columns = arrays(person=[1] * 5, period=[0, 1, 2, 3, 4], origin=[0] * 5, destination=[1] * 5)
    chosen = {tuple(counts(cells, key_of(seed), 2, **columns)) for seed in range(400)}
    assert len(chosen) == 10


def test_the_bound_is_stated(cells: ODCells, key: BoundingKey) -> None:
    columns = arrays(person=[1], period=[0], origin=[0], destination=[1])
    query = Query(name="trips", cells=cells)
    for unit, most in ((Unit.PERSON, 7), (Unit.TRIP, 1)):
        counter = ArrayCounter(cells=cells, unit=unit, max_trips=7, key=key, **columns)
        assert counter.bound(query) == Bound(cells=most, each=most, total=most)
        assert counter.unit is unit


def test_other_cells_are_refused(cells: ODCells, key: BoundingKey) -> None:
    columns = arrays(person=[1], period=[0], origin=[0], destination=[1])
    counter = ArrayCounter(cells=cells, unit=Unit.PERSON, max_trips=1, key=key, **columns)
    with pytest.raises(PrivacyError, match="other cells"):
        counter.count(Query(name="trips", cells=cells_of(include_intrazonal=True)))
    assert len(counter.count(Query(name="trips", cells=cells_of())).cells) == 1


@pytest.mark.parametrize("wrong", [np.zeros(2), np.zeros(3, int), np.zeros((2, 1), int)])
def test_arrays_that_do_not_fit_are_refused(cells: ODCells, key: BoundingKey, wrong: Any) -> None:
    columns = arrays(person=[1, 1], period=[0, 0], origin=[0, 0], destination=[1, 1])
    for name in columns:
        with pytest.raises(DataError, match="arrays"):
            counts(cells, key, 1, **(columns | {name: wrong}))


def test_persons_cannot_be_protected_without_persons(cells: ODCells, key: BoundingKey) -> None:
    with pytest.raises(DataError, match="no array of persons"):
        counts(cells, key, 1, **arrays(period=[0], origin=[0], destination=[1]))


@pytest.mark.parametrize("most", [0, -1])
def test_a_cap_below_one_is_refused(cells: ODCells, key: BoundingKey, most: int) -> None:
    columns = arrays(person=[1], period=[0], origin=[0], destination=[1])
    with pytest.raises(PrivacyError, match="at least 1"):
        counts(cells, key, most, **columns)
