"""Where protected sequences are, what makes one, and the way from rows to them."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal

import ibis
import ibis.expr.types as ir
import numpy as np

from hushway.arrays import Int32Array, IntArray
from hushway.engine.embedded import EmbeddedSession
from hushway.engine.grids import DayGrid, day_grid, load_places
from hushway.engine.key import BoundingKey
from hushway.engine.reading import read_rows, read_stops
from hushway.engine.session import Reading, Session
from hushway.errors import DataError, PlanError
from hushway.families.sequences.rows.record_bounding import OrderedStops
from hushway.geography.locations import Locations
from hushway.geography.periods import Periods
from hushway.privacy.bound import Bound, Unit
from hushway.progress import ShareProgress
from hushway.tables.encodings import Encoding
from hushway.tables.layout import Columns, Layout, TimedSource


@dataclass(frozen=True, kw_only=True)
class SequenceColumns(Columns):
    """Which column of the sequences holds what.

    Attributes:
        person: Whose sequence it is; without it every row is a unit of its own.
        stops: Ids of the places in order: a list of texts or of whole numbers in Parquet, or a text
            with a separator.
    """

    person: str | None = None
    stops: str = "stops"


@dataclass(frozen=True)
class SequencesSource:
    """The protected sequences: a CSV or Parquet file, a folder of them, or a glob.

    Attributes:
        path: A file, a folder (searched with its subfolders) or a glob such as `2026/*.parquet`.
        separator: What stands between two stops if they are written as a text. Nothing is trimmed,
            but an empty text between two separators is no stop.
        encoding: How bytes of CSV files stand for letters.
    """

    path: Path | str
    columns: SequenceColumns
    separator: str = " "
    encoding: Encoding = "utf-8"
    noun: ClassVar[str] = "sequences"
    clock: ClassVar[None] = None
    time_format: ClassVar[None] = None

    def __post_init__(self) -> None:
        if not self.separator:
            raise DataError(
                "Stops cannot be told apart without a separator.",
                advice='Name what stands between two stops, such as " " or ">".',
            )


@dataclass(frozen=True, kw_only=True)
class TapColumns(Columns):
    """Which column of the taps holds what.

    Ids are compared exactly, as text: "1", " 1", "01" and "1.0" are four different persons.

    Attributes:
        person: Whose tap it is: a person, a card, a ticket. Taps of one make a sequence.
    """

    person: str = "person"
    location: str = "location"
    time: str = "time"
    date: str | None = None


class TapsSource(TimedSource[TapColumns]):
    """The protected taps."""

    noun = "taps"


RecordSpan = Literal["day", "window"]


@dataclass(frozen=True, kw_only=True)
class SequenceRule:
    """How rows become records, and how many of them count.

    Attributes:
        max_stops: Stops of a record that count: its first ones.
        max_records: Most records of one person; without meaning for unit "record".
        window: The public days and service hours; taps outside are dropped. Needed for taps.
        record: What one record of taps is: a person's taps of one day of the window, or all of
            them.
        keep_times: Whether the period of each stop is counted with it.
    """

    max_stops: int
    max_records: int = 1
    window: Periods | None = None
    record: RecordSpan = "day"
    keep_times: bool = False

    def __post_init__(self) -> None:
        if type(self.max_stops) is not int or self.max_stops < 1:
            raise PlanError(
                "A record must have room for at least one stop.",
                advice="Set the number of stops that count to 1 or more.",
            )
        if self.keep_times and self.window is None:
            raise PlanError(
                "Times cannot be kept without a window and its periods.",
                advice="Give the window, or leave times out.",
            )
        if self.keep_times and self.record == "window" and not self._is_one_day:
            raise PlanError(
                "Times of day cannot be kept in records that are longer than a day: periods "
                "would go back from one day to the next.",
                advice='Set record = "day", choose a window of one day, or leave times out.',
            )

    @property
    def periods(self) -> int:
        """Number of periods that stops are told apart by; 1 if times are not kept."""
        return len(self.window) if self.keep_times and self.window is not None else 1

    @property
    def _is_one_day(self) -> bool:
        return self.window is not None and self.window.first_day == self.window.last_day


def record_bound(unit: Unit, max_records: int) -> Bound:
    """Returns how far one unit can move the counts of one step of a prefix tree.

    Privacy:
        A record lies in at most one candidate of a step, so a person with at most `max_records`
        records adds at most that many, and all may fall into one candidate. A unit "record" is one
        of them. `bounded_records` enforces it.
    """
    return Bound.of_records(max_records if unit.has_many_records else 1)


# Stops in the order of their records: the way from rows to sequences.
#
# Reading, joining with public lists and sorting are the engine's, which may use the disk. What a
# record is, and which of them count, is decided on arrays, by code that all counters share.


def rows_read(session: Session, source: TapsSource | SequencesSource) -> Reading:
    """Returns how taps, or the stops of ready sequences, come into an engine, all of them."""
    layout = session.layout(source)
    together = "person" if "person" in layout.kinds else None
    return Reading(layout=layout, read=partial(_rows, source), together=together)


def stops_read(
    session: Session,
    source: TapsSource | SequencesSource,
    locations: Locations,
    rule: SequenceRule,
    *,
    owned: bool,
) -> Reading:
    """Returns how those taps or stops come into an engine that can be counted.

    Taps come as (person, place, since_us), stops as (record, position, place), with a person if
    they are owned.

    Privacy:
        A tap or a stop is kept or dropped by looking at it and at public tables alone, and with it
        nothing else of the sequence. With owners, sequences without a person are dropped.
    """
    reading = rows_read(session, source)
    read = _Countable(source, locations, rule, owned)
    span = None
    if isinstance(source, TapsSource):
        grid = day_grid(window_of(rule), source.clock)
        span = grid.start_us, grid.end_us
    return replace(reading, read=read, together="person" if owned else None, span_us=span)


def _rows(
    source: TapsSource | SequencesSource, session: EmbeddedSession, layout: Layout | None
) -> ir.Table:
    """Reads taps, or stops of ready sequences, one by one."""
    if isinstance(source, TapsSource):
        return read_rows(session, layout, source.clock)
    return read_stops(session, layout, source.separator)


@dataclass(frozen=True)
class _Countable:
    """Reads taps or stops that can be counted."""

    source: TapsSource | SequencesSource
    locations: Locations
    rule: SequenceRule
    owned: bool

    def __call__(self, session: EmbeddedSession, layout: Layout | None) -> ir.Table:
        source = self.source
        rows = _rows(source, session, layout)
        integers = bool(rows.location.type().is_integer())
        places = load_places(session, self.locations, integers=integers).rename(location="id")
        if self.owned:
            rows = rows.drop_null(["person"])
        if not isinstance(source, TapsSource):
            owner = ["person"] if self.owned else []
            stops = rows.inner_join(places, "location")
            return stops.select(*owner, "record", "position", "place")
        grid = day_grid(window_of(self.rule), source.clock)
        inside = rows.filter(rows.us >= grid.start_us, rows.us < grid.end_us)
        placed = inside.inner_join(places, "location")
        return placed.select("person", "place", since_us=placed.us - grid.start_us)


def ordered_taps(
    session: EmbeddedSession,
    taps: ir.Table,
    grid: DayGrid,
    *,
    rule: SequenceRule,
    key: BoundingKey,
    progress: ShareProgress | None = None,
) -> OrderedStops:
    """Returns taps ordered by person, time and, in ties, by the key.

    Privacy:
        The order of a person's taps depends on these taps and the key alone.
    """
    ordered = _owned(session, taps, progress).order_by(["owner", "since_us"])
    found = session.run(_narrow(ordered, ["owner", "place", "since_us"]), _half(progress, 1))
    place = settled(found["owner"], found["since_us"], found.pop("place"), key)
    bucket = grid.bucket(found["since_us"])
    stops = OrderedStops(
        owner=found["owner"],
        part=grid.day[bucket],
        place=place,
        period=grid.period[bucket] if rule.keep_times else None,
        since_us=found["since_us"],
    )
    # Sorted first and dropped after: few rows are outside service hours, and a join costs more.
    served = stops.within_service()
    return served if rule.record == "day" else replace(served, part=None)


def ordered_sequences(
    session: EmbeddedSession, stops: ir.Table, progress: ShareProgress | None = None
) -> OrderedStops:
    """Returns the stops of ready sequences, ordered by person, if they have one, and record."""
    has_owner = "person" in stops.columns
    owned = _owned(session, stops, progress) if has_owner else stops
    names = ["owner"] if has_owner else []
    ordered = owned.order_by([*names, "record", "position"])
    found = session.run(_narrow(ordered, [*names, "record", "place"]), _half(progress, 1))
    return OrderedStops(
        owner=found["owner"] if has_owner else None, part=found["record"], place=found["place"]
    )


def window_of(rule: SequenceRule) -> Periods:
    """Returns the window of a rule."""
    if rule.window is None:
        raise DataError(
            "Taps cannot become sequences without a window of days.",
            advice="Give the window's first and last day, its service hours and its time zone.",
        )
    return rule.window


def settled(owner: IntArray, since_us: IntArray, place: Int32Array, key: BoundingKey) -> Int32Array:
    """Returns the places of ordered taps, with those at one and the same time ordered by the key.

    Privacy:
        Only taps of one owner change places with each other.
    """
    same = (owner[1:] == owner[:-1]) & (since_us[1:] == since_us[:-1])
    if not same.any():
        return place
    tied = np.zeros(len(place), dtype=np.bool_)
    tied[1:] |= same
    tied[:-1] |= same
    at = np.flatnonzero(tied)
    when, where = since_us[at], place[at].astype(np.int64)
    # In ties only the place can differ, so nothing else needs to move.
    order = np.lexsort((where, key.place(key.mixed(when, where, 0)), when, owner[at]))
    in_order = place.copy()
    in_order[at] = where[order]
    return in_order


def _owned(session: EmbeddedSession, rows: ir.Table, progress: ShareProgress | None) -> ir.Table:
    """Gives rows an integer for their person, which says what belongs together and nothing else.

    Persons that are no integers are numbered. Nothing but equality and order of the rows depends on
    the number, so it does not matter that it depends on who else is there.
    """
    if rows.person.type().is_integer():
        return rows.rename(owner="person")
    stored = session.store("owned_rows", rows, _half(progress, 0))
    persons = stored.select("person").distinct()
    numbered = persons.mutate(owner=ibis.row_number().over(ibis.window()))
    return stored.inner_join(numbered, "person").drop("person")


def _narrow(rows: ir.Table, names: list[str]) -> ir.Table:
    """Returns columns with small places; there is a row for each stop of a city."""
    return rows.select(**{n: rows[n].cast("int32") if n == "place" else rows[n] for n in names})


def _half(progress: ShareProgress | None, half: int) -> ShareProgress | None:
    return None if progress is None else lambda share: progress((half + share) / 2)
