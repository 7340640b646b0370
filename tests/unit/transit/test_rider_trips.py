"""Trips that are drawn from a table add up to the table."""

from collections import Counter
from collections.abc import Callable
from datetime import date

import numpy as np
import pytest

from hushway.errors import PlanError
from hushway.families.od.public.cells import ODCells
from hushway.geography.locations import Locations
from hushway.geography.periods import Cycle, Periods
from hushway.transit.legs import RiderTrips, draw_trips, in_order

Place = Callable[..., Locations]
OPENS, MINUTES = 8 * 60, 30


def universe_of(
    placed: Place, *, include_intrazonal: bool = False, cycle: Cycle = "day"
) -> ODCells:
    periods = Periods(
        zone="America/Detroit",
        first_day=date(2026, 3, 3),
        last_day=date(2026, 3, 3),
        opens=OPENS,
        closes=10 * 60,
        minutes=MINUTES,
        cycle=cycle,
    )
    places = placed(*((100.0 * place, 0.0, "a") for place in range(6)))
    return ODCells(locations=places, periods=periods, include_intrazonal=include_intrazonal)


def cells_of(universe: ODCells, trips: RiderTrips) -> Counter[int]:
    """The table that trips make, by the clock."""
    period = (trips.depart_s - OPENS * 60) // (MINUTES * 60)
    return Counter(universe.encode(period, trips.origin, trips.destination).tolist())


def facts_of(trips: RiderTrips) -> list[list[int]]:
    return [trips.depart_s.tolist(), trips.origin.tolist(), trips.destination.tolist()]


@pytest.mark.parametrize("seed", range(10))
def test_drawn_trips_make_the_table_that_they_came_from(placed: Place, seed: int) -> None:
    universe = universe_of(placed)
    rng = np.random.default_rng(seed)
    cells = rng.permutation(universe.size)[:40]
    counts = rng.integers(0, 20, 40)
    trips = draw_trips(universe, cells, counts, seed=seed)
    table = dict(zip(cells.tolist(), counts.tolist(), strict=True))
    assert cells_of(universe, trips) == {cell: n for cell, n in table.items() if n}
    assert len(trips) == counts.sum()
    assert (np.diff(trips.depart_s) >= 0).all()


def test_trips_begin_at_every_second_of_their_period_and_at_no_other(placed: Place) -> None:
    universe = universe_of(placed)
    cell = universe.encode(np.array([2]), np.array([1]), np.array([4]))
    trips = draw_trips(universe, cell, np.array([40_000]), seed=3)
    starts = 9 * 3600
    assert np.array_equal(np.unique(trips.depart_s), np.arange(starts, starts + 1800))
    assert abs(trips.depart_s.mean() - (starts + 899.5)) < 6 * 1800 / np.sqrt(12 * 40_000)


def test_the_same_seed_draws_the_same_trips_and_another_one_others(placed: Place) -> None:
    universe = universe_of(placed)
    table = np.arange(30), np.full(30, 5)
    first = facts_of(draw_trips(universe, *table, seed=1))
    assert first == facts_of(draw_trips(universe, *table, seed=1))
    assert first != facts_of(draw_trips(universe, *table, seed=2))


def test_trips_that_end_where_they_began_are_left_out(placed: Place) -> None:
    universe = universe_of(placed, include_intrazonal=True)
    trips = draw_trips(universe, np.arange(universe.size), np.ones(universe.size, int), seed=1)
    assert len(trips) == 4 * 6 * 5
    assert (trips.origin != trips.destination).all()
    assert set(cells_of(universe, trips).values()) == {1}


def test_periods_of_a_window_of_one_day_are_read_alike(placed: Place) -> None:
    by_day, by_window = universe_of(placed), universe_of(placed, cycle="window")
    table = np.arange(0, by_day.size, 7), np.full(len(range(0, by_day.size, 7)), 2)
    drawn = [facts_of(draw_trips(each, *table, seed=5)) for each in (by_day, by_window)]
    assert drawn[0] == drawn[1]


def test_an_empty_table_has_no_trips(placed: Place) -> None:
    nothing = np.zeros(0, dtype=np.int64)
    assert len(draw_trips(universe_of(placed), nothing, nothing, seed=1)) == 0
    assert len(draw_trips(universe_of(placed), np.arange(3), np.zeros(3, int), seed=1)) == 0


def test_trips_that_begin_together_keep_their_order() -> None:
    trips = in_order(np.array([5, 2, 5, 2]), np.array([0, 1, 2, 3]), np.array([9, 8, 7, 6]))
    assert facts_of(trips) == [[2, 2, 5, 5], [1, 3, 0, 2], [8, 6, 9, 7]]


@pytest.mark.parametrize(("depart_s", "destination"), [((60, 0), (1, 1)), ((0, 60), (1, 0))])
def test_trips_out_of_order_or_to_nowhere_are_refused(
    depart_s: tuple[int, int], destination: tuple[int, int]
) -> None:
    with pytest.raises(PlanError, match="order of departure"):
        RiderTrips(
            depart_s=np.array(depart_s), origin=np.array([0, 0]), destination=np.array(destination)
        )
