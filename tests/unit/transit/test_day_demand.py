"""One day of a table over many: which days are averaged, and whole trips drawn from averages."""

from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.errors import PlanError, ReleaseError
from hushway.families.od.public.cells import ODCells
from hushway.families.od.synthetic.published import PublishedTrips
from hushway.geography.locations import (
    JOURNEY,
    NOT_KNOWN,
    RIDE,
    TAP_LABELS,
    Location,
    Locations,
    PlaceLabels,
    journey_at,
)
from hushway.geography.periods import Cycle, Periods
from hushway.transit.day_demand import DayDemand, hours_of, one_day, published_day

# A Wednesday to the Friday of the week after: 10 days, two of them Wednesdays.
FIRST, LAST = date(2026, 3, 4), date(2026, 3, 13)


def cells_of(cycle: Cycle, *, first: date = FIRST, last: date = LAST) -> ODCells:
    places = tuple(
        Location(id=key, name="", lon=i / 100, lat=0.0, zone="z") for i, key in enumerate("abc")
    )
    periods = Periods(
        zone="Europe/Paris",
        first_day=first,
        last_day=last,
        opens=8 * 60,
        closes=10 * 60,
        minutes=30,
        cycle=cycle,
    )
    return ODCells(locations=Locations(places), periods=periods)


def every_cell(universe: ODCells) -> tuple[IntArray, IntArray]:
    """A different count in every cell, and 0 in the first."""
    cells = np.arange(universe.size, dtype=np.int64)
    return cells, cells.copy()


def by_hand(universe: ODCells, labels: list[str]) -> list[int]:
    """Counts of the cells of some periods, in the order of periods, origins and destinations."""
    numbers = [universe.periods.labels.index(label) for label in labels]
    return [number * universe.pairs + pair for number in numbers for pair in range(universe.pairs)]


def spread(demand: DayDemand) -> list[int]:
    """The sums of all cells of the day."""
    sums = np.zeros(demand.universe.size, dtype=np.int64)
    sums[demand.cells] = demand.sums
    return sums.tolist()


HALF_HOURS = ["08:00-08:30", "08:30-09:00", "09:00-09:30", "09:30-10:00"]


def test_periods_of_the_day_are_averaged_over_all_days() -> None:
    universe = cells_of("day")
    demand = one_day(universe, *every_cell(universe))
    assert demand.days == 10
    assert spread(demand) == by_hand(universe, HALF_HOURS)
    assert demand.mean_trips.tolist() == [n / 10 for n in range(1, 24)]
    assert demand.window_s == (8 * 3600, 10 * 3600)
    assert demand.universe.periods.first_day == demand.universe.periods.last_day == FIRST


@pytest.mark.parametrize(
    ("day", "days", "first"),
    [("Wed", 2, FIRST), ("fri", 2, date(2026, 3, 6)), ("Mon", 1, date(2026, 3, 9))],
)
def test_periods_of_the_week_are_averaged_over_such_weekdays(
    day: str, days: int, first: date
) -> None:
    universe = cells_of("week")
    demand = one_day(universe, *every_cell(universe), day=day)
    assert demand.days == days
    labels = [f"{day.capitalize()} {part}" for part in HALF_HOURS]
    expected = by_hand(universe, labels)
    assert spread(demand) == expected
    assert demand.universe.periods.first_day == first
    assert demand.universe.periods.cycle == "day"


def test_a_date_of_the_window_is_taken_as_it_is() -> None:
    universe = cells_of("window")
    demand = one_day(universe, *every_cell(universe), day="2026-03-07")
    assert demand.days == 1
    assert spread(demand) == by_hand(universe, [f"2026-03-07 {part}" for part in HALF_HOURS])
    trips = demand.draw(5)
    period = (trips.depart_s // 60 - 480) // 30
    drawn = np.bincount(
        demand.universe.encode(period, trips.origin, trips.destination),
        minlength=demand.universe.size,
    )
    assert drawn.tolist() == spread(demand)


@pytest.mark.parametrize("cycle", ["day", "week", "window"])
def test_hours_keep_their_periods_and_no_others(cycle: Cycle) -> None:
    universe = cells_of(cycle)
    day = {"day": None, "week": "Fri", "window": "2026-03-13"}[cycle]
    demand = one_day(universe, *every_cell(universe), day=day, hours=(510, 570))
    prefix = "" if day is None else f"{day} "
    assert spread(demand) == by_hand(universe, [prefix + part for part in HALF_HOURS[1:3]])
    assert demand.window_s == (510 * 60, 570 * 60)
    trips = demand.draw(1)
    assert trips.depart_s.min() >= 510 * 60
    assert trips.depart_s.max() < 570 * 60


@pytest.mark.parametrize(
    "hours", [(480, 495), (490, 520), (450, 540), (540, 630), (540, 540), (570, 510)]
)
def test_hours_that_are_not_made_of_periods_are_refused(hours: tuple[int, int]) -> None:
    universe = cells_of("day")
    with pytest.raises(PlanError, match="begin and end with periods") as refused:
        one_day(universe, *every_cell(universe), hours=hours)
    assert "30 minutes, from 08:00 to 10:00" in refused.value.advice


def test_a_weekday_is_needed_where_weekdays_are_told_apart() -> None:
    universe = cells_of("week", last=date(2026, 3, 6))
    with pytest.raises(PlanError, match="A weekday is needed") as refused:
        one_day(universe, *every_cell(universe))
    assert "Wed, Thu, Fri." in refused.value.advice
    with pytest.raises(PlanError, match="no weekday 'Mon'"):
        one_day(universe, *every_cell(universe), day="Mon")
    with pytest.raises(PlanError, match="no weekday '2026-03-04'"):
        one_day(universe, *every_cell(universe), day="2026-03-04")


def test_a_date_of_the_window_is_needed_where_all_days_are_told_apart() -> None:
    universe = cells_of("window")
    with pytest.raises(PlanError, match="A date is needed") as refused:
        one_day(universe, *every_cell(universe))
    assert "2026-03-04 to 2026-03-13" in refused.value.advice
    with pytest.raises(PlanError, match="no date '2026-03-14'"):
        one_day(universe, *every_cell(universe), day="2026-03-14")


def test_no_day_can_be_picked_out_of_days_counted_together() -> None:
    universe = cells_of("day")
    with pytest.raises(PlanError, match="all days together"):
        one_day(universe, *every_cell(universe), day="Wed")


def test_no_fleet_carries_people_twice() -> None:
    alone = cells_of("day")
    ids = ("a", NOT_KNOWN, journey_at("a"))
    places = tuple(replace(alone.locations.places[0], id=key) for key in ids)
    kinds = PlaceLabels(column=TAP_LABELS[-1], values=(RIDE, NOT_KNOWN, JOURNEY))
    universe = replace(alone, locations=Locations(places, (kinds,)))
    cells, counts = every_cell(universe)
    table = PublishedTrips(universe=universe, cells=cells, counts=counts, learnt=None)
    with pytest.raises(ReleaseError, match="twice"):
        published_day(table)


def test_drawn_days_have_the_average_rounded_up_or_down_and_are_right_on_average() -> None:
    universe = cells_of("day")
    demand = one_day(universe, *every_cell(universe))
    draws = []
    for seed in range(400):
        trips = demand.draw(seed)
        period = (trips.depart_s // 60 - 480) // 30
        cell = demand.universe.encode(period, trips.origin, trips.destination)
        draws.append(np.bincount(cell, minlength=universe.size))
    found, mean = np.array(draws), np.arange(universe.size) / 10
    assert (found >= np.floor(mean)).all()
    assert (found <= np.ceil(mean)).all()
    # Six standard errors of 400 fair coins.
    assert np.abs(found.mean(axis=0) - mean).max() < 6 * 0.5 / 20
    # Cells are rounded each for itself: the sum of a day is neither always up nor always down.
    assert found.sum(axis=1).std() > 1


def test_the_same_seed_draws_the_same_day_and_another_seed_another() -> None:
    universe = cells_of("day")
    demand = one_day(universe, *every_cell(universe))
    first, again, other = demand.draw(3), demand.draw(3), demand.draw(4)
    assert first.depart_s.tolist() == again.depart_s.tolist()
    assert first.origin.tolist() == again.origin.tolist()
    assert first.depart_s.tolist() != other.depart_s.tolist()


def test_a_day_without_trips_can_be_drawn() -> None:
    none = np.zeros(0, dtype=np.int64)
    assert len(one_day(cells_of("day"), none, none).draw(0)) == 0


def test_hours_are_read_as_minutes() -> None:
    assert hours_of("08:00-10:30") == (480, 630)
    assert hours_of(" 0:00-24:00 ") == (0, 1440)


@pytest.mark.parametrize("text", ["8-10", "08:00", "08:60-10:00", "a-b", ""])
def test_what_are_no_hours_is_refused(text: str) -> None:
    with pytest.raises(PlanError, match="not hours of a day"):
        hours_of(text)
