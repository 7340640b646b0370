"""The inner steps of PrefixSpan (Pei and others 2001), on distinct sequences with weights.

A pattern lies in a sequence if its locations occur there in order, with gaps allowed. For each
sequence that holds a pattern, its projection remembers what follows the earliest occurrence: every
longer pattern that begins with this one is found there, and no other.
"""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import IntArray
from hushway.families.sequences.study.data import WeightedSequences
from hushway.numerics.compiled import compiled


@dataclass(frozen=True, kw_only=True, eq=False)
class Projection:
    """What follows a pattern.

    Attributes:
        rows: The sequences that hold the pattern, ascending.
        after: The stop after its earliest occurrence in each, a position in all stops in a row.
    """

    rows: IntArray
    after: IntArray


def whole(data: WeightedSequences) -> Projection:
    """Returns what follows the empty pattern: everything."""
    return Projection(rows=np.arange(len(data), dtype=np.int64), after=data.start[:-1])


def first_projections(data: WeightedSequences, places: int) -> tuple[Projection, ...]:
    """Returns what follows each place, found in one pass over all sequences."""
    begin, rows, after = _first_projections((data.start, data.stops), places)
    return tuple(
        Projection(rows=rows[begin[i] : begin[i + 1]], after=after[begin[i] : begin[i + 1]])
        for i in range(places)
    )


def supports(data: WeightedSequences, projection: Projection, places: int) -> IntArray:
    """Returns how many records hold the pattern followed by each place."""
    return _supports(
        (data.start, data.stops, data.weights), projection.rows, projection.after, places
    )


def project(data: WeightedSequences, projection: Projection, place: int) -> Projection:
    """Returns what follows the pattern with one more place."""
    rows, after = _project((data.start, data.stops), projection.rows, projection.after, place)
    return Projection(rows=rows, after=after)


@compiled
def _first_projections(
    data: tuple[IntArray, IntArray], places: int
) -> tuple[IntArray, IntArray, IntArray]:
    start, stops = data
    begin = np.zeros(places + 1, dtype=np.int64)
    rows, after = np.empty_like(stops), np.empty_like(stops)
    filled = np.zeros(places, dtype=np.int64)
    # The first pass counts, the second fills in; both take each place once in a sequence.
    for fills in (False, True):
        seen = np.full(places, -1, dtype=np.int64)
        for row in range(len(start) - 1):
            for position in range(start[row], start[row + 1]):
                place = stops[position]
                if seen[place] == row:
                    continue
                seen[place] = row
                if fills:
                    at = begin[place] + filled[place]
                    rows[at], after[at] = row, position + 1
                    filled[place] += 1
                else:
                    begin[place + 1] += 1
        if not fills:
            begin = np.cumsum(begin)
    return begin, rows, after


@compiled
def _supports(
    data: tuple[IntArray, IntArray, IntArray], rows: IntArray, after: IntArray, places: int
) -> IntArray:
    start, stops, weights = data
    found = np.zeros(places, dtype=np.int64)
    # A place counts once for each sequence: here stands the last one that it was counted for.
    counted = np.full(places, -1, dtype=np.int64)
    for at in range(len(rows)):
        row = rows[at]
        for position in range(after[at], start[row + 1]):
            place = stops[position]
            if counted[place] != row:
                counted[place] = row
                found[place] += weights[row]
    return found


@compiled
def _project(
    data: tuple[IntArray, IntArray], rows: IntArray, after: IntArray, place: int
) -> tuple[IntArray, IntArray]:
    start, stops = data
    kept_rows, kept_after = np.empty_like(rows), np.empty_like(after)
    kept = 0
    for at in range(len(rows)):
        row = rows[at]
        for position in range(after[at], start[row + 1]):
            if stops[position] == place:
                kept_rows[kept], kept_after[kept] = row, position + 1
                kept += 1
                break
    return kept_rows[:kept].copy(), kept_after[:kept].copy()
