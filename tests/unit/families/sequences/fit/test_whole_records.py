"""Whole numbers of records keep running sums, and sums that run across them."""

import numpy as np

from hushway.families.sequences.fit.rounding import whole_records
from hushway.numerics.chance import generator

RECORDS, ONE, OTHER = 20_000, 8, 50


def test_sums_in_any_of_three_ways_are_those_of_the_weights_to_a_few_records() -> None:
    rng = generator(1, 1)
    weight = rng.exponential(0.7, RECORDS)
    one, other = rng.integers(0, ONE, RECORDS), rng.integers(0, OTHER, RECORDS)
    counts = whole_records(weight, (one, other), (ONE, OTHER))
    assert set((counts - np.floor(weight)).tolist()) <= {0, 1}
    assert counts.sum() == np.floor(weight.sum() + 0.5)
    assert np.abs(np.cumsum(counts - weight)).max() <= 1.5
    for sums, size in ((one, ONE), (other, OTHER)):
        assert np.abs(np.bincount(sums, counts - weight, size)).max() <= 4


def test_whole_weights_stay_and_nothing_is_nothing() -> None:
    weight = np.array([2.0, 0.0, 7.0])
    same = np.zeros(3, dtype=np.int64)
    assert whole_records(weight, (same, same), (1, 1)).tolist() == [2, 0, 7]
    assert not len(whole_records(weight[:0], (same[:0], same[:0]), (1, 1)))
