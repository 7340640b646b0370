import numpy as np

from hushway.families.sequences.city.cards import metro
from hushway.families.sequences.synthetic.taps import one_by_one, plausible_seconds


def test_records_are_written_out_one_by_one() -> None:
    start, stops = np.array([0, 2, 3, 3]), np.array([5, 6, 7])
    records = one_by_one(start, stops, np.array([2, 3, 1]))
    assert records.start.tolist() == [0, 2, 4, 5, 6, 7, 7]
    assert records.stops.tolist() == [5, 6, 5, 6, 7, 7, 7]


def test_times_ascend_within_a_record_and_stay_within_the_day() -> None:
    city = metro(3, records=3000)
    records = one_by_one(city.start, city.stops, np.ones(len(city), dtype=np.int64))
    seconds = plausible_seconds(records, city.locations, seed=2)
    assert seconds.min() >= 0
    assert seconds.max() < 24 * 60 * 60
    owner = np.repeat(np.arange(len(city)), np.diff(city.start))
    assert not np.any((np.diff(seconds) < 0) & (np.diff(owner) == 0))


def test_people_travel_by_day_and_a_seed_repeats_itself() -> None:
    city = metro(3, records=3000)
    records = one_by_one(city.start, city.stops, np.ones(len(city), dtype=np.int64))
    first, again, other = (plausible_seconds(records, city.locations, seed=i) for i in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    hours = np.bincount(first // 3600, minlength=24)
    assert hours[7:20].sum() > 0.6 * hours.sum()
    assert hours.max() < 0.2 * hours.sum()
