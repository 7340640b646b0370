"""Rows brought together by person: first into parts that fit into a cache, then person by person.

Every person's rows end up in one part, because the part is a function of the person's number. It
has no say in what is counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushway.arrays import Int32Array, IntArray
from hushway.families.density.rows.kernel import add_people
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
    """Rows in parts, every person's in one of them.

    Attributes:
        owner: Whose each is.
        code: Its bin and site.
        start: Where each part begins; one entry more than parts.
    """

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


@compiled_for_threads
def add_partitions(  # noqa: PLR0913, PLR0917  one argument for each array
    owner: IntArray,
    code: Int32Array,
    start: IntArray,
    sites: int,
    max_visits: int,
    most_counted: int,
    key: IntArray,
    series: IntArray,
    histogram: IntArray,
) -> int:
    """Adds the bounded visits of some parts to a series and a histogram; see `add_people`."""
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
    total = 0
    for part in range(len(start) - 1):
        low, high = start[part], start[part + 1]
        people = _number(owner[low:high], table, who, salt)
        _bring_together(code[low:high], who, people, begin, together)
        total += add_people(
            begin[: people + 1],
            together,
            salt[:people],
            sites,
            max_visits,
            most_counted,
            key,
            series,
            histogram,
        )
    return total


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
