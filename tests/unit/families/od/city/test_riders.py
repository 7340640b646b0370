import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.families.od.city.ann_arbor import Trips, ann_arbor


@pytest.fixture(scope="module")
def trips() -> Trips:
    return ann_arbor(seed=11).trips


@pytest.fixture(scope="module")
def by_rider(trips: Trips) -> tuple[IntArray, IntArray]:
    """Consecutive trips of one rider, as two arrays of row numbers."""
    order = np.lexsort((trips.departure_s, trips.rider))
    same = np.diff(trips.rider[order]) == 0
    return order[:-1][same], order[1:][same]


def test_riders_are_numbered_without_gaps_and_all_travel(trips: Trips) -> None:
    assert (np.bincount(trips.rider) > 0).all()


def test_riders_make_about_two_trips_and_a_few_make_many(trips: Trips) -> None:
    made = np.bincount(trips.rider)
    assert 1.9 < made.mean() < 2.5
    assert np.median(made) == 2
    assert 0.15 < (made == 1).mean() < 0.3
    assert 0.02 < (made >= 5).mean() < 0.08
    assert made.max() == 12


def test_some_riders_travel_several_times_in_the_matched_window(trips: Trips) -> None:
    window = (trips.period >= 4) & (trips.period < 8)
    made = np.bincount(trips.rider[window])
    assert (made >= 2).sum() > 300
    assert made.max() >= 3


def test_riders_set_out_from_where_they_arrived(
    trips: Trips, by_rider: tuple[IntArray, IntArray]
) -> None:
    before, after = by_rider
    assert np.array_equal(trips.destination[before], trips.origin[after])


def test_riders_stay_half_an_hour_between_two_trips(
    trips: Trips, by_rider: tuple[IntArray, IntArray]
) -> None:
    before, after = by_rider
    assert (trips.departure_s[after] - trips.departure_s[before] >= 1_800).all()


def test_most_riders_with_two_trips_go_there_and_back(
    trips: Trips, by_rider: tuple[IntArray, IntArray]
) -> None:
    before, after = by_rider
    pairs = np.bincount(trips.rider)[trips.rider[before]] == 2
    returns = trips.origin[before] == trips.destination[after]
    assert returns[pairs].mean() > 0.95


def test_demand_peaks_in_the_morning_and_higher_in_the_evening(trips: Trips) -> None:
    per_half_hour = np.bincount(trips.period)
    morning, noon, evening = per_half_hour[2:4], per_half_hour[8:12], per_half_hour[20:24]
    assert morning.mean() > 1.2 * noon.mean()
    assert evening.mean() > morning.mean()


def test_people_go_to_the_centre_in_the_morning_and_leave_it_in_the_evening(trips: Trips) -> None:
    def balance(periods: range) -> float:
        chosen = np.isin(trips.period, periods)
        arrive = np.isin(trips.destination[chosen], (0, 1, 2)).sum()
        leave = np.isin(trips.origin[chosen], (0, 1, 2)).sum()
        return float(arrive / leave)

    assert balance(range(2, 6)) > 2
    assert balance(range(20, 24)) < 0.5


def test_demand_is_skewed_towards_few_destinations(trips: Trips) -> None:
    arrivals = np.sort(np.bincount(trips.destination[trips.period < 8], minlength=130))[::-1]
    assert arrivals[:13].sum() > 0.6 * arrivals.sum()


def test_departures_have_no_rhythm_within_a_half_hour(trips: Trips) -> None:
    seconds = trips.departure_s % 1_800
    assert np.bincount(seconds // 180, minlength=10).min() > 0.85 * len(trips) / 10


def test_riders_come_back_on_other_days_and_keep_their_habits() -> None:
    city = ann_arbor(seed=11, days=3)
    day = city.trips.departure_s // 86_400
    made = np.stack(
        [np.bincount(city.trips.rider[day == d], minlength=city.trips.riders) for d in range(3)]
    )
    present = made > 0
    assert (present.sum(axis=0) >= 2).mean() > 0.8
    assert not present.all()
    busy = made[0] >= 5
    assert made[1][busy & present[1]].mean() > 1.5 * made[1][~busy & present[1]].mean()
    # Nobody is in two corridors: the homes and usual places of a rider are three places at most.
    places = np.unique(np.stack([city.trips.rider, city.trips.origin]), axis=1)
    assert np.bincount(places[0]).max() <= 3
