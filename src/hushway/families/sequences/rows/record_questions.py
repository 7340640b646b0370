"""Exact counts of bounded records: of prefixes, and of how records begin, turn and end."""

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from hushway.arrays import BoolArray, Int8Array, Int32Array, IntArray
from hushway.engine.counting import BoundedCounter, is_same, other_cells
from hushway.engine.key import BoundingKey, kept_in_circle
from hushway.errors import PrivacyError
from hushway.families.sequences.public.prefixes import PrefixCells
from hushway.families.sequences.public.questions import (
    FIRST_NEW,
    TURNS,
    Asked,
    JointCells,
    KnownPrefixCells,
    NewStopCells,
    QuestionCells,
    RecordCells,
    Turn,
    turns_of,
)
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.families.sequences.rows.record_bounding import (
    PrefixSteps,
    Records,
    contents_of,
    refuse_other_prefixes,
)
from hushway.numerics.compiled import compiled
from hushway.numerics.search import first_at_least
from hushway.privacy.bound import Bound
from hushway.privacy.contribution import RankedCells, UnitsByRecords
from hushway.privacy.query import ExactCounts, Query

_ENDS = int(Turn.ENDS)


class RecordQuestions:
    """Counts what is asked about whole records.

    Privacy:
        A record adds to the cells of a question no more than `bound` of the cells says. The records
        must be bounded already, and cut to the height.
    """

    def __init__(self, records: Records, *, height: int, key: BoundingKey) -> None:
        self._records = records
        self._height = height
        self._key = key
        self._stops = records.stops
        # The new stops that count, by how many of a record do: several questions share them.
        self._counting: dict[int, IntArray] = {}

    def count(self, cells: QuestionCells) -> ExactCounts:
        """Returns the exact counts of a question."""
        if cells.height != self._height:
            raise PrivacyError(
                "The question is about records of another height than those that are counted.",
                advice="Report this as a bug; nothing was published.",
            )
        if not len(self._records):
            return ExactCounts.of_all(np.zeros(cells.size, dtype=np.int64))
        if isinstance(cells, JointCells):
            return self._together(cells)
        if isinstance(cells, NewStopCells):
            return self._new_stops(cells)
        if isinstance(cells, KnownPrefixCells):
            return ExactCounts.of_all(self._known(cells))
        if cells.asked in (Asked.TURNS, Asked.TURNS_BY_PLACE):
            return ExactCounts.of_all(self._turned(cells))
        return ExactCounts.of_all(np.bincount(self._cells_of(cells), minlength=cells.size))

    def _together(self, cells: JointCells) -> ExactCounts:
        """Returns the counts of several questions, each times what it is worth."""
        first, found = 0, []
        for part, worth in zip(cells.parts, cells.worths, strict=True):
            exact = self.count(part)
            # New stops carry their share already.
            times = 1 if isinstance(part, NewStopCells) else worth
            found.append((exact.cells + first, exact.values * times))
            first += part.size
        numbers, values = (np.concatenate(column) for column in zip(*found, strict=True))
        return ExactCounts(cells=numbers, values=values)

    def _cells_of(self, cells: RecordCells) -> IntArray:
        """Returns the cell of every record."""
        records, stops = self._records, self._stops
        first, last = records.start[:-1], records.start[1:] - 1
        if cells.asked is Asked.LENGTHS:
            return records.lengths - 1
        if cells.asked is Asked.NEW_STOPS:
            return self._new_by_record
        if cells.asked is Asked.FIRSTS:
            return stops[first].astype(np.int64)
        if cells.asked is Asked.LASTS:
            return stops[last].astype(np.int64)
        places = len(cells.taxonomy.locations)
        second = np.where(first < last, stops[np.minimum(first + 1, last)], places)
        return stops[first].astype(np.int64) * (places + 1) + second

    def _turned(self, cells: RecordCells) -> IntArray:
        by_place = int(cells.asked is Asked.TURNS_BY_PLACE)
        ways = self._records.start, self._stops, self._turns
        return _count_turns(ways, self._height, by_place, cells.size)

    @cached_property
    def _turns(self) -> Int8Array:
        """How every stop relates to those before it; the first one of a record is new."""
        return turns_of(self._records.start, self._stops)

    @cached_property
    def _new(self) -> BoolArray:
        """Which stops are new ones from the third on."""
        new: BoolArray = self._turns == Turn.TO_NEW
        for early in range(FIRST_NEW):
            at = self._records.start[:-1] + early
            new[at[at < self._records.start[1:]]] = False
        return new

    @cached_property
    def _new_by_record(self) -> IntArray:
        return np.add.reduceat(self._new, self._records.start[:-1], dtype=np.int64)

    def _new_stops(self, cells: NewStopCells) -> ExactCounts:
        places = len(cells.taxonomy.locations)
        if cells.most not in self._counting:
            self._counting[cells.most] = self._chosen(cells.most)
        new = self._counting[cells.most]
        gram = np.zeros(len(new), dtype=np.int64)
        for before in range(cells.order - 1, -1, -1):
            gram = gram * places + self._stops[new - before]
        if cells.grams is not None:
            where = np.minimum(np.searchsorted(cells.grams, gram), len(cells.grams) - 1)
            gram = where[cells.grams[where] == gram]
        counts = ExactCounts.of_all(np.bincount(gram, minlength=cells.size))
        return replace(counts, values=counts.values * cells.worth)

    def _chosen(self, most: int) -> IntArray:
        """Returns the new stops that count: min(n, most) of each record.

        Privacy:
            The choice reads the record and the key alone.
        """
        records, new = self._records, np.flatnonzero(self._new)
        crowded = np.flatnonzero(self._new_by_record > most)
        if not len(crowded):
            return new
        owner = np.repeat(np.arange(len(records)), self._new_by_record)
        whose = np.searchsorted(crowded, owner)
        many = crowded[np.minimum(whose, len(crowded) - 1)] == owner
        of_many, whose = new[many], whose[many]
        position = of_many - records.start[owner[many]]
        one, two = contents_of(records, crowded, self._key)[:, whose]
        place = self._key.place(self._key.mixed(position, one, two))
        kept = kept_in_circle(whose, place, (position,), most, self._key)
        return np.concatenate([new[~many], of_many[kept]])

    def _known(self, cells: KnownPrefixCells) -> IntArray:
        keys, leads = cells.steps
        places = len(cells.taxonomy.locations)
        below = np.searchsorted(keys, np.arange(len(cells.parent) + 1) * places)
        return _longest_known((self._records.start, self._stops), below, keys % places, leads)


@compiled
def _longest_known(
    records: tuple[IntArray, Int32Array], below: IntArray, places: IntArray, leads: IntArray
) -> IntArray:
    """Returns how many records end at each node, and how many leave the tree there.

    Args:
        records: Where each record begins, and all stops.
        below: Where the ways down from each node begin; one entry more than nodes.
        places: The place that each way leads by, ascending for each node.
    """
    start, stops = records
    counts = np.zeros(2 * (len(below) - 1), dtype=np.int64)
    for record in range(len(start) - 1):
        node, at = 0, start[record]
        while at < start[record + 1]:
            end = below[node + 1]
            way = first_at_least(places, stops[at], below[node], end)
            if way == end or places[way] != stops[at]:
                break
            node = leads[way]
            at += 1
        counts[2 * node + (1 if at < start[record + 1] else 0)] += 1
    return counts


@compiled
def _count_turns(
    ways: tuple[IntArray, Int32Array, Int8Array], height: int, by_place: int, size: int
) -> IntArray:
    """Counts turns after each stop: by place, or by the stop's number and the turn to it."""
    start, stops, turns = ways
    counts = np.zeros(size, dtype=np.int64)
    for record in range(len(start) - 1):
        first, end = start[record], start[record + 1]
        for at in range(first, end):
            if at + 1 < end:
                turn = turns[at + 1]
            elif end - first < height:
                turn = _ENDS
            else:
                continue
            row = stops[at] if by_place else (at - first) * TURNS + turns[at]
            counts[row * TURNS + turn] += 1
    return counts


class _Counted:
    """Counts in records of which every unit has a bounded number."""

    def __init__(self, records: Records, *, height: int, key: BoundingKey) -> None:
        self._prefixes = PrefixSteps(records)
        self._questions = RecordQuestions(records, height=height, key=key)

    def count(self, cells: PrefixCells | QuestionCells) -> ExactCounts:
        """Returns the exact counts of a question."""
        if isinstance(cells, PrefixCells):
            return self._prefixes.count(cells)
        return self._questions.count(cells)


AskedCells = PrefixCells | QuestionCells | RankedCells | UnitsByRecords


class BoundedRecords:
    """Counts in records by their ranks; where a question names none, those below a limit count.

    Privacy:
        A unit has each rank at most once, so a range of ranks holds at most as many of its records
        as it is long.
    """

    def __init__(self, records: Records, *, limit: int, height: int, key: BoundingKey) -> None:
        self.records = records
        self._limit, self._height, self._key = limit, height, key
        self._counted: dict[tuple[int, int], _Counted] = {}

    def count(self, cells: AskedCells) -> ExactCounts:
        """Returns the exact counts of a question."""
        if isinstance(cells, UnitsByRecords):
            return self._units(cells.ladder)
        if isinstance(cells, RankedCells):
            base: Any = cells.base
            return self._between(cells.first, cells.last).count(base)
        return self._between(0, self._limit).count(cells)

    def _between(self, first: int, last: int) -> _Counted:
        if (first, last) not in self._counted:
            records = self.records.between(first, last)
            self._counted[first, last] = _Counted(records, height=self._height, key=self._key)
        return self._counted[first, last]

    def _units(self, ladder: tuple[int, ...]) -> ExactCounts:
        """Returns how many units have a number of records from each limit to below the next.

        Privacy:
            The record of rank k - 1 exists exactly if its unit has k records or more.
        """
        rank = np.empty(0, dtype=np.int32) if self.records.rank is None else self.records.rank
        at_least = np.bincount(rank, minlength=ladder[-1])[np.array(ladder) - 1]
        return ExactCounts.of_all(at_least - np.append(at_least[1:], 0))


class SequenceCounter(BoundedCounter[AskedCells]):
    """Answers questions about sequences over one taxonomy, each unit bounded.

    Attributes:
        step_bound: How far a unit moves one step of a prefix tree where a query names no ranks.
        ladder: Limits on the records of a unit that queries may name.
    """

    taxonomy: Taxonomy
    periods: int
    step_bound: Bound
    ladder: tuple[int, ...]

    @property
    def most(self) -> int:
        """Records of higher ranks are not kept."""
        return max(self.step_bound.total, *self.ladder, 1)

    def asked(self, query: Query) -> AskedCells:
        """Returns the cells that a query asks for."""
        cells = query.cells
        if isinstance(cells, RankedCells | UnitsByRecords):
            base = Query(name=query.name, cells=cells.base)
            if isinstance(cells, UnitsByRecords):
                known = cells.ladder == self.ladder and isinstance(cells.base, RecordCells)
            else:
                known = {cells.first, cells.last} <= {0, *self.ladder}
            if not known or not isinstance(self.asked(base), PrefixCells | QuestionCells):
                raise other_cells("the limits")
            return cells
        if not isinstance(cells, RecordCells | NewStopCells | JointCells | KnownPrefixCells):
            return refuse_other_prefixes(query, self.taxonomy, self.periods)
        if not is_same(cells.taxonomy, self.taxonomy):
            raise other_cells("the places")
        return cells

    def bound_of(self, cells: AskedCells) -> Bound:
        """Returns how far one unit moves the counts of some cells.

        Privacy:
            A record lies in at most one candidate of a step of a prefix tree. What it adds to other
            questions is said and enforced where they are defined and counted. A unit has as many
            records as the range of ranks is long, and is in one class by their number.
        """
        if isinstance(cells, UnitsByRecords):
            return cells.bound
        if isinstance(cells, RankedCells):
            base: Any = cells.base
            return bound_of_records(base, cells.last - cells.first)
        return bound_of_records(cells, self.step_bound.total)


def bound_of_records(cells: PrefixCells | QuestionCells, records: int) -> Bound:
    """Returns how far so many records move the counts of some cells."""
    return Bound.of_records(records) if isinstance(cells, PrefixCells) else cells.bound(records)
