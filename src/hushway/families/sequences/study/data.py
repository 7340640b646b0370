"""Sequences as evaluation sees them: each distinct one once, with how often it occurs."""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import DataError
from hushway.numerics.compiled import compiled

# The multiplier of a linear congruential generator by Knuth: it spreads the bits of a running hash.
_SPREAD = np.uint64(6364136223846793005)
_OFFSET = np.uint64(1442695040888963407)
_FOLD = np.uint64(29)


@dataclass(frozen=True, kw_only=True, eq=False)
class WeightedSequences:
    """Sequences of stops with weights. The sequences need not differ.

    Attributes:
        start: Where each sequence begins; one entry more than sequences.
        stops: The location index of every stop of all of them in a row.
        weights: How many records each sequence stands for.
    """

    start: IntArray
    stops: IntArray
    weights: IntArray

    def __post_init__(self) -> None:
        check_ragged(self.start, self.stops)
        if len(self.weights) != len(self.start) - 1:
            raise DataError(
                "The weights are not one for each sequence.",
                advice="Give how many records each sequence stands for, in their order.",
            )

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def records(self) -> int:
        """Number of records, |D| in the paper."""
        return int(self.weights.sum())


def check_ragged(start: IntArray, values: IntArray) -> None:
    """Refuses arrays that are no list of lists.

    Raises:
        DataError: The lists do not begin at 0, ascend and end with the values; or a value is
            negative.
    """
    ascending = len(start) > 0 and start[0] == 0 and bool(np.all(np.diff(start) >= 0))
    if not ascending or start[-1] != len(values):
        raise DataError(
            "The lists do not begin and end with the values that they cut up.",
            advice="Give the first position of every list, and the number of values at the end.",
        )
    if len(values) and values.min() < 0:
        raise DataError(
            "A location index is negative.", advice="Count locations from 0, in their order."
        )


def distinct(
    start: IntArray, stops: IntArray, weights: IntArray | None = None
) -> WeightedSequences:
    """Returns each distinct sequence once, in the order of first appearance, with its weight.

    Args:
        start: Where each sequence begins; one entry more than sequences.
        stops: The location index of every stop of all of them in a row.
        weights: How many records each stands for; one each unless given. Equal sequences add up.

    Raises:
        DataError: The arrays are no list of lists.
    """
    each = np.ones(len(start) - 1, dtype=np.int64) if weights is None else weights
    given = WeightedSequences(start=start, stops=stops, weights=each)
    first, sums = _grouped(given.start, given.stops, given.weights)
    length = np.diff(start)[first]
    ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(length)])
    # Consecutive numbers within each sequence, moved to where it stood before.
    where = np.arange(ends[-1]) + np.repeat(start[first] - ends[:-1], length)
    return WeightedSequences(start=ends, stops=stops[where], weights=sums)


@compiled
def _grouped(start: IntArray, stops: IntArray, weights: IntArray) -> tuple[IntArray, IntArray]:
    """Returns the first position of each distinct sequence, and the weight of all like it.

    This is a hash table with open addressing. Equal hashes are followed by a comparison of stops,
    so that a collision costs time and never a mistake.
    """
    count = len(start) - 1
    slots = 2
    while slots < 2 * count:
        slots *= 2
    table = np.full(slots, -1, dtype=np.int64)
    first = np.empty(count, dtype=np.int64)
    sums = np.zeros(count, dtype=np.int64)
    hashes = np.empty(count, dtype=np.uint64)
    found = 0
    for one in range(count):
        key = _hash(stops, start[one], start[one + 1])
        slot = np.int64(key & np.uint64(slots - 1))
        while table[slot] >= 0:
            group = table[slot]
            if hashes[group] == key and _same(start, stops, first[group], one):
                break
            slot = (slot + 1) % slots
        group = table[slot]
        if group < 0:
            group = found
            table[slot], first[group], hashes[group] = group, one, key
            found += 1
        sums[group] += weights[one]
    return first[:found].copy(), sums[:found].copy()


@compiled
def _hash(stops: IntArray, begin: int, end: int) -> np.uint64:
    key = np.uint64(end - begin)
    for at in range(begin, end):
        key = (key ^ np.uint64(stops[at])) * _SPREAD + _OFFSET
        key ^= key >> _FOLD
    return key


@compiled
def _same(start: IntArray, stops: IntArray, one: int, other: int) -> bool:
    length = start[one + 1] - start[one]
    if start[other + 1] - start[other] != length:
        return False
    step = 0
    while step < length and stops[start[one] + step] == stops[start[other] + step]:
        step += 1
    return bool(step == length)
