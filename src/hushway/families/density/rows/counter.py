"""Bounded counts of protected events, by whatever engine reads them."""

from functools import cached_property

from hushway.engine.key import BoundingKey
from hushway.engine.opening import open_session
from hushway.engine.settings import EngineSettings
from hushway.families.density.public.visits import DensityUniverse, VisitLimits
from hushway.families.density.rows.counts import (
    BoundedVisits,
    refuse_other_visits,
    refuse_too_many_cells,
    visit_bound,
    visit_counts,
)
from hushway.families.density.rows.part import VisitPart
from hushway.families.density.rows.rows import EventsSource, refuse_other_columns, visits_read
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.query import ExactCounts, Query
from hushway.progress import ShareProgress

__all__ = ["EngineVisits"]


class EngineVisits:
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
        with open_session(self._settings) as session:
            reading = visits_read(session, self._source, self._universe)
            return session.count(reading, self._part, self._progress)

    @property
    def _part(self) -> VisitPart:
        return VisitPart(universe=self._universe, limits=self._limits, key=self._key)
