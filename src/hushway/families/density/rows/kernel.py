"""The choice among one person's visits, compiled: the same arithmetic as `BoundingKey`."""

from typing import Final

import numpy as np

from hushway.arrays import Int32Array, IntArray
from hushway.engine.key import PRIME, SUM_MASK, placed
from hushway.numerics.compiled import compiled_for_threads

# What a choice is made for; choices of different kinds are made at different points of the key.
FOR_HISTOGRAM: Final = 0
FOR_BIN: Final = 1
FOR_WINDOW: Final = 2

_FEW = 40


@compiled_for_threads
def add_people(  # noqa: PLR0913, PLR0917  one argument for each array
    start: IntArray,
    code: Int32Array,
    salt: IntArray,
    sites: int,
    max_visits: int,
    most_counted: int,
    key: IntArray,
    series: IntArray,
    histogram: IntArray,
) -> int:
    """Adds the bounded visits of people to a series and a histogram, and returns their total.

    Privacy:
        Of each person at most one visit of a bin and exactly min(bins, max_visits) visits enter the
        series, one the histogram and min(visits, most_counted) the total, whatever the rows are.
        What enters depends on the person's own codes and salt and on the key.

    Args:
        start: Where each person's codes begin; one entry more than people.
        code: bin * sites + site of each row, in any order, with repetitions; -1 if it has none.
        salt: A number of each person's own.
        sites: Number of sites.
        max_visits: Most visits of one person in the series.
        most_counted: Most visits of one person in the total.
        key: The coefficients of a bounding key.
        series: Visits by code, added to.
        histogram: People by site, added to.
    """
    people = len(salt)
    longest = 0
    for person in range(people):
        longest = max(longest, start[person + 1] - start[person])
    visits = np.empty(longest, dtype=np.int32)
    ring = np.empty(longest, dtype=np.int64)
    total = 0
    for person in range(people):
        rows = code[start[person] : start[person + 1]]
        count = _distinct(rows, visits)
        if count == 0:
            continue
        own = salt[person]
        total += min(count, most_counted)
        chosen = placed(own, 0, FOR_HISTOGRAM, key) % count
        histogram[visits[chosen] % sites] += 1
        bins = _one_in_each_bin(visits, count, own, sites, key)
        if bins <= max_visits:
            for i in range(bins):
                series[visits[i]] += 1
            continue
        turn = _circle(visits, bins, own, sites, key, ring)
        for i in range(max_visits):
            # Different for all i below `bins`, as remainders of neighbours are.
            rank = (i + turn) % bins
            series[visits[ring[rank] & PRIME]] += 1
    return total


@compiled_for_threads
def _distinct(rows: Int32Array, visits: Int32Array) -> int:
    """Writes the distinct codes of rows in ascending order, and returns their number."""
    count = 0
    for code in rows:
        if code >= 0:
            visits[count] = code
            count += 1
    if count <= _FEW:
        for i in range(1, count):
            value, at = visits[i], i
            while at > 0 and visits[at - 1] > value:
                visits[at] = visits[at - 1]
                at -= 1
            visits[at] = value
    else:
        visits[:count].sort()
    fresh = min(count, 1)
    for i in range(1, count):
        if visits[i] != visits[fresh - 1]:
            visits[fresh] = visits[i]
            fresh += 1
    return fresh


@compiled_for_threads
def _one_in_each_bin(visits: Int32Array, count: int, salt: int, sites: int, key: IntArray) -> int:
    """Keeps one of the ascending visits in each bin, and returns the number of bins."""
    bins, first = 0, 0
    while first < count:
        number = int(visits[first]) // sites
        beyond = (number + 1) * sites
        last = first + 1
        while last < count and visits[last] < beyond:
            last += 1
        chosen = first
        if last - first > 1:
            chosen += placed(salt, number, FOR_BIN, key) % (last - first)
        visits[bins] = visits[chosen]
        bins += 1
        first = last
    return bins


@compiled_for_threads
def _circle(  # noqa: PLR0917  one argument for each array
    visits: Int32Array, bins: int, salt: int, sites: int, key: IntArray, ring: IntArray
) -> int:
    """Puts visits into a circle in the key's order, and returns where the choice starts.

    In the low 31 bits of the ring are the positions of the visits; they also decide ties.
    """
    total = 0
    for i in range(bins):
        place = placed(salt, int(visits[i]) // sites, FOR_WINDOW, key)
        total += place
        ring[i] = (place << 31) | i
    ring[:bins].sort()
    return int(((total & SUM_MASK) * key[10] + key[11]) % PRIME)
