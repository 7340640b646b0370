"""The protected rows: how taps are read, bounded and counted. Nothing else sees them."""

from dataclasses import dataclass
from functools import cached_property

import ibis
import numpy as np
from hushway import families as hw

from hushway_visits.public import StopHours, Totals


@dataclass(frozen=True, kw_only=True)
class TapColumns(hw.Columns):
    """Which column of the taps holds what.

    Attributes:
        person: Whose tap it is.
        location: The stop.
        time: When it was.
    """

    person: str = "person"
    location: str = "stop"
    time: str = "time"


class TapsSource(hw.TimedSource[TapColumns]):
    """The protected taps."""

    noun = "taps"


@dataclass(frozen=True)
class Taps:
    """Reads taps one by one."""

    source: TapsSource

    def __call__(self, session: hw.EmbeddedSession, layout: hw.Layout | None) -> ibis.Table:
        """Returns all of them: (person, location, us, timed)."""
        assert layout is not None  # noqa: S101  what files of rows have
        return hw.read_rows(session, layout, self.source.clock)


@dataclass(frozen=True)
class Countable:
    """Reads taps that are somebody's, at a public stop and in a period.

    Privacy:
        A tap is kept or dropped by looking at it and at public lists alone.
    """

    taps: Taps
    cells: StopHours

    def __call__(self, session: hw.EmbeddedSession, layout: hw.Layout | None) -> ibis.Table:
        """Returns them as (person, cell)."""
        grid = hw.time_grid(self.cells.periods, self.taps.source.clock)
        marked = mark(session, self.taps(session, layout), self.cells.stops, grid)
        kept = marked.filter(marked.kept)
        return kept.select("person", cell=kept.place * len(self.cells.periods) + kept.period)


def mark(
    session: hw.Session, rows: ibis.Table, stops: hw.Locations, grid: hw.TimeGrid
) -> ibis.Table:
    """Adds to each tap its place, its period, and whether it is kept; null where there is none."""
    integers = bool(rows.location.type().is_integer())
    places = hw.load_places(session, stops, integers=integers).rename(location="id")
    rows = hw.looked_up(rows, places, "location")
    rows = hw.with_buckets(rows, grid, session.load("public_periods", grid.table))
    kept = rows.person.notnull() & rows.place.notnull() & rows.period.notnull()
    return rows.mutate(kept=kept)


@dataclass(frozen=True, kw_only=True)
class VisitPart:
    """Bounds and counts people with all of their taps: the same code in every engine.

    Privacy:
        Of each person at most `max_visits` cells count, each once, whatever the taps are. Which
        ones depends on the person's own taps and on the key.

    Attributes:
        max_visits: How many visits of a person count.
        key: Decides which ones.
    """

    max_visits: int
    key: hw.BoundingKey

    def count(
        self, session: hw.EmbeddedSession, rows: ibis.Table, progress: hw.ShareProgress | None
    ) -> hw.ExactCounts:
        """Returns the bounded visits of some people."""
        del progress
        person, cell = self.visits(session, rows)
        kept = self.chosen(person, cell)
        cells, values = np.unique(cell[kept], return_counts=True)
        return hw.ExactCounts(cells=cells, values=values)

    def visits(
        self, session: hw.EmbeddedSession, rows: ibis.Table
    ) -> tuple[hw.IntArray, hw.IntArray]:
        """Returns person and cell of every visit; taps of one person in one cell are one."""
        return _columns(session, rows.distinct())

    def chosen(self, person: hw.IntArray, cell: hw.IntArray) -> hw.IntArray:
        """Returns the visits that count: a uniform choice of each person's."""
        place = self.key.place(self.key.mixed(cell, 0, 0))
        return hw.kept_in_circle(person, place, (cell,), self.max_visits, self.key)

    def sums(self, counted: hw.ExactCounts) -> hw.Sums:
        """Returns what was counted, as sums that those of other people can be added to."""
        return {"visits": counted}

    def counted(self, sums: hw.Sums) -> hw.ExactCounts:
        """Returns what such sums say."""
        return sums["visits"]


def _columns(session: hw.EmbeddedSession, rows: ibis.Table) -> tuple[hw.IntArray, hw.IntArray]:
    """Returns persons, numbered 0, 1, 2, ..., and cells."""
    table = session.fetch(rows)
    person = table["person"].combine_chunks().dictionary_encode().indices
    return np.asarray(person, dtype=np.int64), np.asarray(table["cell"], dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class VisitCounter:
    """Counts visits of taps in files, each person bounded. A counter for a curator.

    Privacy:
        `bound` states what `part` enforces.

    Attributes:
        source: Where the taps are.
        cells: The public stops and periods.
        unit: Whom an id stands for.
        part: Bounds and counts.
        settings: How much of this machine to use.
        progress: Told from 0 to 1 how far it is.
    """

    source: TapsSource
    cells: StopHours
    unit: hw.Unit
    part: VisitPart
    settings: hw.EngineSettings
    progress: hw.ShareProgress | None = None

    def bound(self, query: hw.Query) -> hw.Bound:
        """Returns the bound that `count` enforces."""
        self._refuse_other(query)
        visits = min(self.part.max_visits, self.cells.size)
        return hw.Bound(cells=visits, each=1, total=visits)

    def count(self, query: hw.Query) -> hw.ExactCounts:
        """Returns the exact bounded counts.

        Raises:
            DataError: The taps cannot be read, or memory or disk ran out.
        """
        self._refuse_other(query)
        return self._found

    @cached_property
    def _found(self) -> hw.ExactCounts:
        with hw.open_session(self.settings) as session:
            reading = hw.Reading(
                layout=session.layout(self.source),
                read=Countable(Taps(self.source), self.cells),
                together="person",
            )
            return session.count(reading, self.part, self.progress)

    def _refuse_other(self, query: hw.Query) -> None:
        if isinstance(query.cells, Totals) or query.cells.digest != self.cells.digest:
            raise hw.DataError(
                "These taps are counted by other stops or periods.",
                advice="Ask for the cells that the counter was made for.",
            )
