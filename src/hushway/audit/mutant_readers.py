"""Wrong readers of files: people whose rows lie in several files or batches are cut to pieces.

Each piece then counts as if it were a person of its own, so one person adds as much as there are
pieces. Tests of engines and audits through files must see it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import ibis.expr.types as ir
import numpy as np
from ibis.backends.duckdb import Backend

from hushway.families.density.rows.bounding import BoundedVisits
from hushway.families.density.rows.duckdb import DuckDBVisits
from hushway.families.density.rows.grouping import VisitRows
from hushway.families.links.rows.movements import TraceMovements
from hushway.families.links.rows.rows import PeoplePositions
from hushway.families.od.rows.duckdb import DuckDBTrips
from hushway.families.od.rows.trips import TripsSource
from hushway.families.sequences.rows.duckdb import DuckDBSequences
from hushway.families.sequences.rows.sequences import SequencesSource
from hushway.families.sequences.rows.taps import TapsSource
from hushway.privacy.bound import Bound
from hushway.privacy.query import Counter, ExactCounts, Query
from hushway.privacy.unit import Unit
from hushway.tables.layout import layout_of


def trips_file_by_file(*, source: TripsSource, **options: Any) -> Counter:
    """Returns a counter of trips that bounds people in each file by itself."""
    return _Summed([DuckDBTrips(source=one, **options) for one in _files(source)])


def sequences_file_by_file(*, source: TapsSource | SequencesSource, **options: Any) -> Counter:
    """Returns a counter of sequences that bounds people in each file by itself."""
    return _Summed([DuckDBSequences(source=one, **options) for one in _files(source)])


class VisitsBatchByBatch(DuckDBVisits):
    """A counter of visits that bounds people in each batch of rows by itself."""

    def _bounded(self, batches: list[VisitRows]) -> BoundedVisits:
        parts = [super(VisitsBatchByBatch, self)._bounded([batch]) for batch in batches]
        nobody = super()._bounded([])
        return BoundedVisits(
            series=sum((part.series for part in parts), start=nobody.series),
            histogram=sum((part.histogram for part in parts), start=nobody.histogram),
            total=sum(part.total for part in parts),
        )


class TracesBatchByBatch(TraceMovements):
    """A counter of movements that bounds people in each batch of positions by itself."""

    def _people(self, backend: Backend, rows: ir.Table) -> Iterator[PeoplePositions]:
        done = 0
        for people in super()._people(backend, rows):
            # Where the engine has begun a new batch, in positions of these people.
            first = -done % self._settings.batch_rows
            cuts = np.arange(first, len(people.lon), self._settings.batch_rows)
            start = np.union1d(people.start, cuts)
            person = np.searchsorted(people.start, start[:-1], side="right") - 1
            yield replace(people, start=start, salt=people.salt[person])
            done += len(people.lon)


class _Summed:
    """Counters of several files, whose counts are added up."""

    def __init__(self, counters: Sequence[Counter]) -> None:
        self._counters = counters

    @property
    def unit(self) -> Unit:
        """Who is protected."""
        return self._counters[0].unit

    def bound(self, query: Query) -> Bound:
        """Returns the bound that holds in each file, and not in all of them together."""
        return self._counters[0].bound(query)

    def count(self, query: Query) -> ExactCounts:
        """Returns the sums of the bounded counts."""
        found = [counter.count(query) for counter in self._counters]
        every = np.concatenate([exact.cells for exact in found])
        cells, inverse = np.unique(every, return_inverse=True)
        values = np.zeros(len(cells), dtype=np.int64)
        np.add.at(values, inverse, np.concatenate([exact.values for exact in found]))
        return ExactCounts(cells=cells, values=values)


def _files(source: Any) -> list[Any]:
    return [replace(source, path=path) for path in layout_of(source).files.paths]
