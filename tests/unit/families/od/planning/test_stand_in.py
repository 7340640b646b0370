from datetime import date

import numpy as np
import pytest

from hushway.errors import PlanError
from hushway.families.od.city.ann_arbor import ann_arbor
from hushway.families.od.planning.stand_in import stand_in
from hushway.families.od.public.cells import ODCells
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods


def test_a_twin_has_the_asked_trips_and_people_and_stays_in_the_universe() -> None:
    cells = ann_arbor(seed=1).cells
    made = stand_in(cells, trips=20_000, people=6_000, seed=3)
    assert len(made.person) == 20_000
    assert len(np.unique(made.person)) == 6_000
    assert made.period.min() >= 0
    assert made.period.max() < len(cells.periods)
    assert not (made.origin == made.destination).any()
    used = cells.encode(made.period, made.origin, made.destination)
    assert used.min() >= 0
    assert used.max() < cells.size


def test_a_twin_has_busy_places_and_people_with_many_trips() -> None:
    made = stand_in(ann_arbor(seed=1).cells, trips=20_000, people=6_000, seed=3)
    starts = np.sort(np.bincount(made.origin))[::-1]
    assert starts[:10].sum() > 0.2 * 20_000
    assert np.bincount(made.person).max() >= 10


def test_a_twin_has_pairs_that_suit_each_other_beyond_their_popularity() -> None:
    cells = ann_arbor(seed=1).cells
    made = stand_in(cells, trips=20_000, people=20_000, seed=3)
    places = len(cells.locations)
    pairs = np.bincount(made.origin * places + made.destination, minlength=places**2)
    ends = np.outer(np.bincount(made.origin), np.bincount(made.destination)) / 20_000
    common = ends.ravel() > 10
    # Popularity and distance alone leave a deviation of about .9 of what the ends expect.
    assert np.std(pairs[common] / ends.ravel()[common]) > 1.2


def test_a_seed_gives_the_same_twin_again() -> None:
    cells = ann_arbor(seed=1).cells
    first, again = (stand_in(cells, trips=500, people=200, seed=4) for _ in range(2))
    assert np.array_equal(first.origin, again.origin)
    assert np.array_equal(first.period, again.period)


def test_more_people_than_trips_are_refused() -> None:
    with pytest.raises(PlanError, match="as many trips as people"):
        stand_in(ann_arbor(seed=1).cells, trips=10, people=20)


def test_two_places_have_a_twin() -> None:
    # Half of all pairs of two places are a place and itself, and no distance follows from those.
    places = tuple(
        Location(id=name, name="", lon=lon, lat=0.0, zone="")
        for name, lon in (("a", 0.0), ("b", 1.0))
    )
    day = date(2024, 1, 15)
    hours = Periods(zone="UTC", first_day=day, last_day=day, opens=0, closes=1440, minutes=60)
    cells = ODCells(locations=Locations(places), periods=hours)
    for seed in range(10):
        made = stand_in(cells, trips=50, people=20, seed=seed)
        assert (made.origin != made.destination).all()
