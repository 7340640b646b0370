"""The ranks of a person's records, and exact counts of the candidates of a tree over them."""

from dataclasses import dataclass, replace

import numpy as np

from hushway.arrays import Int32Array, IntArray
from hushway.engine.counting import is_same, other_cells
from hushway.engine.key import BoundingKey, numbered, ranks_in_circle
from hushway.families.sequences.public.prefixes import PrefixCells
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.privacy.query import ExactCounts, Query


@dataclass(frozen=True, kw_only=True, eq=False)
class Records:
    """Sequences one after another, none of them empty.

    Attributes:
        start: Where each record begins among the stops; one entry more than records.
        stops: Index of the location of every stop.
        periods: Period of every stop, never going back within a record; None if times are not kept.
        person: Code of each record's person, of which only equality matters; None if nobody's.
        since_us: Microseconds from the window's start to each record's first stop; None without
            times.
        rank: Rank of each record among those of its person; None if each is a unit of its own.
    """

    start: IntArray
    stops: Int32Array
    periods: Int32Array | None
    person: IntArray | None
    since_us: IntArray | None
    rank: Int32Array | None = None

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def lengths(self) -> IntArray:
        """Number of stops of each record."""
        return np.diff(self.start)

    def owned_by(self, person: IntArray) -> "Records":
        """Returns the records with a person for each."""
        return replace(self, person=person)

    def only(self, chosen: IntArray) -> "Records":
        """Returns some of the records."""
        begin, length = self.start[chosen], self.lengths[chosen]
        start = _starts(length)
        stop = np.repeat(begin - start[:-1], length) + np.arange(start[-1])
        return Records(
            start=start,
            stops=self.stops[stop],
            periods=None if self.periods is None else self.periods[stop],
            person=None if self.person is None else self.person[chosen],
            since_us=None if self.since_us is None else self.since_us[chosen],
            rank=None if self.rank is None else self.rank[chosen],
        )

    def between(self, first: int, last: int) -> "Records":
        """Returns the records whose rank is from `first` to below `last`; all have 0 without one.

        Privacy:
            A unit has each rank at most once, so at most last - first of its records are returned.
        """
        rank = np.zeros(len(self), dtype=np.int32) if self.rank is None else self.rank
        inside = (rank >= first) & (rank < last)
        return self if inside.all() else self.only(np.flatnonzero(inside))


@dataclass(frozen=True, kw_only=True, eq=False)
class OrderedStops:
    """Stops in the order of their owner, their part and time: rows on their way to records.

    Attributes:
        owner: Code of the person; None if a part is a record of its own.
        part: What tells records of one owner apart: a day, or a row of a file; None if all stops of
            an owner are one record.
        period: Index of the period; None if times are not kept.
        since_us: Microseconds since the window's start; None without times.
    """

    owner: IntArray | None
    part: IntArray | Int32Array | None
    place: Int32Array
    period: Int32Array | None = None
    since_us: IntArray | None = None

    def within_service(self) -> "OrderedStops":
        """Returns the stops whose part is not negative: those in service hours of some day."""
        if self.part is None or not len(self.part) or self.part.min() >= 0:
            return self
        kept = self.part >= 0
        return OrderedStops(
            owner=None if self.owner is None else self.owner[kept],
            part=self.part[kept],
            place=self.place[kept],
            period=None if self.period is None else self.period[kept],
            since_us=None if self.since_us is None else self.since_us[kept],
        )


def records_of(ordered: OrderedStops, *, max_stops: int) -> Records:
    """Puts records together, each with its first stops only.

    Privacy:
        What becomes of a stop depends on stops of the same owner alone.
    """
    rows = len(ordered.place)
    fresh = np.zeros(rows, dtype=np.bool_)
    fresh[:1] = True
    for column in (ordered.owner, ordered.part):
        if column is not None:
            fresh[1:] |= column[1:] != column[:-1]
    first = np.flatnonzero(fresh)
    length = np.diff(np.append(first, rows))
    shortened = np.minimum(length, max_stops)
    start = _starts(shortened)
    stops, periods = ordered.place, ordered.period
    if start[-1] < rows:
        kept = np.arange(rows) - np.repeat(first, length) < max_stops
        stops = stops[kept]
        periods = None if periods is None else periods[kept]
    return Records(
        start=start,
        stops=stops,
        periods=None if periods is None else never_back(periods, start),
        person=None if ordered.owner is None else ordered.owner[first],
        since_us=None if ordered.since_us is None else ordered.since_us[first],
    )


def never_back(periods: Int32Array, start: IntArray) -> Int32Array:
    """Returns periods that never go back within a record: at least that of the stop before.

    Stops are in the order of real time. Only on the night the clocks go back does the wall clock,
    which periods are told by, not follow that order.
    """
    # Records are lifted above each other, so that one running maximum serves them all.
    high = int(periods.max(initial=0)) + 1
    lift = np.repeat(np.arange(len(start) - 1) * high, np.diff(start))
    highest = np.maximum.accumulate(periods + lift)
    return (highest - lift).astype(np.int32)


def _starts(lengths: IntArray) -> IntArray:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])


def bounded_records(records: Records, most: int, key: BoundingKey) -> Records:
    """Returns the records of the lowest ranks, at most `most` of each person: a uniform choice.

    A person's records stand in a circle, in an order that the key decides by what is in each record
    and when it began. Records that tie are alike, so what is counted depends on the records as a
    multiset and on the key.

    Privacy:
        Exactly min(n, most) of a person's n records stay, with the ranks from 0 on; ranks follow
        from that person's records and the key alone. Records without a person are units of their
        own, and all stay.
    """
    if records.person is None or not len(records):
        return records
    person = _numbers(records.person)
    crowded = np.flatnonzero(np.bincount(person)[person] > 1)
    rank = np.zeros(len(records), dtype=np.int32)
    if len(crowded):
        whose = _numbers(person[crowded])
        one, two = contents_of(records, crowded, key)
        # Without times, records that are alike are numbered, so that they do not all tie.
        alike, times = (whose, one, two), records.since_us
        since = numbered(alike) if times is None else times[crowded]
        place = key.place(key.mixed(since, one, two))
        order, turned = ranks_in_circle(whose, place, (since, two, one), key)
        rank[crowded[order]] = turned
    return replace(records, rank=rank).between(0, most)


def _numbers(person: IntArray) -> IntArray:
    """Numbers persons 0, 1, 2, ... in the order of their codes."""
    changes = np.diff(person, prepend=person[0])
    # Files come sorted; for others sorting cannot be avoided.
    if (changes >= 0).all():
        return np.cumsum(changes != 0)
    _, numbers = np.unique(person, return_inverse=True)
    return numbers.astype(np.int64)


def contents_of(records: Records, chosen: IntArray, key: BoundingKey) -> IntArray:
    """Returns two numbers of the field for what is in each of some records."""
    chain = np.zeros((2, len(chosen)), dtype=np.int64)
    begin, length = records.start[chosen], records.lengths[chosen]
    going = np.arange(len(chosen))
    for step in range(int(length.max())):
        going = going[length[going] > step]
        at = begin[going] + step
        longer = key.chained(chain[:, going], records.stops[at].astype(np.int64))
        if records.periods is not None:
            longer = key.chained(longer, records.periods[at].astype(np.int64))
        chain[:, going] = longer
    return chain


# A table of all candidates is quicker than sorting or searching up to so many entries a record; but
# the tables of a large city should not take much more room than its records do.
_QUICK_SPREAD, _SMALL_SPREAD = 64, 4
_FEW_CELLS, _MANY_CELLS = 1 << 16, 1 << 24


@dataclass(frozen=True, kw_only=True, eq=False)
class _Standing:
    """Where the records stand that have a candidate at some step.

    Attributes:
        at: Which stop each record is at, an index into all stops.
        left: How many stops it has after that.
        cell: Its candidate.
    """

    cells: PrefixCells
    at: IntArray
    left: Int32Array
    cell: IntArray
    counts: ExactCounts


class PrefixSteps:
    """Counts records by candidate. Each step goes on from where the records stood a step before.

    Only the last step is remembered. Any other step is found by going down from the root again, so
    an answer depends on the query alone and not on what was asked before.

    Privacy:
        A record is counted in at most one candidate of a step, whatever became a node before. The
        records must be bounded already.
    """

    def __init__(self, records: Records) -> None:
        self._records = records
        self._last: _Standing | None = None

    def count(self, cells: PrefixCells) -> ExactCounts:
        """Returns the exact number of records in each candidate."""
        last = self._last
        missing: list[PrefixCells] = []
        wanted: PrefixCells | None = cells
        while wanted is not None and (last is None or last.cells is not wanted):
            missing.append(wanted)
            wanted = wanted.above
        standing = None if wanted is None else last
        for step in reversed(missing):
            standing = self._step(step, standing)
        self._last = standing
        return standing.counts if standing is not None else _counted(np.empty(0, np.int64), 0)

    def _step(self, cells: PrefixCells, before: _Standing | None) -> _Standing:
        records = self._records
        if before is None:
            at, left = records.start[:-1], (records.lengths - 1).astype(np.int32)
            node = np.zeros(len(at), dtype=np.int64)
        else:
            at, left, node = _in_nodes(cells, before)
        period = np.broadcast_to(np.int64(0), at.shape)
        if records.periods is not None:
            period = records.periods[at].astype(np.int64)
        cell = cells.cell(node, period, records.stops[at].astype(np.int64))
        return _Standing(
            cells=cells, at=at, left=left, cell=cell, counts=_counted(cell, cells.size)
        )


def refuse_other_prefixes(query: Query, taxonomy: Taxonomy, periods: int) -> PrefixCells:
    """Returns the candidates that a query asks for; refuses all but those of this tree."""
    cells = query.cells
    if (
        not isinstance(cells, PrefixCells)
        or cells.periods != periods
        or not is_same(cells.taxonomy, taxonomy)
        or (cells.above is None and (cells.stop, cells.grain) != (0, 0))
    ):
        raise other_cells("prefixes over the taxonomy and the periods")
    return cells


def _in_nodes(cells: PrefixCells, before: _Standing) -> tuple[IntArray, Int32Array, IntArray]:
    """Returns the stop, the stops left and the node of the records that go on."""
    node = _found(cells.kept, before.cell, before.cells.size)
    next_stop = cells.grain == 0
    goes_on = np.flatnonzero((node >= 0) & (before.left > 0) if next_stop else node >= 0)
    at, left = before.at[goes_on], before.left[goes_on]
    return (at + 1, left - 1, node[goes_on]) if next_stop else (at, left, node[goes_on])


def _found(kept: IntArray, cell: IntArray, size: int) -> IntArray:
    """Returns the position of each cell among those that were kept; -1 where it was not."""
    if _tabled(size, len(cell)):
        node = np.full(size, -1, dtype=np.int32)
        node[kept] = np.arange(len(kept))
        return node[cell].astype(np.int64)
    if not len(kept):
        return np.full(len(cell), -1, dtype=np.int64)
    position = np.minimum(np.searchsorted(kept, cell), len(kept) - 1)
    return np.where(kept[position] == cell, position, -1)


def _tabled(size: int, records: int) -> bool:
    """Says whether to look candidates up in a table of all of them."""
    quick = size <= _QUICK_SPREAD * records + _FEW_CELLS
    return quick and size <= max(_SMALL_SPREAD * records, _MANY_CELLS)


def _counted(cell: IntArray, size: int) -> ExactCounts:
    if _tabled(size, len(cell)):
        numbers = np.bincount(cell, minlength=size)
        cells = np.flatnonzero(numbers)
        return ExactCounts(cells=cells, values=numbers[cells])
    cells, values = np.unique(cell, return_counts=True)
    return ExactCounts(cells=cells, values=values.astype(np.int64))
