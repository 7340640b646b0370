"""The stop and the line of a tap: by their ids, by trip, by vehicle, or by a point.

Privacy:
    Looks at one tap and at public tables.
"""

from collections.abc import Callable

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from hushway.engine.embedded import EmbeddedSession, quietly
from hushway.journeys.chaining import (
    BY_HEADWAY,
    NO_STOP,
    NO_VEHICLE,
    OFF_TRIP,
    UNKNOWN_STOP,
    UNKNOWN_TRIP,
)
from hushway.journeys.rides import ANY_LINE, NO_LINE, WAITS_S, PublicRides

# A tap is made when the vehicle stands, a little after it came in or before.
_EARLY_S = 60
# Vehicles come late.
_LATE_S = 30 * 60
# A vehicle that was last seen at a stop longer ago may be anywhere.
_SEEN_US = 15 * 60 * 1_000_000
_NAME = "public_stop_of"
StopOf = Callable[[ir.FloatingValue, ir.FloatingValue], ir.IntegerValue]


def on_lines(
    session: EmbeddedSession, taps: ir.Table, rides: PublicRides, visits: pa.Table | None
) -> ir.Table:
    """Adds the numbers of stop and line (at, line) to taps.

    Where there is no stop, `at` says why (`hushway.journeys.chaining`); a line is `ANY_LINE` if
    none is named, `NO_LINE` if the timetable does not have it.
    """
    known = _by_ids(session, taps, rides).mutate(lacks=ibis.literal(NO_STOP))
    if "vehicle" in taps.columns and visits is not None:
        known = _by_vehicles(session, known, visits)
    if "trip" in taps.columns:
        known = _by_trips(session, known, rides)
    if "lon" in taps.columns:
        stop_of = load_stops(session, rides)
        known = known.mutate(at=ibis.coalesce(known["at"], stop_of(known.lon, known.lat)))
    lacks = ibis.ifelse(known.stop_id.notnull(), UNKNOWN_STOP, known.lacks)
    strange = ibis.ifelse(known.line_id.notnull(), NO_LINE, ANY_LINE)
    return known.select(
        *("person", "us", "timed", "day", "enters"),
        at=ibis.coalesce(known["at"].nullif(NO_STOP), lacks),
        line=ibis.coalesce(known.line, strange),
    )


def _by_ids(session: EmbeddedSession, taps: ir.Table, rides: PublicRides) -> ir.Table:
    """Adds (stop_id, at, line_id, line), null where they are missing or not in the timetable."""
    for role, number, table in (("stop", "at", rides.stops), ("line", "line", rides.lines)):
        key = f"{role}_id"
        if role in taps.columns:
            public = session.load(f"public_{role}s", table)
            taps = taps.mutate(**{key: _text(taps[role])}).drop(role)
            taps = taps.left_join(public, key).drop(f"{key}_right")
        else:
            taps = taps.mutate(**{key: ibis.null("string"), number: ibis.null("int64")})
    return taps


def _text(value: ir.Value) -> ir.StringValue:
    """Returns an id as text; null if it is empty."""
    return value.cast("string").strip().nullif("")


def _by_vehicles(session: EmbeddedSession, taps: ir.Table, visits: pa.Table) -> ir.Table:
    """Adds the stop where the vehicle was seen last, where there is none."""
    public = session.load("public_visits", visits)
    taps = taps.mutate(vehicle_id=_text(taps.vehicle), soon_us=taps.us + _EARLY_S * 1_000_000)
    seen = taps.asof_join(public, on=taps.soon_us >= public.visit_us, predicates="vehicle_id")
    lately = seen.visit_us.notnull() & (seen.us - seen.visit_us <= _SEEN_US)
    lost = seen.vehicle_id.notnull() & ~lately.fill_null(ibis.literal(value=False))
    return seen.mutate(
        at=ibis.coalesce(seen["at"], ibis.ifelse(lately, seen.visit_at, None)),
        lacks=ibis.ifelse(lost, NO_VEHICLE, seen.lacks),
    )


def _by_trips(session: EmbeddedSession, taps: ir.Table, rides: PublicRides) -> ir.Table:
    """Adds the line of the trip, and the stop that it was due at last, where there is none."""
    days = session.load("public_service_days", rides.service_days)
    trips = session.load("public_trips", rides.trips)
    calls = session.load("public_calls", rides.calls)
    taps = taps.mutate(trip_id=_text(taps.trip)).drop("trip")
    taps = taps.left_join(days, "day").drop("day_right")
    taps = taps.mutate(soon_s=taps.second + _EARLY_S)
    on, same = taps.soon_s >= trips.from_s, ["trip_id", "calendar"]
    found = taps.asof_join(trips, on=on, predicates=same)
    since = found.soon_s - found.starts_s
    waits = (since < 0) & (since >= -WAITS_S)
    timed = found.drop("trip_id_right", "calendar_right").mutate(
        since_s=ibis.ifelse(waits, 0, since)
    )
    due = timed.asof_join(calls, on=timed.since_s >= calls.call_s, predicates="pattern")
    runs = (due.since_s - due.last_s <= _LATE_S).fill_null(ibis.literal(value=False))
    unknown = due.trip_id.notnull() & due.trip_line.isnull()
    often = due.trip_line.notnull() & due.starts_s.isnull()
    return due.mutate(
        at=ibis.coalesce(due["at"], ibis.ifelse(runs, due.call_at, None)),
        line=ibis.coalesce(due.line, due.trip_line),
        lacks=ibis.cases(
            (unknown, UNKNOWN_TRIP),
            (often, BY_HEADWAY),
            (due.trip_id.notnull(), OFF_TRIP),
            else_=due.lacks,
        ),
    )


def load_stops(session: EmbeddedSession, rides: PublicRides) -> StopOf:
    """Teaches a DuckDB to find the stop of a point, some thousand rows at a time."""

    def of_columns(lon: pa.ChunkedArray, lat: pa.ChunkedArray) -> pa.Array:
        return pa.array(rides.stop_near(lon.to_numpy(), lat.to_numpy()))

    quietly(
        lambda: session.backend.con.create_function(
            _NAME, of_columns, ["DOUBLE", "DOUBLE"], "BIGINT", type="arrow"
        )
    )
    stop_of: StopOf = ibis.udf.scalar.builtin(name=_NAME)(_signature)
    return stop_of


def _signature(lon: float, lat: float) -> int:
    """Tells Ibis what the function that DuckDB has been taught takes and gives."""
    raise NotImplementedError
