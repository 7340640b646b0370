"""Single taps as an engine reads them, and the rides or journeys that they are made into."""

from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, Literal

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa

from hushway.engine.embedded import EmbeddedSession
from hushway.engine.reading import read_rows
from hushway.engine.session import Reading, Session
from hushway.geography.clock import Stretch
from hushway.geography.locations import NOT_KNOWN
from hushway.journeys.chaining import DAY_US, ChainingRules, PublicTables, chained, load_rides
from hushway.journeys.linking import joined, linked
from hushway.journeys.placing import on_lines
from hushway.journeys.rides import PublicRides
from hushway.tables.layout import Columns, Layout, TimedSource

Counted = Literal["journeys", "rides"]


@dataclass(frozen=True, kw_only=True)
class TapColumns(Columns):
    """Which column of the taps holds what.

    Attributes:
        person: Whose tap it is: a card, or a token of a payment card.
        time: When it was.
        date: Its day, if that is in a column of its own.
        service_date: The day that the time belongs to, for the clock "service".
        stop: The id of the stop, as the timetable names it.
        lon: Its longitude, if the stop is not known.
        lat: Its latitude.
        line: The id of the line, `route_id` of the timetable.
        trip: The id of the vehicle's trip, `trip_id` of the timetable.
        action: What the tap was: getting on or getting off. Without it all are entries.
    """

    person: str = "person"
    time: str = "time"
    date: str | None = None
    service_date: str | None = None
    stop: str | None = "stop"
    lon: str | None = None
    lat: str | None = None
    line: str | None = None
    trip: str | None = None
    action: str | None = None


@dataclass(frozen=True)
class TapsSource(TimedSource[TapColumns]):
    """The protected taps.

    Privacy:
        A ride is made of the taps of one card or token, so that the unit is a device.

    Attributes:
        rides: What the public timetable says.
        rules: Public rules of chaining and joining.
        counted: What is counted.
        span_us: From when to when taps are brought together, as their times are written.
        clocks: How far the city's clock was ahead of the times as they are written, and since when.
        entries: What `action` says of somebody who gets on; anything but an exit, if left out.
        exits: What it says of somebody who gets off.
    """

    noun = "taps"
    rides: PublicRides | None = None
    rules: ChainingRules = field(default_factory=ChainingRules)
    counted: Counted = "journeys"
    span_us: tuple[int, int] = (0, 0)
    clocks: tuple[Stretch, ...] = ()
    entries: tuple[str, ...] = ()
    exits: tuple[str, ...] = ()
    areas: ClassVar[None] = None


def taps_read(session: Session, source: TapsSource) -> Reading:
    """Returns how taps come into an engine, as (person, origin, destination, us, timed, rule)."""
    return Reading(
        layout=session.layout(source),
        read=partial(_taps, source),
        together="person",
        shape=partial(_shaped, source),
    )


def _taps(source: TapsSource, session: EmbeddedSession, layout: Layout | None) -> ir.Table:
    return read_rows(session, layout, source.clock)


def _shaped(source: TapsSource, session: EmbeddedSession, taps: ir.Table) -> ir.Table:
    """Makes rides or journeys of taps, all of a person.

    Privacy:
        A tap decides where an earlier ride is counted, so only taps of days that the ledger charges
        are brought together; all others are rows by themselves, whose time has no cell.
    """
    assert source.rides is not None  # noqa: S101  a plan for taps names a timetable
    public = load_rides(session, source.rides)
    marked = taps.mutate(
        charged=((taps.us >= source.span_us[0]) & (taps.us < source.span_us[1])).fill_null(False)
        & taps.person.notnull(),
        enters=_enters(taps, source),
    )
    alone = marked.filter(~marked.charged)
    together = marked.filter(marked.charged, marked.enters.notnull())
    placed = on_lines(session, _on_days(session, together, source), source.rides, public)
    return _trips(placed, public, source).union(
        alone.select(
            "person",
            origin=ibis.literal(NOT_KNOWN),
            destination=ibis.literal(NOT_KNOWN),
            us=alone.us,
            timed=alone.timed,
            rule=ibis.null("string"),
        )
    )


def _enters(taps: ir.Table, source: TapsSource) -> ir.BooleanValue:
    """Whether somebody gets on; null for a purchase and the like."""
    if "action" not in taps.columns:
        return ibis.literal(value=True)
    action = taps.action.cast("string").strip()
    enters = action.isin(source.entries) if source.entries else ibis.literal(value=True)
    return ibis.cases((action.isin(source.exits), False), (enters, True))


def _on_days(session: EmbeddedSession, taps: ir.Table, source: TapsSource) -> ir.Table:
    """Adds the service day of a tap, and the second of it, by the city's clock."""
    wall = taps.us
    if source.clocks:
        clocks = session.load(
            "public_clocks",
            pa.table(
                {
                    "since_us": np.array([each.start_us for each in source.clocks]),
                    "ahead_us": np.array([each.ahead_us for each in source.clocks]),
                }
            ),
        )
        taps = taps.asof_join(clocks, on=taps.us >= clocks.since_us)
        wall = taps.us + taps.ahead_us
    day = (wall - source.rules.day_begins_us) // DAY_US
    return taps.mutate(day=day, second=(wall - day * DAY_US) // 1_000_000)


def _trips(taps: ir.Table, public: PublicTables, source: TapsSource) -> ir.Table:
    """Returns a row for every ride or journey of everybody, also of those who travel together."""
    rides, ordered = chained(taps, public, source.rules)
    trips = rides
    if source.counted == "journeys":
        trips = joined(linked(rides, public, source.rules))
    told = trips.select("person", "ride", "alight", "rule", begins="at")
    tapped = ordered.filter(ordered.enters).select("person", "ride", "us", "timed")
    every = tapped.inner_join(told, ["person", "ride"])
    ids = public.stops
    named = every.left_join(ids.select(begins="at", origin="stop_id"), "begins").left_join(
        ids.select(alight="at", destination="stop_id"), "alight"
    )
    return named.select(
        "person",
        origin=named.origin.fill_null(NOT_KNOWN),
        destination=named.destination.fill_null(NOT_KNOWN),
        us=named.us,
        timed=named.timed,
        rule=named.rule,
    )
