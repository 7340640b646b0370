from datetime import date
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hushway.arrays import IntArray
from hushway.errors import PlanError
from hushway.families.od.city.ann_arbor import City, Trips, ann_arbor
from hushway.geography.itineraries import MODES, itineraries

SEEDS = (0, 1, 7, 42, 2018, 2**63)


def in_window(trips: Trips) -> NDArray[np.bool_]:
    return (trips.period >= 4) & (trips.period < 8)


def cells_of(city: City, which: NDArray[np.bool_]) -> IntArray:
    trips = city.trips
    return city.cells.encode(trips.period, trips.origin, trips.destination)[which]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_weekday_has_the_published_figures_for_every_seed(seed: int) -> None:
    city = ann_arbor(seed=seed)

    assert len(city.cells.locations) == 130
    assert len(city.cells.locations.zones) == 4
    assert len(city.modes) == 12
    assert len(city.cells.periods) == 28
    assert city.cells.periods.labels[4:8][0] == "08:00-08:30"
    assert city.cells.periods.labels[4:8][-1] == "09:30-10:00"
    assert len(city.trips) == 37_714
    window = in_window(city.trips)
    assert window.sum() == 4_878
    assert len(np.unique(cells_of(city, window))) == 591


@pytest.mark.parametrize("seed", SEEDS)
def test_a_weekend_has_the_weekday_figures_in_proportion_to_the_shuttles(seed: int) -> None:
    city = ann_arbor(seed=seed, day="weekend")

    assert len(city.trips) == round(37_714 * 48 / 99) == 18_286
    window = in_window(city.trips)
    assert window.sum() == round(4_878 * 48 / 99) == 2_365
    assert len(np.unique(cells_of(city, window))) == round(591 * 48 / 99) == 287


@pytest.mark.parametrize("seed", SEEDS)
def test_every_mode_is_used_in_the_matched_window(seed: int) -> None:
    city = ann_arbor(seed=seed)
    window = in_window(city.trips)
    used = city.mode_of[city.trips.origin[window], city.trips.destination[window]]
    assert sorted(set(used.tolist())) == list(range(12))


def test_the_same_seed_gives_the_same_city_and_another_seed_another() -> None:
    one, same, other = (ann_arbor(seed=seed).trips for seed in (5, 5, 6))
    for column in ("rider", "origin", "destination", "departure_s", "period"):
        assert np.array_equal(getattr(one, column), getattr(same, column))
        assert not np.array_equal(getattr(one, column), getattr(other, column))


def test_the_public_geography_does_not_depend_on_the_seed_or_the_day() -> None:
    city, other = ann_arbor(seed=1), ann_arbor(seed=2, day="weekend")
    assert city.cells.locations == other.cells.locations
    assert np.array_equal(city.mode_of, other.mode_of)
    assert city.network == other.network


def test_modes_come_from_the_network() -> None:
    city = ann_arbor(seed=1, places=40)
    assert city.network.locations is city.cells.locations
    assert city.modes == MODES
    assert np.array_equal(city.mode_of, itineraries(city.network).mode)


def test_days_have_a_documented_date_and_the_wall_clock_of_detroit() -> None:
    weekday, weekend = (
        ann_arbor(seed=1).cells.periods,
        ann_arbor(seed=1, day="weekend").cells.periods,
    )
    assert (weekday.zone, weekday.first_day, weekday.last_day) == (
        "America/Detroit",
        date(2026, 3, 3),
        date(2026, 3, 3),
    )
    assert (weekend.first_day, weekend.last_day) == (date(2026, 3, 7), date(2026, 3, 7))


def test_trips_lie_in_their_half_hour_and_never_end_where_they_began() -> None:
    trips = ann_arbor(seed=3).trips
    assert np.array_equal(trips.period, (trips.departure_s // 60 - 360) // 30)
    assert trips.period.min() == 0
    assert trips.period.max() == 27
    assert (trips.origin != trips.destination).all()
    assert (np.diff(trips.departure_s) >= 0).all()


def test_trips_cannot_be_written_to() -> None:
    city = ann_arbor(seed=3)
    with pytest.raises(ValueError, match="read-only"):
        city.trips.rider[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        city.mode_of[0, 1] = 1


def test_ten_times_the_trips_use_more_cells_but_not_ten_times_as_many() -> None:
    city = ann_arbor(seed=1, scale=10)
    window = in_window(city.trips)
    assert len(city.trips) == 377_140
    assert window.sum() == 48_780
    assert len(np.unique(cells_of(city, window))) == round(591 * 10**0.5)
    assert city.trips.riders == pytest.approx(10 * ann_arbor(seed=1).trips.riders, rel=0.02)


@pytest.mark.parametrize("places", [40, 2_000])
def test_smaller_and_larger_cities_keep_trips_zones_and_modes(places: int) -> None:
    city = ann_arbor(seed=1, places=places)
    assert len(city.cells.locations) == places
    assert len(city.cells.locations.zones) == 4
    assert len(city.trips) == 37_714
    assert in_window(city.trips).sum() == 4_878
    used = city.mode_of[city.trips.origin, city.trips.destination]
    assert sorted(set(used.tolist())) == list(range(12))
    assert city.trips.origin.max() < places


def test_a_larger_city_uses_more_cells() -> None:
    cells = [
        len(np.unique(cells_of(city, in_window(city.trips))))
        for city in (ann_arbor(seed=1, places=places) for places in (40, 130, 400))
    ]
    assert cells == [182, 591, 1818]


def test_a_week_has_the_figures_of_each_of_its_days() -> None:
    city = ann_arbor(seed=1, days=7)
    day = city.trips.departure_s // 86_400
    assert np.bincount(day).tolist() == [37_714] * 4 + [18_286] * 2 + [37_714]
    for number in range(7):
        window = in_window(city.trips) & (day == number)
        expected = 287 if number in {4, 5} else 591
        assert len(np.unique(cells_of(city, window))) == expected
    assert len(city.cells.periods.days) == 7


@pytest.mark.parametrize(
    "sizes",
    [{"seed": -1}, {"scale": 0}, {"places": 39}, {"places": 2_001}, {"days": 0}, {"days": 29}],
)
def test_sizes_out_of_range_are_refused_with_advice(sizes: dict[str, Any]) -> None:
    with pytest.raises(PlanError) as refusal:
        ann_arbor(**{"seed": 1, **sizes})
    assert refusal.value.advice
