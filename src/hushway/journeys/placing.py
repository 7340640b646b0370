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
from hushway.journeys.rides import ANY_LINE, NO_LINE, PublicRides

# A tap is made when the vehicle stands, a little after it came in by the timetable or before.
_EARLY_S = 60
# A point further from every stop than this is at none.
_AT_A_STOP_M = 150.0
_NAME = "public_stop_of"
StopOf = Callable[[ir.FloatingValue, ir.FloatingValue], ir.IntegerValue]


def on_lines(session: EmbeddedSession, taps: ir.Table, rides: PublicRides) -> ir.Table:
    """Adds the numbers of stop and line (at, line) to taps, and whether a stop is named.

    A stop that is not known is -1, and a line `ANY_LINE` if none is named, `NO_LINE` if the
    timetable does not have it.
    """
    known = _by_ids(session, taps, rides)
    if "trip" in taps.columns:
        known = _by_trips(session, known, rides)
    if "lon" in taps.columns:
        stop_of = load_stops(session, rides)
        known = known.mutate(at=ibis.coalesce(known["at"], stop_of(known.lon, known.lat)))
    strange = ibis.ifelse(known.line_id.notnull(), NO_LINE, ANY_LINE)
    return known.select(
        *("person", "us", "timed", "day", "enters"),
        at=known["at"].fill_null(-1),
        line=ibis.coalesce(known.line, strange),
        named=known.stop_id.notnull(),
    )


def _by_ids(session: EmbeddedSession, taps: ir.Table, rides: PublicRides) -> ir.Table:
    """Adds (stop_id, at, line_id, line), null where they are missing or not in the timetable."""
    for role, number, table in (("stop", "at", rides.stops), ("line", "line", rides.lines)):
        key = f"{role}_id"
        if role in taps.columns:
            public = session.load(f"public_{role}s", table)
            taps = taps.mutate(**{key: taps[role].cast("string").strip()}).drop(role)
            taps = taps.left_join(public, key).drop(f"{key}_right")
        else:
            taps = taps.mutate(**{key: ibis.null("string"), number: ibis.null("int64")})
    return taps


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
