"""The most frequent sequential patterns, and how many of them a release preserves."""

import heapq
from dataclasses import dataclass

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import PlanError
from hushway.families.sequences.study.data import WeightedSequences
from hushway.numerics.compiled import compiled
from hushway.privacy.measured import Internal

# The inner steps of PrefixSpan (Pei and others 2001), on distinct sequences with weights.
#
# A pattern lies in a sequence if its locations occur there in order, with gaps allowed. For each
# sequence that holds a pattern, its projection remembers what follows the earliest occurrence:
# every longer pattern that begins with this one is found there, and no other.


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


# Nearly every single location is frequent: the paper counts patterns of size 2 and more.
_SMALLEST = 2


@dataclass(frozen=True, kw_only=True, order=True)
class Pattern:
    """Locations that occur in order, with gaps allowed."""

    locations: tuple[int, ...]
    support: int


@dataclass(frozen=True, kw_only=True)
class PatternMatch:
    """How many of the most frequent patterns were found.

    Attributes:
        true_positives: Frequent patterns that are frequent in the release too.
        false_positives: Patterns that are frequent in the release only.
        false_drops: Frequent patterns that the release has lost.
    """

    true_positives: int
    false_positives: int
    false_drops: int


def top_patterns(data: WeightedSequences, k: int) -> tuple[Pattern, ...]:
    """Returns the k patterns of at least two locations that most records hold, best first.

    Of patterns with the same support the shorter comes first, then the one whose location indices
    are first in lexicographic order. The rule decides at rank k too, so the answer is unique. There
    are fewer than k patterns if the data hold no more.

    A pattern has at most the support of its own beginning, and is longer. So a search that always
    goes on with the first pattern in this order meets all patterns in this order.

    Raises:
        PlanError: k is not positive.
    """
    if k < 1:
        raise PlanError("The number of patterns is not positive.", advice="Give 1 or more.")
    places = 1 + int(data.stops.max(initial=0))
    found: list[Pattern] = []
    first = first_projections(data, places)
    search = _Search(k)
    search.add((), supports(data, whole(data), places), whole(data))
    while search.queue and len(found) < k:
        negative, size, locations, before = heapq.heappop(search.queue)
        if size >= _SMALLEST:
            found.append(Pattern(locations=locations, support=-negative))
        after = first[locations[0]] if size == 1 else project(data, before, locations[-1])
        search.add(locations, supports(data, after, places), after)
    return tuple(found)


def compare_patterns(
    truth: tuple[Pattern, ...], released: tuple[Pattern, ...]
) -> Internal[PatternMatch]:
    """Returns how many of the true patterns a release has; only the locations are compared."""
    wanted = {pattern.locations for pattern in truth}
    got = {pattern.locations for pattern in released}
    both = len(wanted & got)
    return Internal(
        PatternMatch(
            true_positives=both, false_positives=len(got) - both, false_drops=len(wanted) - both
        )
    )


class _Search:
    """Patterns to go on with, the first in the documented order at the top of a heap."""

    def __init__(self, k: int) -> None:
        self._k = k
        # The best k supports of counted patterns so far: what is below them all cannot win.
        self._best: list[int] = []
        self.queue: list[tuple[int, int, tuple[int, ...], Projection]] = []

    def add(self, locations: tuple[int, ...], support: IntArray, after: Projection) -> None:
        """Queues the patterns with one location more, each with what it is to be sought in."""
        size = len(locations) + 1
        floor = self._best[0] if len(self._best) == self._k else 1
        for place in np.flatnonzero(support >= floor).tolist():
            records = int(support[place])
            heapq.heappush(self.queue, (-records, size, (*locations, place), after))
            if size < _SMALLEST:
                continue
            if len(self._best) < self._k:
                heapq.heappush(self._best, records)
            else:
                heapq.heappushpop(self._best, records)
