"""Equal sequences found by hashing, and added up."""

import numpy as np

from hushway.arrays import IntArray
from hushway.numerics.compiled import compiled

# The multiplier of a linear congruential generator by Knuth: it spreads the bits of a running hash.
_SPREAD = np.uint64(6364136223846793005)
_OFFSET = np.uint64(1442695040888963407)
_FOLD = np.uint64(29)


@compiled
def grouped(start: IntArray, stops: IntArray, weights: IntArray) -> tuple[IntArray, IntArray]:
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
        key = mixed(key, stops[at])
    return key


@compiled
def mixed(key: np.uint64, value: int) -> np.uint64:
    """Returns a running hash with one more value in it."""
    fresh = (key ^ np.uint64(value)) * _SPREAD + _OFFSET
    return fresh ^ (fresh >> _FOLD)


@compiled
def _same(start: IntArray, stops: IntArray, one: int, other: int) -> bool:
    length = start[one + 1] - start[one]
    if start[other + 1] - start[other] != length:
        return False
    step = 0
    while step < length and stops[start[one] + step] == stops[start[other] + step]:
        step += 1
    return bool(step == length)
