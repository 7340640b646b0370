"""Single taps as an engine reads them, and the rides or journeys that they are made into."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, Final, Literal

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushway.arrays import IntArray
from hushway.engine.embedded import EmbeddedSession
from hushway.engine.reading import read_rows
from hushway.engine.session import Reading, Session
from hushway.geography.clock import Stretch
from hushway.geography.locations import NOT_KNOWN, transfer_at
from hushway.journeys.chaining import RULES, TAP, TRANSFER, ChainingRules, chained
from hushway.journeys.placing import on_lines
from hushway.journeys.rides import PublicRides
from hushway.numerics.threads import usual_threads
from hushway.tables.layout import Columns, Layout, TimedSource

Counted = Literal["journeys", "rides"]

_DAY_US: Final = 86_400_000_000
_TRIPS: Final = "trips_of_taps"


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
        vehicle: The id of the vehicle, whose visits of stops are known.
        tap_id: If given, rows of one card with the same id are one tap.
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
    vehicle: str | None = None
    tap_id: str | None = None
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
        transfers: Whether rides begin and end at places of their own where people change.
        span_us: From when to when taps are brought together, as their times are written.
        clocks: How far the city's clock was ahead of the times as they are written, and since when.
        entries: What `action` says of somebody who gets on; anything but an exit, if left out.
        exits: What it says of somebody who gets off.
        visits: When vehicles were seen at stops: (vehicle_id, visit_us, visit_at, visit_trip).
        all_taps: Whether taps that begin nothing are rows too, without an origin: for checks.
    """

    noun = "taps"
    rides: PublicRides | None = None
    rules: ChainingRules = field(default_factory=ChainingRules)
    counted: Counted = "journeys"
    transfers: bool = False
    span_us: tuple[int, int] = (0, 0)
    clocks: tuple[Stretch, ...] = ()
    entries: tuple[str, ...] = ()
    exits: tuple[str, ...] = ()
    visits: pa.Table | None = None
    all_taps: bool = False
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
    marked = taps.mutate(
        charged=((taps.us >= source.span_us[0]) & (taps.us < source.span_us[1])).fill_null(False)
        & taps.person.notnull(),
        enters=_enters(taps, source),
    )
    # A time outside has no cell; whoever has no person is no row of a person.
    apart = [_begins_nothing(marked.filter(~marked.charged), None, NOT_KNOWN)]
    together = marked.filter(marked.charged)
    if "tap_id" in taps.columns:
        window = ibis.window(group_by=["person", "tap_id"], order_by=["us", "enters"])
        again = (ibis.row_number().over(window) > 0) & together.tap_id.notnull()
        together = together.mutate(again=again)
        apart.append(_begins_nothing(together.filter(together.again), "repeated_tap"))
        together = together.filter(~together.again)
    apart.append(_begins_nothing(together.filter(together.enters.isnull()), "other_action"))
    days = _on_days(session, together.filter(together.enters.notnull()), source)
    placed = on_lines(session, days, source.rides, source.visits)
    made = _trips(session, placed, source, source.rides)
    return made.union(*(apart if source.all_taps else apart[:1]))


def _begins_nothing(taps: ir.Table, rule: str | None, place: str | None = None) -> ir.Table:
    """Returns taps as rows of their own, of which none counts."""
    nowhere = ibis.null("string") if place is None else ibis.literal(place)
    rows = taps.select("person", "us", "timed").mutate(origin=nowhere, destination=nowhere)
    told = rows.mutate(rule=ibis.null("string") if rule is None else ibis.literal(rule))
    return told.select("person", "origin", "destination", "us", "timed", "rule")


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
    day = (wall - source.rules.day_begins_us) // _DAY_US
    return taps.mutate(day=day, second=(wall - day * _DAY_US) // 1_000_000)


def _trips(
    session: EmbeddedSession, taps: ir.Table, source: TapsSource, rides: PublicRides
) -> ir.Table:
    """Returns a row for every ride or journey of everybody, also of those who travel together.

    Exits come before entries of the same moment: whoever changes leaves first. People are in no
    order; a DuckDB compares numbers sooner than texts.
    """
    order = [taps.person.hash(), taps.person, taps.us, taps.enters, taps["at"], taps.line]
    chunks = whole_people(session.stream(taps.order_by(order)))
    schema = trips_schema(taps.schema().to_pyarrow().field("person").type)
    # In memory: a DuckDB takes no rows while it hands others out.
    threads = usual_threads(session.settings.threads)
    made = [_made(chunk, source, rides, threads) for chunk in chunks]
    trips = session.load(_TRIPS, pa.Table.from_batches(made, schema))
    ids = session.load("public_stop_ids", rides.stops)
    named = trips.left_join(ids.select(begins="at", origin="stop_id"), "begins").left_join(
        ids.select(alight="at", destination="stop_id"), "alight"
    )
    prefix = ibis.literal(transfer_at("")) if source.transfers else ibis.literal("")
    origin = ibis.ifelse(named.goes_on, prefix + named.origin, named.origin)
    destination = ibis.ifelse(named.gone_on, prefix + named.destination, named.destination)
    return named.select(
        "person",
        origin=ibis.ifelse(named.begun, origin.fill_null(NOT_KNOWN), None),
        destination=ibis.ifelse(named.begun, destination.fill_null(NOT_KNOWN), None),
        us=named.us,
        timed=named.timed,
        # Named only for those who ask.
        rule=ibis.array(list(RULES))[named.rule],
    )


def trips_schema(person: pa.DataType) -> pa.Schema:
    """Returns the columns of rides or journeys before their stops are named."""
    numbers = [(name, pa.int64()) for name in ("us", "begins", "alight", "rule")]
    flags = [(name, pa.bool_()) for name in ("timed", "begun", "goes_on", "gone_on")]
    return pa.schema([("person", person), *numbers, *flags])


def whole_people(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Joins sorted batches of rows so that everybody's rows are in one."""
    kept: list[pa.RecordBatch] = []
    for batch in batches:
        cut = int(_bounds(batch["person"])[-2])
        if cut > 0 or (kept and kept[-1]["person"][-1] != batch["person"][0]):
            yield pa.Table.from_batches([*kept, batch.slice(0, cut)])
            kept = []
        kept.append(batch.slice(cut))
    if kept:
        yield pa.Table.from_batches(kept)


def _made(taps: pa.Table, source: TapsSource, rides: PublicRides, threads: int) -> pa.RecordBatch:
    """Makes rides or journeys of all taps of some people."""
    person, timed = (taps[name].combine_chunks() for name in ("person", "timed"))
    columns = {name: taps[name].to_numpy() for name in TAP}
    bounds = _bounds(person)
    made = chained(columns, bounds, rides.tables, source.rules, threads)
    begun, end = columns["enters"], made["lead"]
    rule, journey = made["rule"][end], made["journey"][end]
    goes_on = begun & (journey != end)
    # Whoever got on made a journey, whose last ride is known.
    gone_on = begun & (made["last"][journey] != end)
    if source.counted == "journeys":
        # People who travel together make the journeys that one of them makes.
        begun, end = begun & ~goes_on, made["last"][end]
        rule = np.where(begun, made["rule"][end], np.where(goes_on, TRANSFER, rule))
    chosen = np.arange(len(begun)) if source.all_taps else np.flatnonzero(begun)
    return pa.record_batch(
        {
            "person": person.take(pa.array(chosen)),
            "us": columns["us"][chosen],
            "begins": columns["at"][chosen],
            "alight": made["alight"][end[chosen]],
            "rule": rule[chosen],
            "timed": timed.take(pa.array(chosen)),
            "begun": begun[chosen],
            "goes_on": goes_on[chosen],
            "gone_on": gone_on[chosen],
        }
    )


def _bounds(person: pa.Array) -> IntArray:
    """Returns where the rows of each person begin in sorted rows, and where the last ends."""
    changes = pc.not_equal(person[1:], person[:-1]).to_numpy(zero_copy_only=False)
    inner = np.flatnonzero(changes) + 1
    return np.concatenate([[0], inner, [len(person)]]).astype(np.int64)
