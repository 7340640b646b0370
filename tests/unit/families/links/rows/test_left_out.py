"""Items beyond those that count: as many again, none of them twice, and right on average."""

from datetime import date

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.engine.key import BoundingKey
from hushway.errors import DataError, PrivacyError
from hushway.families.links.city.road_city import road_city
from hushway.families.links.public.roads import grid_zones
from hushway.families.links.public.universe import (
    WEIGHTS,
    LeftOutCells,
    LeftOutClasses,
    LinkUniverse,
    MovementCells,
    MovementLimits,
)
from hushway.families.links.rows import bounding
from hushway.families.links.rows.bounding import ArrayMovements
from hushway.geography.periods import Periods
from hushway.privacy.query import PartitionQuery, Query
from hushway.privacy.randomness import SeededSource

ROADS = road_city(3, links=1000)
DAY = date(2024, 1, 15)
ZONE, ZONES = grid_zones(ROADS, 5000.0)
UNIVERSE = LinkUniverse(
    roads=ROADS,
    periods=Periods(
        zone="UTC", first_day=DAY, last_day=DAY, opens=0, closes=1440, minutes=720, cycle="day"
    ),
    zone=ZONE,
    zones=ZONES,
)
ITEMS, LEFT = MovementCells(universe=UNIVERSE), LeftOutCells(universe=UNIVERSE)
CLASSES = LeftOutClasses(universe=UNIVERSE)
MOST = 5


def counter(items: int, *, seed: int = 1, people: int = 1, left_out: bool = True) -> ArrayMovements:
    """People with the first items each, half of them in each period."""
    item = np.tile(np.arange(items), people)
    return ArrayMovements(
        universe=UNIVERSE,
        limits=MovementLimits(max_items=MOST, left_out=left_out),
        key=BoundingKey.draw(SeededSource(seed)),
        person=np.repeat(np.arange(people), items),
        period=item % 2,
        item=item,
    )


def counted(found: ArrayMovements) -> tuple[IntArray, IntArray]:
    """Counts of items, and by weight of what is left out."""
    kept, left = (np.zeros(cells.size, dtype=np.int64) for cells in (ITEMS, LEFT))
    for cells, values in ((ITEMS, kept), (LEFT, left)):
        exact = found.count(Query(name=cells.name, cells=cells))
        values[exact.cells] = exact.values
    return kept, left.reshape(len(WEIGHTS), -1)


@pytest.mark.parametrize("items", [1, 4, 5])
def test_nothing_is_left_out_of_few_items(items: int) -> None:
    kept, left = counted(counter(items))
    assert kept.sum() == items
    assert left.sum() == 0


@pytest.mark.parametrize("items", [6, 9, 10])
def test_up_to_twice_as_many_items_are_all_there_once(items: int) -> None:
    kept, left = counted(counter(items))
    assert left[1:].sum() == 0
    both = kept + left[0]
    assert both.max() == 1
    assert both.sum() == items
    assert kept.sum() == MOST


@pytest.mark.parametrize(
    ("items", "weights"), [(11, {0, 1}), (20, {0, 1}), (25, {1}), (85, {2}), (300, {2})]
)
def test_beyond_that_as_many_again_stand_for_the_others(items: int, weights: set[int]) -> None:
    used = set()
    for seed in range(60):
        kept, left = counted(counter(items, seed=seed))
        assert kept.sum() == left.sum() == MOST
        assert (kept + left.sum(axis=0)).max() == 1
        (weight,) = np.flatnonzero(left.sum(axis=1))
        used.add(int(weight))
    assert used == weights


@pytest.mark.one_in(2)
@pytest.mark.parametrize("items", [6, 10, 13, 21, 40, 85])
def test_counts_and_weighted_counts_are_right_on_average(items: int) -> None:
    """A thousand people with the same items, 20 keys: each item counts 1 a person on average."""
    people, keys = 1000, 20
    total = np.zeros(ITEMS.size)
    squares = 0.0
    for seed in range(keys):
        kept, left = counted(counter(items, seed=seed, people=people))
        total += kept + np.array(WEIGHTS) @ left
        squares += float(kept.sum() + (np.array(WEIGHTS) ** 2 @ left).sum())
    mean = total[total > 0] / (people * keys)
    # Somebody's items have a variance of less than this each; six deviations of a mean.
    error = np.sqrt(squares / (people * keys * items) / (people * keys))
    assert np.count_nonzero(total) == items
    assert np.abs(mean - 1).max() < 6 * error + 1e-12


def test_classes_are_sums_of_what_is_left_out() -> None:
    found = counter(300, people=7)
    base = Query(name=LEFT.name, cells=LEFT)
    exact = PartitionQuery(name=CLASSES.name, base=base, cells=CLASSES).apply(found.count(base))
    assert exact.values.sum() == 7 * MOST
    cells = np.arange(LEFT.size)
    element = CLASSES.of(cells)
    assert element.max() == CLASSES.size - 1
    item = cells % UNIVERSE.items
    links = item < ROADS.links
    assert np.array_equal(element[links] % 6, ROADS.road_class[item[links]] - 1)
    assert set((element[~links] % 6).tolist()) == {5}
    assert np.array_equal(element // 6, cells // LEFT.of_a_weight)


def test_one_person_moves_no_more_than_the_bound() -> None:
    found = counter(300)
    bound = found.bound(Query(name=LEFT.name, cells=LEFT))
    exact = found.count(Query(name=LEFT.name, cells=LEFT))
    assert len(exact.cells) == bound.cells == MOST
    assert exact.values.max() == bound.each == 1
    assert exact.values.sum() == bound.total


def test_what_nobody_counted_cannot_be_asked_for() -> None:
    found = counter(9, left_out=False)
    with pytest.raises(PrivacyError, match="did not count what is left out"):
        found.count(Query(name=LEFT.name, cells=LEFT))


def test_more_cells_than_memory_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounding, "_MOST_CELLS", ITEMS.size)
    assert counter(9, left_out=False).unit
    with pytest.raises(DataError, match="pairs of a period and a link or node"):
        counter(9)
