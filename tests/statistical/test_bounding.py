"""The bounded choice is uniform, and people who share trips do not share the choice."""

from collections.abc import Callable
from datetime import date

import numpy as np
import pytest
from numpy.typing import NDArray

from hushway.families.od.public.cells import ODCells
from hushway.families.od.rows.bounding import ArrayCounter
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods
from hushway.privacy.bound import Unit
from hushway.privacy.query import Query
from support.choices import LEVEL, check_sets, keys
from support.goodness_of_fit import chi_square
from support.long import often

KEYS = 6_000
DAY_US = 86_400_000_000


@pytest.fixture(scope="module")
def cells() -> ODCells:
    places = tuple(Location(id=str(i), name="", lon=i / 100, lat=0.0, zone="") for i in range(40))
    return ODCells(
        locations=Locations(places),
        periods=Periods(
            zone="UTC",
            first_day=date(2026, 3, 2),
            last_day=date(2026, 3, 31),
            opens=0,
            closes=1440,
            minutes=60,
        ),
    )


# Regular lives are the hard case: times in arithmetic progression, where a polynomial of low degree
# shows its structure.
HABITS: dict[str, Callable[[int], NDArray[np.int64]]] = {
    "every day at the same minute": lambda n: np.arange(n) * DAY_US,
    "once a second": lambda n: np.arange(n) * 1_000_000,
    "at one and the same moment": lambda n: np.zeros(n, dtype=np.int64),
    "at odd times": lambda n: np.random.default_rng(9).integers(0, 30 * DAY_US, n),
}


def kept_trips(cells: ODCells, since_us: NDArray[np.int64], most: int, seed: int) -> list[int]:
    """Which trips one person keeps under each key, as bits; trip i goes from place 0 to i+1."""
    count = len(since_us)
    chosen = []
    for key in keys(seed, KEYS):
        counter = ArrayCounter(
            cells=cells,
            unit=Unit.PERSON,
            max_trips=most,
            key=key,
            person=np.zeros(count, dtype=np.int64),
            period=np.zeros(count, dtype=np.int64),
            origin=np.zeros(count, dtype=np.int64),
            destination=np.arange(1, count + 1),
            since_us=since_us,
        )
        found = counter.count(Query(name="trips", cells=cells))
        _, _, destination = cells.decode(found.cells)
        chosen.append(int((1 << (destination - 1)).sum()))
    return chosen


@pytest.mark.parametrize("habit", often(HABITS))
@pytest.mark.parametrize(("count", "most"), [(5, 2), pytest.param(7, 3, marks=pytest.mark.long)])
def test_every_set_of_trips_is_kept_equally_often(
    cells: ODCells, habit: str, *, count: int, most: int
) -> None:
    chosen = np.array(kept_trips(cells, HABITS[habit](count), most, seed=21))
    check_sets(chosen, count, most)


@pytest.mark.long
@pytest.mark.parametrize("habit", HABITS)
def test_every_trip_of_many_is_kept_equally_often(cells: ODCells, habit: str) -> None:
    count, most = 31, 10
    chosen = np.array(kept_trips(cells, HABITS[habit](count), most, seed=22))
    bits = (chosen[:, None] >> np.arange(count)) & 1
    assert (bits.sum(axis=1) == most).all()
    # The numbers of one choice add up to 10, which makes them vary less than independent ones.
    assert chi_square(bits.sum(axis=0), np.full(count, 1 / count)) > LEVEL


@pytest.mark.parametrize("minutes", often([1, 60]))
def test_people_who_share_trips_do_not_share_the_choice(cells: ODCells, minutes: int) -> None:
    """A popular trip, told to the minute or the hour, is kept by a share of people, not by all.

    400 people keep 10 of their 40 trips; 20 of these are a commute that all of them make, told in
    whole steps, so that its days tie across people. If all shared one choice, the standard
    deviation of its total would be the root of 400, 20 times that of independent choices.
    """
    rng = np.random.default_rng(5)
    people, shared, own, most = 400, 20, 20, 10
    step = minutes * 60_000_000
    since = np.empty((people, shared + own), dtype=np.int64)
    since[:, :shared] = np.arange(shared) * DAY_US + 8 * 3_600_000_000
    since[:, :shared] += rng.integers(0, 60, (people, shared)) * 60_000_000
    since[:, shared:] = rng.integers(0, 20 * DAY_US, (people, own))
    origin = np.zeros_like(since)
    destination = np.ones_like(since)
    destination[:, shared:] = rng.integers(2, 40, (people, own))
    totals = []
    for key in keys(23, 400):
        counter = ArrayCounter(
            cells=cells,
            unit=Unit.PERSON,
            max_trips=most,
            key=key,
            person=np.repeat(np.arange(people), shared + own),
            period=np.zeros(since.size, dtype=np.int64),
            origin=origin.ravel(),
            destination=destination.ravel(),
            since_us=(since // step * step).ravel(),
        )
        found = counter.count(Query(name="trips", cells=cells))
        assert found.values.sum() == people * most
        totals.append(int(found.values[found.cells == 0].sum()))
    trips = shared + own
    variance = people * most * 0.25 * (trips - most) / (trips - 1)
    # 400 draws estimate a variance within 7% (one standard deviation); 1.5 is seven of them away.
    assert np.var(totals) < 1.5 * variance
    assert abs(np.mean(totals) - people * most / 2) < 6 * np.sqrt(variance / len(totals))
