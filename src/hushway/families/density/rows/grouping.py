"""Rows brought together by person: into parts that fit into a cache, then chosen person by person.

Every person's rows end up in one part, because the part is a function of the person's number. It
has no say in what is counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import Int32Array, IntArray
from hushway.engine.key import PRIME, circle, placed
from hushway.families.density.public.visits import PERSON_PARTS
from hushway.numerics.compiled import compiled_for_threads
from hushway.numerics.threads import in_threads

_ROWS_OF_A_PART = 1 << 15
_MOST_BITS = 12
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_OTHER_SPREAD = np.uint64(0xC2B2AE3D27D4EB4F)
_WORD = 64
_HALF_WORD = np.uint64(32)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class VisitRows:
    """Some rows, in any order.

    Attributes:
        owner: Whose each is: a number that is equal for one person, and the person's salt.
        code: bin * sites + site; -1 if the row is not counted.
    """

    owner: IntArray
    code: Int32Array


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PartedRows:
    """Rows in parts, every person's in one of them."""

    owner: IntArray
    code: Int32Array
    start: IntArray


def partitioned(rows: Sequence[VisitRows], threads: int) -> PartedRows:
    """Returns the rows that are counted, in parts."""
    size = sum(len(piece.code) for piece in rows)
    bits = min(max((size // _ROWS_OF_A_PART).bit_length(), 1), _MOST_BITS)
    sizes = in_threads(lambda piece: _part_sizes(piece.owner, piece.code, bits), rows, threads)
    counts = np.array([np.zeros(1 << bits, dtype=np.int64), *sizes])
    start = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    # Where each piece begins to write in each part, after the pieces before it.
    cursors = start[:-1] + np.cumsum(counts, axis=0)
    owner = np.empty(start[-1], dtype=np.int64)
    code = np.empty(start[-1], dtype=np.int32)

    def spread(each: tuple[VisitRows, IntArray]) -> None:
        piece, cursor = each
        _spread(piece.owner, piece.code, bits, cursor, owner, code)

    in_threads(spread, list(zip(rows, cursors[:-1], strict=True)), threads)
    return PartedRows(owner=owner, code=code, start=start)


# Sites, bins, whether the series has one visit for each bin, ends of steps of ranks in the series
# and in the total, the fewest visits of each class of activity, and coefficients of the key.
Limits = tuple[int, int, bool, IntArray, IntArray, IntArray, IntArray]
# Visits by step * cells + code, parts of people by class * sites + site, people by class of
# activity, and visits by step * bins + bin.
Sums = tuple[IntArray, IntArray, IntArray, IntArray]


@compiled_for_threads
def add_partitions(
    owner: IntArray, code: Int32Array, start: IntArray, limits: Limits, sums: Sums
) -> None:
    """Adds the bounded visits of some parts to what is counted; see `add_people`."""
    largest = 0
    for part in range(len(start) - 1):
        largest = max(largest, start[part + 1] - start[part])
    slots = 2
    while slots < 2 * largest:
        slots *= 2
    table = np.empty(slots, dtype=np.int32)
    who = np.empty(largest, dtype=np.int32)
    begin = np.empty(largest + 1, dtype=np.int64)
    together = np.empty(largest, dtype=np.int32)
    salt = np.empty(largest, dtype=np.int64)
    for part in range(len(start) - 1):
        low, high = start[part], start[part + 1]
        people = _number(owner[low:high], table, who, salt)
        _bring_together(code[low:high], who, people, begin, together)
        add_people(begin[: people + 1], together, salt[:people], limits, sums)


@compiled_for_threads
def _part_sizes(owner: IntArray, code: Int32Array, bits: int) -> IntArray:
    sizes = np.zeros(1 << bits, dtype=np.int64)
    shift = np.uint64(_WORD - bits)
    for i in range(len(owner)):
        if code[i] >= 0:
            sizes[np.int64((np.uint64(owner[i]) * _SPREAD) >> shift)] += 1
    return sizes


@compiled_for_threads
def _spread(  # noqa: PLR0917  one argument for each array
    owner: IntArray,
    code: Int32Array,
    bits: int,
    cursor: IntArray,
    parted_owner: IntArray,
    parted_code: Int32Array,
) -> None:
    shift = np.uint64(_WORD - bits)
    for i in range(len(owner)):
        if code[i] >= 0:
            part = np.int64((np.uint64(owner[i]) * _SPREAD) >> shift)
            at = cursor[part]
            cursor[part] = at + 1
            parted_owner[at] = owner[i]
            parted_code[at] = code[i]


@compiled_for_threads
def _number(owner: IntArray, table: Int32Array, who: Int32Array, persons: IntArray) -> int:
    """Numbers the owners 0, 1, 2, ..., writes whose number is whose, and returns how many.

    Owners are compared exactly; the table only says where to look first.
    """
    bits = 1
    while (1 << bits) < 2 * len(owner):
        bits += 1
    shift = np.uint64(_WORD - bits)
    mask = (1 << bits) - 1
    table[: mask + 1] = -1
    people = 0
    for i in range(len(owner)):
        value = np.uint64(owner[i])
        slot = np.int64(((value ^ (value >> _HALF_WORD)) * _OTHER_SPREAD) >> shift)
        while table[slot] >= 0 and persons[table[slot]] != owner[i]:
            slot = (slot + 1) & mask
        if table[slot] < 0:
            table[slot] = people
            persons[people] = owner[i]
            people += 1
        who[i] = table[slot]
    return people


@compiled_for_threads
def _bring_together(
    code: Int32Array, who: Int32Array, people: int, begin: IntArray, together: Int32Array
) -> None:
    """Writes the codes by person, and where each person's begin."""
    begin[: people + 1] = 0
    for i in range(len(code)):
        begin[who[i] + 1] += 1
    for person in range(people):
        begin[person + 1] += begin[person]
    for i in range(len(code)):
        person = who[i]
        together[begin[person]] = code[i]
        begin[person] += 1
    # Every beginning has moved to its end, which is where the next one was.
    for person in range(people, 0, -1):
        begin[person] = begin[person - 1]
    begin[0] = 0


# What a choice is made for; choices of different kinds are made at different points of the key.
FOR_HISTOGRAM: Final = 0
FOR_BIN: Final = 1
FOR_WINDOW: Final = 2
FOR_OTHERS: Final = 3

_FEW = 40


@compiled_for_threads
def add_people(
    start: IntArray, code: Int32Array, salt: IntArray, limits: Limits, sums: Sums
) -> None:
    """Adds the visits of people by their ranks to what is counted.

    Privacy:
        A person's n visits have each rank from 0 to n - 1 once. If the series has one for each bin,
        those that it may have, one of each bin, have the lowest ranks. Besides, the person enters
        one class of activity, with `PERSON_PARTS` parts in all, whatever the rows are. What enters
        depends on the person's own codes and salt and on the key.

    Args:
        start: Where each person's codes begin; one entry more than people.
        code: bin * sites + site of each row, in any order, with repetitions; -1 if it has none.
    """
    sites, bins, one_in_a_bin, series_ends, total_ends, fewest, key = limits
    series, histogram, activity, ranked = sums
    people = len(salt)
    longest = 0
    for person in range(people):
        longest = max(longest, start[person + 1] - start[person])
    visits = np.empty(longest, dtype=np.int32)
    others = np.empty(longest, dtype=np.int32)
    ring = np.empty(longest, dtype=np.int64)
    for person in range(people):
        rows = code[start[person] : start[person + 1]]
        count = _distinct(rows, visits)
        if count == 0:
            continue
        own = salt[person]
        kind = np.searchsorted(fewest, count, side="right") - 1
        activity[kind] += 1
        first = kind * sites
        begin = placed(own, 0, FOR_HISTOGRAM, key) % count
        _share_out(visits[:count], begin, sites, histogram[first : first + sites])
        chosen = count
        if one_in_a_bin:
            chosen = _one_in_each_bin(visits, count, own, sites, key, others)
        turn = 0
        if chosen > min(series_ends[0], total_ends[0]):
            # Which of the visits of a bin was kept says nothing of its place.
            points = visits[:chosen] // (sites if one_in_a_bin else 1)
            turn = circle(points, own, FOR_WINDOW, key, ring)
        else:
            # All are in the first step: their order does not matter.
            for i in range(chosen):
                ring[i] = i
        _add_ranked(visits[:chosen], ring, turn, 0, sites * bins, series_ends, series)
        _add_ranked(visits[:chosen] // sites, ring, turn, 0, bins, total_ends, ranked)
        rest = count - chosen
        if rest:
            turn = circle(others[:rest], own, FOR_OTHERS, key, ring)
            _add_ranked(others[:rest] // sites, ring, turn, chosen, bins, total_ends, ranked)


@compiled_for_threads
def _add_ranked(  # noqa: PLR0917  one argument for each array
    cells: Int32Array,
    ring: IntArray,
    turn: int,
    least: int,
    size: int,
    ends: IntArray,
    sums: IntArray,
) -> None:
    """Adds a person's cells by step of their ranks, which begin at `least`."""
    step = 0
    for i in range(len(cells)):
        while step < len(ends) and least + i >= ends[step]:
            step += 1
        if step == len(ends):
            return
        # Different for all i below their number, as remainders of neighbours are.
        at = ring[(i + turn) % len(cells)] & PRIME
        sums[step * size + cells[at]] += 1


@compiled_for_threads
def _share_out(visits: Int32Array, begin: int, sites: int, histogram: IntArray) -> None:
    """Shares one person among the sites of all visits, in whole parts.

    Visit after visit, what is due so far is rounded down, so the parts of a visit differ by at most
    one. Where rounding begins is drawn, so every visit gets its due on average.

    Privacy:
        No part is negative, and none is given beyond the last: they sum to `PERSON_PARTS`, whatever
        the visits are.
    """
    count, given = len(visits), 0
    for i in range(count):
        due = min(((i + 1) * PERSON_PARTS + begin) // count, PERSON_PARTS)
        histogram[visits[i] % sites] += due - given
        given = due


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
def _one_in_each_bin(  # noqa: PLR0917  one argument for each array
    visits: Int32Array, count: int, salt: int, sites: int, key: IntArray, others: Int32Array
) -> int:
    """Keeps one of the ascending visits in each bin, and returns the number of bins.

    Those that are not kept are written to `others`.
    """
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
        kept = visits[chosen]
        for i in range(first, last):
            if i != chosen:
                # So many were left out before this bin, and so many of it.
                others[i - bins - (i > chosen)] = visits[i]
        visits[bins] = kept
        bins += 1
        first = last
    return bins
