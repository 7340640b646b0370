"""The embedded engine for visits: events in files, read by DuckDB."""

from functools import cached_property

from hushway.engine.key import BoundingKey
from hushway.engine.session import EngineSettings, duckdb_session
from hushway.families.density.public.visits import DensityUniverse, VisitLimits
from hushway.families.density.rows.counts import (
    BoundedVisits,
    VisitRule,
    bounded_people,
    bounded_rows,
    refuse_other_visits,
    refuse_too_many_cells,
    visit_bound,
    visit_counts,
)
from hushway.families.density.rows.grouping import VisitRows
from hushway.families.density.rows.rows import (
    EventsSource,
    event_rows,
    refuse_other_columns,
    rows_by_number,
    rows_by_text,
)
from hushway.numerics.threads import processors
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.query import ExactCounts, Query
from hushway.progress import ShareProgress

__all__ = ["DuckDBVisits"]


class DuckDBVisits:
    """Counts visits of events in files, each person bounded. A `hushway.privacy.query.Counter`.

    The files are read at the first count; after that the bounded counts by site and bin are in
    memory, and nothing of any single person.

    Privacy:
        Events without a person, a place or a time, at an unknown place, outside the window or
        outside service hours are dropped one by one against public lists. Of the rest, at most one
        visit of a bin and `max_visits` in all count for each person. Counting is the same for every
        order and split of the rows.

    Args:
        source: Where the events are.
        universe: The public areas, bins and sites.
        limits: How much of one person counts.
        unit: Who an id stands for.
        key: Decides which visits are kept.
        settings: How much of this machine to use.
        progress: Told from 0 to 1 how far the reading is, from another thread.

    Raises:
        DataError: The source does not have what the universe needs.
    """

    def __init__(
        self,
        *,
        source: EventsSource,
        universe: DensityUniverse,
        limits: VisitLimits,
        key: BoundingKey,
        unit: Unit = Unit.PERSON,
        settings: EngineSettings | None = None,
        progress: ShareProgress | None = None,
    ) -> None:
        refuse_other_columns(source, universe)
        refuse_too_many_cells(universe)
        self._source = source
        self._universe = universe
        self._limits = limits
        self._unit = unit
        self._key = key
        self._settings = EngineSettings() if settings is None else settings
        self._progress = progress

    @property
    def unit(self) -> Unit:
        """Who is protected: whoever an id stands for."""
        return self._unit

    def bound(self, query: Query) -> Bound:
        """Returns the bound that `count` enforces for this query."""
        return visit_bound(refuse_other_visits(query, self._universe), self._limits)

    def count(self, query: Query) -> ExactCounts:
        """Returns the exact bounded counts.

        Raises:
            DataError: The events cannot be read, or memory or disk ran out.
        """
        cells = refuse_other_visits(query, self._universe)
        return visit_counts(self._found, cells)

    @cached_property
    def _found(self) -> BoundedVisits:
        batch_rows = self._settings.batch_rows
        with duckdb_session(self._settings) as backend:
            events = event_rows(backend, self._source, self._universe)
            if not events.has_numbers:
                people = rows_by_text(backend, events, batch_rows, self._progress)
                return bounded_people(people, self._rule, self._threads)
            batches = list(rows_by_number(backend, events, batch_rows, self._progress))
        # The engine has given its memory back by now.
        return self._bounded(batches)

    def _bounded(self, batches: list[VisitRows]) -> BoundedVisits:
        """Returns the bounded visits of all batches together: a person may be in several."""
        return bounded_rows(batches, self._rule, self._threads)

    @property
    def _rule(self) -> VisitRule:
        return VisitRule.of(self._universe, self._limits, self._key)

    @property
    def _threads(self) -> int:
        return self._settings.threads or processors()
