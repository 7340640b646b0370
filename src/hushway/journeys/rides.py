"""Public tables for chaining: which rides a timetable allows, and which stops are near."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
from scipy.spatial import cKDTree

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.journeys.timetable import Pattern, Timetable

# Of a tap that names no line, and of one whose line is not in the timetable.
ANY_LINE: Final = -1
NO_LINE: Final = -2
_EARTH_M: Final = 6_371_000.0


class RideTables(NamedTuple):
    """Rides and walks by numbers of lines and stops.

    Attributes:
        ride_line: The line of every (line, stop) from which one can ride on, in their order.
        ride_at: The stop of each.
        ride_start: Where its rides begin in the lists that follow, and where the last end.
        ride_alight: Where each ride goes, in the order of stops.
        ride_s: How long it takes, in seconds.
        near_start: Where the stops near every stop begin in the lists that follow.
        near_alight: The stops near it, in their order, itself among them.
        near_m: How far each is, in metres.
        gated: Whether each stop is behind gates.
        gate_of: The stop behind gates that is nearest to each stop; -1 if none is near.
    """

    ride_line: IntArray
    ride_at: IntArray
    ride_start: IntArray
    ride_alight: IntArray
    ride_s: IntArray
    near_start: IntArray
    near_alight: IntArray
    near_m: IntArray
    gated: BoolArray
    gate_of: IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class PublicRides:
    """What a timetable says of rides.

    Attributes:
        timetable: The lines and stops.
        walk_m: How far people walk between a stop where they got off and their next one.
    """

    timetable: Timetable
    walk_m: int

    @cached_property
    def tables(self) -> RideTables:
        """Rides and walks."""
        rides, near = self._rides, self._near
        keys, starts = _starts(rides[:, :2])
        stops = np.arange(len(self.timetable.stops) + 1)
        return RideTables(
            ride_line=np.ascontiguousarray(keys[:, 0]),
            ride_at=np.ascontiguousarray(keys[:, 1]),
            ride_start=starts,
            ride_alight=np.ascontiguousarray(rides[:, 2]),
            ride_s=np.ascontiguousarray(rides[:, 3]),
            near_start=np.searchsorted(near[:, 0], stops),
            near_alight=np.ascontiguousarray(near[:, 1]),
            near_m=np.ascontiguousarray(near[:, 2]),
            gated=self._gated,
            gate_of=self._gate_of,
        )

    @cached_property
    def stops(self) -> pa.Table:
        """(stop_id, at): every stop and station by its id."""
        ids = self.timetable.stops
        return pa.table({"stop_id": list(ids), "at": np.arange(len(ids))})

    @cached_property
    def lines(self) -> pa.Table:
        """(line_id, line): every line by its id."""
        ids = self.timetable.routes
        return pa.table({"line_id": list(ids), "line": np.arange(len(ids))})

    @cached_property
    def trips(self) -> pa.Table:
        """(trip_id, pattern, starts_s, trip_line): what every trip of a vehicle follows."""
        patterns, starts = np.array([*self.timetable.trips.values()]).reshape(-1, 2).T
        routes = np.array([pattern.route for pattern in self.timetable.patterns], dtype=np.int64)
        return pa.table(
            {
                "trip_id": list(self.timetable.trips),
                "pattern": patterns,
                "starts_s": starts,
                "trip_line": routes[patterns],
            }
        )

    @cached_property
    def calls(self) -> pa.Table:
        """(pattern, call_s, call_at): when vehicles call, in seconds since they started."""
        rows = [
            (number, second, stop)
            for number, pattern in enumerate(self.timetable.patterns)
            for second, stop in zip(pattern.seconds, pattern.stops, strict=True)
        ]
        columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
        return pa.table(dict(zip(("pattern", "call_s", "call_at"), columns, strict=True)))

    @property
    def located(self) -> tuple[IntArray, FloatArray]:
        """The stops that have a point, and their points."""
        points = self._points
        stops = np.flatnonzero(np.isfinite(points).all(axis=1))
        return stops, points[stops]

    @staticmethod
    def on_earth(lon: FloatArray, lat: FloatArray) -> FloatArray:
        """Returns points on the Earth, in metres from its middle.

        Straight lines between them are as long as short walks.
        """
        lon, lat = np.radians(lon), np.radians(lat)
        points = (np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat))
        return np.asarray(_EARTH_M * np.column_stack(points))

    @cached_property
    def _points(self) -> FloatArray:
        return self.on_earth(self.timetable.lon, self.timetable.lat)

    @cached_property
    def _rides(self) -> IntArray:
        """Returns (line, stop, later stop, seconds), the quickest of each, in their order.

        A station stands for all of its platforms. At a stop without gates `ANY_LINE` is all lines.
        """
        rows = np.unique(np.concatenate([*self._of_patterns(), np.zeros((0, 4), np.int64)]), axis=0)
        first = np.ones(len(rows), dtype=np.bool_)
        first[1:] = np.any(rows[1:, :3] != rows[:-1, :3], axis=1)
        return rows[first]

    def _of_patterns(self) -> Iterator[IntArray]:
        for pattern in self.timetable.patterns:
            pairs = _downstream(pattern)
            gated = self.timetable.gated[pattern.route]
            for boards in (pairs[:, 0], self.timetable.station[pairs[:, 0]]):
                for line in (pattern.route,) if gated else (pattern.route, ANY_LINE):
                    yield np.column_stack([np.full(len(pairs), line), boards, pairs[:, 1:]])

    @cached_property
    def _near(self) -> IntArray:
        """Returns (stop, other stop, metres) of all that people walk between, in their order."""
        stops, points = self.located
        pairs = cKDTree(points).query_pairs(self.walk_m, output_type="ndarray")
        own = np.arange(len(stops))
        pairs = np.concatenate([pairs, pairs[:, ::-1], np.column_stack([own, own])])
        metres = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
        rows = np.column_stack([stops[pairs], np.rint(metres).astype(np.int64)])
        return rows[np.lexsort(rows.T[1::-1])]

    @cached_property
    def _gated(self) -> BoolArray:
        """Whether each stop is behind gates."""
        gated = np.zeros(len(self.timetable.stops), dtype=np.bool_)
        for pattern in self.timetable.patterns:
            if self.timetable.gated[pattern.route]:
                platforms = np.array(pattern.stops)
                gated[platforms] = gated[self.timetable.station[platforms]] = True
        return gated

    @cached_property
    def _gate_of(self) -> IntArray:
        found = np.full(len(self.timetable.stops), -1, dtype=np.int64)
        stops, points = self.located
        gates = np.flatnonzero(self._gated[stops])
        if len(gates):
            metres, nearest = cKDTree(points[gates]).query(points)
            near = metres <= self.walk_m
            found[stops[near]] = stops[gates[nearest[near]]]
        return found


def _starts(keys: IntArray) -> tuple[IntArray, IntArray]:
    """Returns the different rows of sorted ones, and where each begins and the last ends."""
    first = np.ones(len(keys), dtype=np.bool_)
    first[1:] = np.any(keys[1:] != keys[:-1], axis=1)
    return keys[first], np.append(np.flatnonzero(first), len(keys)).astype(np.int64)


def _downstream(pattern: Pattern) -> IntArray:
    """Returns (stop, later stop, seconds between them) of all pairs of a pattern."""
    stops, seconds = np.array(pattern.stops), np.array(pattern.seconds)
    before, after = np.triu_indices(len(stops), 1)
    apart = stops[before] != stops[after]
    before, after = before[apart], after[apart]
    return np.column_stack([stops[before], stops[after], seconds[after] - seconds[before]])
