"""The stop and the line of a tap: by their ids, by the trip of the vehicle, or by a point.

Privacy:
    Looks at one tap and at public tables.
"""

from collections.abc import Callable

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
from scipy.spatial import cKDTree

from hushway.engine.embedded import EmbeddedSession, quietly
from hushway.journeys.chaining import PublicTables
from hushway.journeys.rides import NO_LINE, PublicRides

# A tap is made when the vehicle stands, a little after it came in by the timetable or before.
_EARLY_S = 60
# A point further from every stop than this is at none.
_AT_A_STOP_M = 150.0
_NAME = "public_stop_of"
StopOf = Callable[[ir.FloatingValue, ir.FloatingValue], ir.IntegerValue]


def on_lines(
    session: EmbeddedSession, taps: ir.Table, rides: PublicRides, public: PublicTables
) -> ir.Table:
    """Adds the numbers of stop and line (at, line) to taps; null where the timetable has none."""
    known = _by_ids(taps, public)
    if "trip" in taps.columns:
        known = _by_trips(session, known, rides)
    if "lon" in taps.columns:
        stop_of = load_stops(session, rides)
        found = stop_of(known.lon, known.lat).nullif(-1)
        known = known.mutate(at=ibis.coalesce(known["at"], found))
    # A line that the timetable does not have goes nowhere that is known.
    strange = known.line_id.notnull() & known.line.isnull()
    return known.select(
        *("person", "us", "timed", "day", "enters", "at", "stop_id"),
        line=ibis.ifelse(strange, NO_LINE, known.line),
    )


def _by_ids(taps: ir.Table, public: PublicTables) -> ir.Table:
    nothing = ibis.null("int64")
    if "stop" in taps.columns:
        taps = taps.mutate(stop_id=taps.stop.cast("string").strip())
        taps = taps.left_join(public.stops, "stop_id").drop("stop_id_right", "stop")
    else:
        taps = taps.mutate(at=nothing, stop_id=ibis.null("string"))
    if "line" not in taps.columns:
        return taps.mutate(line=nothing, line_id=ibis.null("string"))
    taps = taps.mutate(line_id=taps.line.cast("string").strip()).drop("line")
    return taps.left_join(public.lines, "line_id").drop("line_id_right")


def _by_trips(session: EmbeddedSession, taps: ir.Table, rides: PublicRides) -> ir.Table:
    """Adds the line of the trip, and the stop that it was due at last, where there is none."""
    trips = session.load("public_trips", rides.trips)
    calls = session.load("public_calls", rides.calls)
    taps = taps.mutate(trip_id=taps.trip.cast("string").strip()).drop("trip")
    on_trip = taps.left_join(trips, "trip_id").drop("trip_id_right")
    timed = on_trip.mutate(since_s=on_trip.second - on_trip.starts_s + _EARLY_S)
    due = timed.asof_join(calls, on=timed.since_s >= calls.call_s, predicates="pattern")
    return due.mutate(
        at=ibis.coalesce(due["at"], due.call_at), line=ibis.coalesce(due.line, due.trip_line)
    )


def load_stops(session: EmbeddedSession, rides: PublicRides) -> StopOf:
    """Teaches a DuckDB to find the stop of a point, some thousand rows at a time."""
    stops, points = rides.located
    tree = cKDTree(points)

    def of_columns(lon: pa.ChunkedArray, lat: pa.ChunkedArray) -> pa.Array:
        sought = rides.on_earth(lon.to_numpy(), lat.to_numpy())
        sound = np.asarray(np.isfinite(sought).all(axis=1))
        metres, index = tree.query(np.where(sound[:, None], sought, 0.0))
        return pa.array(np.where(sound & (metres <= _AT_A_STOP_M), stops[index], -1))

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
