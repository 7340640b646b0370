"""The choice among one person's items, compiled: the same arithmetic as `BoundingKey`."""

from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.engine.key import PRIME, SUM_MASK, placed
from hushway.numerics.compiled import compiled_for_threads

# What a choice is made for; choices of different kinds are made at different points of the key.
FOR_ITEMS: Final = 3
FOR_TRIPS: Final = 4

_INDEX_BITS = 32
_INDEX = (1 << _INDEX_BITS) - 1


@compiled_for_threads
def add_people_items(  # noqa: PLR0913, PLR0917  one argument for each array
    start: IntArray,
    code: IntArray,
    when: FloatArray,
    steps: IntArray,
    salt: IntArray,
    items: int,
    links: int,
    max_items: int,
    most_steps: int,
    key: IntArray,
    counts: IntArray,
    sums: IntArray,
) -> None:
    """Adds the bounded items of people to counts and to sums of steps.

    Privacy:
        Of each person exactly min(n, max_items) of the n distinct codes enter the counts, each by
        one, and the sums at the same links, each by at most `most_steps`, whatever the rows are.
        What enters depends on the person's own rows and salt and on the key.

    Args:
        start: Where each person's rows begin; one entry more than people.
        code: period * items + item of each row, in any order, with repetitions.
        when: When the item was entered. The earliest of a person's rows with one code tells the
            steps; infinite if a row tells nothing about them.
        steps: Steps from the usual speed.
        salt: A number of each person's own.
        items: Number of items of a period.
        links: Number of items of a period that are links; they come first.
        max_items: Most items of one person.
        most_steps: Steps beyond it are cut off.
        key: The coefficients of a bounding key.
        counts: Persons by code, added to.
        sums: Steps by period * links + link, added to.
    """
    longest = 0
    for person in range(len(salt)):
        longest = max(longest, start[person + 1] - start[person])
    ring = np.empty(longest, dtype=np.int64)
    first = np.empty(longest, dtype=np.int64)
    for person in range(len(salt)):
        low = start[person]
        count = _distinct(code, when, steps, low, start[person + 1], ring, first)
        kept, turn = count, 0
        if count > max_items:
            kept = max_items
            turn = _circle(code, first, count, salt[person], key, ring)
        else:
            for i in range(count):
                ring[i] = i
        for i in range(kept):
            # Different for all i below `count`, as remainders of neighbours are.
            row = first[ring[(i + turn) % count] & PRIME]
            counts[code[row]] += 1
            period, item = code[row] // items, code[row] % items
            if item < links and when[row] < np.inf:
                sums[period * links + item] += min(max(steps[row], -most_steps), most_steps)


@compiled_for_threads
def chosen(salt: int, count: int, most: int, kind: int, key: IntArray) -> IntArray:
    """Returns which of a person's `count` things in a row stay: exactly min(count, most) of them.

    Privacy:
        The choice reads the number of the person's things, the person's salt and the key.
    """
    if count <= most:
        return np.arange(count)
    ring = np.empty(count, dtype=np.int64)
    total = 0
    for i in range(count):
        place = placed(salt, i, kind, key)
        total += place
        ring[i] = (place << 31) | i
    ring.sort()
    turn = _turn(total, key)
    kept = np.empty(most, dtype=np.int64)
    for i in range(most):
        kept[i] = ring[(i + turn) % count] & PRIME
    kept.sort()
    return kept


@compiled_for_threads
def _distinct(  # noqa: PLR0917  one argument for each array
    code: IntArray,
    when: FloatArray,
    steps: IntArray,
    low: int,
    high: int,
    ring: IntArray,
    first: IntArray,
) -> int:
    """Writes one row for each distinct code, in ascending order, and returns their number.

    It is the earliest; among rows of one time the one with the lowest steps, so that the order of
    rows has no say.
    """
    rows = high - low
    for i in range(rows):
        ring[i] = (code[low + i] << _INDEX_BITS) | i
    ring[:rows].sort()
    count = 0
    for i in range(rows):
        row = low + (ring[i] & _INDEX)
        if count == 0 or code[first[count - 1]] != code[row]:
            first[count] = row
            count += 1
            continue
        best = first[count - 1]
        if when[row] < when[best] or (when[row] == when[best] and steps[row] < steps[best]):
            first[count - 1] = row
    return count


@compiled_for_threads
def _circle(  # noqa: PLR0917  one argument for each array
    code: IntArray, first: IntArray, count: int, salt: int, key: IntArray, ring: IntArray
) -> int:
    """Puts items into a circle in the key's order, and returns where the choice starts.

    In the low 31 bits of the ring are the positions of the items; they also decide ties.
    """
    total = 0
    for i in range(count):
        place = placed(salt, code[first[i]], FOR_ITEMS, key)
        total += place
        ring[i] = (place << 31) | i
    ring[:count].sort()
    return _turn(total, key)


@compiled_for_threads
def _turn(total: int, key: IntArray) -> int:
    return int(((total & SUM_MASK) * key[10] + key[11]) % PRIME)
