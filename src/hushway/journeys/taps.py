"""Single taps as an engine reads them, and the rides or journeys that they are made into."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Final, Literal

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hushway.arrays import IntArray
from hushway.engine.embedded import EmbeddedSession
from hushway.engine.reading import read_rows
from hushway.engine.session import Reading, Session
from hushway.geography.clock import Stretch
from hushway.geography.locations import NOT_KNOWN, journey_at, transfer_at
from hushway.journeys.chaining import JOURNEY, RULES, TAP, TRANSFER, ChainingRules, chained
from hushway.journeys.placing import on_lines
from hushway.journeys.rides import ANY_LINE, PublicRides
from hushway.numerics.threads import usual_threads
from hushway.tables.layout import Columns, Layout, TimedSource

Counted = Literal["journeys", "rides", "both"]

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
        counted: What is counted; both are rides, and journeys of several rides besides.
        transfers: Whether rides begin and end at places of their own where people change.
        lines: Whether they begin and end at places of their own for each line.
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
    lines: bool = False
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
    ends = session.load("public_ends", rides.ends)
    named = trips.left_join(ends.select(begins="end", origin="name"), "begins").left_join(
        ends.select(alight="end", destination="name"), "alight"
    )
    return named.select(
        "person",
        origin=_called(named, named.goes_on, named.origin),
        destination=_called(named, named.gone_on, named.destination),
        us=named.us,
        timed=named.timed,
        # Named only for those who ask.
        rule=ibis.array(list(RULES))[named.rule],
    )


def _called(trips: ir.Table, changes: ir.BooleanValue, place: ir.StringValue) -> ir.StringValue:
    """Returns what an end is called; nothing of a tap that begins nothing."""
    prefix = ibis.cases((trips.whole, journey_at("")), (changes, transfer_at("")), else_="")
    return ibis.ifelse(trips.begun, (prefix + place).fill_null(NOT_KNOWN), None)


def trips_schema(person: pa.DataType) -> pa.Schema:
    """Returns the columns of rides or journeys before their stops are named."""
    numbers = [(name, pa.int64()) for name in ("us", "begins", "alight", "rule")]
    flags = [(name, pa.bool_()) for name in ("begun", "goes_on", "gone_on", "whole")]
    return pa.schema([("person", person), ("timed", pa.bool_()), *numbers, *flags])


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
    rows = _rows(columns, made, source)
    if source.lines:
        line = np.where(rows["whole"], ANY_LINE, columns["line"][[rows["tap"], rows["end"]]])
        rows["begins"] = rides.end_of(line[0], rows["begins"])
        rows["alight"] = rides.end_of(line[1], rows["alight"])
    chosen = slice(None) if source.all_taps else np.flatnonzero(rows["begun"])
    tap = pa.array(rows.pop("tap")[chosen])
    del rows["end"]
    told = {name: values[chosen] for name, values in rows.items()}
    return pa.record_batch({"person": person.take(tap), "timed": timed.take(tap), **told})


def _rows(
    columns: Mapping[str, NDArray[Any]], made: NDArray[Any], source: TapsSource
) -> dict[str, NDArray[Any]]:
    """Returns a row for every tap, and one for every journey that is counted besides its rides."""
    lead, enters, at = made["lead"], columns["enters"], columns["at"]
    journey = made["journey"][lead]
    last, rule = made["last"][journey], made["rule"][lead]
    goes_on, gone_on = enters & (journey != lead), enters & (last != lead)
    tap, end, begun = np.arange(len(lead)), lead, enters
    if source.counted == "journeys":
        # People who travel together make the journeys that one of them makes.
        begun, end = enters & ~goes_on, last
        rule = np.where(begun, made["rule"][last], np.where(goes_on, TRANSFER, rule))
    elif source.counted == "both":
        known = (at >= 0) | (made["alight"][last] >= 0)
        linked = np.flatnonzero(gone_on & ~goes_on & known)
        tap, end = np.append(tap, linked), np.append(lead, last[linked])
        rule = np.append(rule, np.full(len(linked), JOURNEY))
    return {
        "tap": tap,
        "end": end,
        "us": columns["us"][tap],
        "begins": at[tap],
        "alight": made["alight"][end],
        "rule": rule,
        "begun": begun[tap],
        "goes_on": goes_on[tap] & source.transfers,
        "gone_on": gone_on[tap] & source.transfers,
        "whole": np.arange(len(tap)) >= len(lead),
    }


def _bounds(person: pa.Array) -> IntArray:
    """Returns where the rows of each person begin in sorted rows, and where the last ends."""
    changes = pc.not_equal(person[1:], person[:-1]).to_numpy(zero_copy_only=False)
    inner = np.flatnonzero(changes) + 1
    return np.concatenate([[0], inner, [len(person)]]).astype(np.int64)
