"""Whole records from expected ones, without randomness (systematic rounding).

Expected numbers are laid end to end on a line, and every whole number on it is a record. Where the
line begins is a step of the golden ratio for each prefix: over many prefixes the beginnings are
even, so that fractions add up to what they should, in every part of the tree.
"""

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.sequences.fit.backoff import (
    END,
    KIND_POOLS,
    KINDS,
    NEW,
    PLACE_POOLS,
    Model,
    kind_chances,
    place_chances,
)
from hushway.numerics.compiled import compiled

_GOLDEN = 0.6180339887498949
# Sums of probabilities may miss a whole number by rounding.
_SLACK = 1e-9

# Rows of histories, places and records.
Continued = tuple[IntArray, IntArray, IntArray]


@compiled
def spread_kept(
    model: Model,
    histories: IntArray,
    ends: IntArray,
    children: tuple[IntArray, IntArray],
    ceiling: float,
) -> tuple[IntArray, Continued]:
    """Spreads the published ends of kept prefixes over ends and next stops that were not kept.

    Args:
        children: The prefix, ascending, and the next stop of each child that was kept.
        ceiling: No next stop that was not kept gets more than this.

    Returns:
        How many end, and the rows, places and numbers of those that go on.
    """
    total = np.minimum(ends, model.places).sum()
    going_on = np.empty((3, total), np.int64)
    row, place, records = going_on[0], going_on[1], going_on[2]
    stay = np.zeros_like(ends)
    kinds, places = np.empty(KINDS), np.empty(model.places)
    kind_key, place_key = np.empty(KIND_POOLS, np.uint64), np.empty(PLACE_POOLS, np.uint64)
    child_row, child_place = children
    child, found = 0, 0
    for one in range(len(ends)):
        first = child
        while child < len(child_row) and child_row[child] == one:
            child += 1
        if ends[one] == 0:
            continue
        history = histories[one]
        kind_chances(model, history, kind_key, kinds)
        place_chances(model, history, place_key, places)
        places *= kinds[NEW]
        for back in range(1, min(len(history), KINDS - 2) + 1):
            if kinds[1 + back] > 0:
                places[history[len(history) - back]] = kinds[1 + back]
        for at in range(first, child):
            places[child_place[at]] = 0.0
        _limit(places, kinds[END], ends[one], ceiling)
        line = (one + 1) * _GOLDEN % 1.0
        gone = 0
        for to in range(model.places):
            line += places[to]
            whole = min(int(line + _SLACK), ends[one])
            if whole > gone:
                row[found], place[found], records[found] = one, to, whole - gone
                gone = whole
                found += 1
        stay[one] = ends[one] - gone
    return stay, (row[:found].copy(), place[:found].copy(), records[:found].copy())


@compiled
def spread_added(model: Model, histories: IntArray, counts: IntArray) -> tuple[IntArray, Continued]:
    """Spreads records of prefixes that were not kept; returns the same as `spread_kept`.

    There are many of them, mostly of one record: new places are looked at only for records that
    neither end nor go back.
    """
    total = np.minimum(counts, model.places).sum()
    going_on = np.empty((3, total), np.int64)
    row, place, records = going_on[0], going_on[1], going_on[2]
    stay = np.zeros_like(counts)
    kinds, places = np.empty(KINDS), np.empty(model.places)
    kind_key, place_key = np.empty(KIND_POOLS, np.uint64), np.empty(PLACE_POOLS, np.uint64)
    found = 0
    for one in range(len(counts)):
        history, count = histories[one], counts[one]
        kind_chances(model, history, kind_key, kinds)
        line = (one + 1) * _GOLDEN % 1.0 + count * kinds[END]
        gone = min(int(line + _SLACK), count)
        stay[one] = gone
        for back in range(1, min(len(history), KINDS - 2) + 1):
            line += count * kinds[1 + back]
            whole = min(int(line + _SLACK), count)
            if whole > gone:
                to = history[len(history) - back]
                row[found], place[found], records[found] = one, to, whole - gone
                gone = whole
                found += 1
        if gone < count:
            place_chances(model, history, place_key, places)
            for to in range(model.places):
                line += count * kinds[NEW] * places[to]
                whole = min(int(line + _SLACK), count)
                if whole > gone:
                    row[found], place[found], records[found] = one, to, whole - gone
                    gone = whole
                    found += 1
                    if gone == count:
                        break
            # Only a rounding error can leave a record: it ends.
            stay[one] += count - gone
    return stay, (row[:found].copy(), place[:found].copy(), records[:found].copy())


@compiled
def _limit(places: FloatArray, ending: float, records: int, ceiling: float) -> None:
    """Turns probabilities into expected records, none above the ceiling; the rest end."""
    full = np.zeros(len(places), dtype=np.bool_)
    left, weight = float(records), ending + places.sum()
    again = True
    while again:
        again = False
        rate = left / weight
        for to in range(len(places)):
            if not full[to] and places[to] * rate > ceiling:
                full[to] = True
                again = True
                left -= ceiling
                weight -= places[to]
    for to in range(len(places)):
        places[to] = ceiling if full[to] else places[to] * rate
