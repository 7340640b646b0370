"""Exact counts of the candidates of a prefix tree, step by step, over bounded records."""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import Int32Array, IntArray
from hushway.errors import PrivacyError
from hushway.families.sequences.public.prefixes import PrefixCells
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.families.sequences.rows.record_bounding import Records
from hushway.privacy.query import ExactCounts, Query

# A table of all candidates is quicker than sorting or searching up to so many entries a record; but
# the tables of a large city should not take much more room than its records do.
_QUICK_SPREAD, _SMALL_SPREAD = 64, 4
_FEW_CELLS, _MANY_CELLS = 1 << 16, 1 << 24


@dataclass(frozen=True, kw_only=True, eq=False)
class _Standing:
    """Where the records stand that have a candidate at some step.

    Attributes:
        cells: The candidates.
        at: Which stop each record is at, an index into all stops.
        left: How many stops it has after that.
        cell: Its candidate.
        counts: How many records each candidate has.
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
    """Returns the candidates that a query asks for.

    Raises:
        PrivacyError: The query asks for something else than candidates of this tree.
    """
    cells = query.cells
    if (
        not isinstance(cells, PrefixCells)
        or cells.periods != periods
        or (cells.taxonomy is not taxonomy and cells.taxonomy.digest != taxonomy.digest)
        or (cells.above is None and (cells.stop, cells.grain) != (0, 0))
    ):
        raise PrivacyError(
            "This engine counts other cells than the query asks for.",
            advice="Ask for prefixes over the taxonomy and the periods that the engine was made "
            "with.",
        )
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
