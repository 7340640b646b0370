"""Counts of protected events, by whatever engine reads them: bounded, or all for the steward."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import ibis.expr.types as ir
import numpy as np

from hushway.arrays import IntArray
from hushway.engine.embedded import EmbeddedSession
from hushway.engine.key import BoundingKey
from hushway.engine.opening import open_session
from hushway.engine.session import Sums
from hushway.engine.settings import EngineSettings
from hushway.families.density.public.visits import DensityUniverse, VisitLadder, VisitLimits
from hushway.families.density.rows.counts import (
    RankedVisits,
    VisitCounter,
    VisitRule,
    ranked_people,
    ranked_rows,
    ranked_visits,
    refuse_too_many_cells,
    sizes_of,
)
from hushway.families.density.rows.grouping import VisitRows
from hushway.families.density.rows.rows import (
    AreaIndex,
    EventsSource,
    refuse_other_columns,
    rows_by_number,
    rows_by_text,
    visits_read,
)
from hushway.numerics.threads import processors
from hushway.privacy.bound import Unit
from hushway.privacy.query import ExactCounts
from hushway.progress import ShareProgress


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EngineVisits(VisitCounter):
    """Counts visits of events in files, each person bounded.

    The files are read when counts are first asked for; after that counts by site and bin, for every
    limit of the ladder, are in memory, and nothing of any single person.

    Privacy:
        Events without a person, a place or a time, at an unknown place, outside the window or
        outside service hours are dropped one by one against public lists. Of the rest, at most
        `max_visits` of each person count, one of a bin if so asked. Counting is the same for every
        order and split of the rows.
    """

    source: EventsSource
    universe: DensityUniverse
    limits: VisitLimits
    key: BoundingKey
    unit: Unit = Unit.PERSON
    settings: EngineSettings | None = None
    progress: ShareProgress | None = None
    ladder: VisitLadder | None = None

    def __post_init__(self) -> None:
        refuse_other_columns(self.source, self.universe)
        refuse_too_many_cells(self.universe, self.offered)

    @cached_property
    def found(self) -> RankedVisits:  # type: ignore[override]  # worked out once
        """The ranked visits, read when they are first needed."""
        with open_session(self.settings or EngineSettings()) as session:
            reading = visits_read(session, self.source, self.universe)
            return session.count(reading, self._part, self.progress)

    @property
    def _part(self) -> "VisitPart":
        return VisitPart(universe=self.universe, ladder=self.offered, key=self.key)


@dataclass(frozen=True, kw_only=True)
class VisitPart:
    """Ranks and counts the visits of people, all of each. A `hushway.engine.session.Part`.

    Privacy:
        The visits of each person of the part have each rank once.
    """

    universe: DensityUniverse
    ladder: VisitLadder
    key: BoundingKey

    def count(
        self, session: EmbeddedSession, rows: ir.Table, progress: ShareProgress | None
    ) -> RankedVisits:
        """Returns the ranked visits of all batches together: a person may be in several."""
        areas = AreaIndex(self.universe.areas) if self.universe.sites is None else None
        threads = session.settings.threads or processors()
        if rows.person.type().is_integer():
            return self.ranked(list(rows_by_number(session, rows, areas, progress)), threads)
        people = rows_by_text(session, rows, areas, progress)
        return ranked_people(people, self._rule, threads)

    def ranked(self, batches: list[VisitRows], threads: int) -> RankedVisits:
        """Returns the ranked visits of people whose rows may lie in several batches."""
        return ranked_rows(batches, self._rule, threads)

    def sums(self, counted: RankedVisits) -> Sums:
        """Returns what is not 0 of all that was counted."""
        found = counted.series, counted.people, counted.activity, counted.ranked
        return {
            name: ExactCounts.of_all(values.ravel())
            for name, values in zip(_SUMS, found, strict=True)
        }

    def counted(self, sums: Sums) -> RankedVisits:
        """Returns all that was counted."""
        series, people, activity, ranked = (
            _dense(sums[name], size) for name, size in zip(_SUMS, sizes_of(self._rule), strict=True)
        )
        return ranked_visits((series, people, activity, ranked), self._rule)

    @property
    def _rule(self) -> VisitRule:
        return VisitRule.of(self.universe, self.ladder, self.key)


def _dense(counts: ExactCounts, size: int) -> IntArray:
    values = np.zeros(size, dtype=np.int64)
    values[counts.cells] = counts.values
    return values


_SUMS: Final = ("series", "people", "activity", "ranked")
_FOUND: Final = "found"


@dataclass(frozen=True, kw_only=True)
class EveryVisit:
    """Counts people by (bin, site), each once, however often. A `hushway.engine.session.Part`.

    Privacy:
        Nothing is bounded: for values that stay `Internal`.
    """

    universe: DensityUniverse

    def count(
        self, session: EmbeddedSession, rows: ir.Table, progress: ShareProgress | None
    ) -> ExactCounts:
        """Returns how many people were seen in each; cell = bin * sites + site."""
        _, code = _distinct(session, rows, self.universe, progress)
        return _tally(code)

    def sums(self, counted: ExactCounts) -> Sums:
        """Returns what was counted."""
        return {_FOUND: counted}

    def counted(self, sums: Sums) -> ExactCounts:
        """Returns what was counted."""
        return sums[_FOUND]


@dataclass(frozen=True, kw_only=True)
class VisitsOfPeople(EveryVisit):
    """Counts people by how many visits they have. A `hushway.engine.session.Part`."""

    def count(
        self, session: EmbeddedSession, rows: ir.Table, progress: ShareProgress | None
    ) -> ExactCounts:
        """Returns how many people have so many visits; cell = number of visits."""
        owner, _ = _distinct(session, rows, self.universe, progress)
        return _tally(np.unique(owner, return_counts=True)[1])


def _distinct(
    session: EmbeddedSession,
    rows: ir.Table,
    universe: DensityUniverse,
    progress: ShareProgress | None,
) -> tuple[IntArray, IntArray]:
    """Returns whose each visit is, and its bin and site: rows that are alike are one visit."""
    areas = AreaIndex(universe.areas) if universe.sites is None else None
    if rows.person.type().is_integer():
        batches = list(rows_by_number(session, rows, areas, progress))
        owner = np.concatenate([np.zeros(0, np.int64), *(one.owner for one in batches)])
        code = np.concatenate([np.zeros(0, np.int32), *(one.code for one in batches)])
    else:
        people = rows_by_text(session, rows, areas, progress)
        owner = np.repeat(np.arange(len(people.salt)), np.diff(people.start))
        code = people.code
    order = np.lexsort((code, owner))
    owner, code = owner[order], code[order].astype(np.int64)
    # A row that is nowhere has the code -1.
    first = code >= 0
    first[1:] &= (owner[1:] != owner[:-1]) | (code[1:] != code[:-1])
    return owner[first], code[first]


def _tally(numbers: IntArray) -> ExactCounts:
    cells, values = np.unique(numbers, return_counts=True)
    return ExactCounts(cells=cells, values=values)
