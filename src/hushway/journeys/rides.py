"""Public tables for chaining: which rides a timetable allows, and which stops are near."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from scipy.spatial import cKDTree

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.journeys.timetable import Pattern, Timetable

# Of a tap that names no line, and of one whose line is not in the timetable.
ANY_LINE, NO_LINE = -1, -2
_EARTH_M = 6_371_000.0


@dataclass(frozen=True, kw_only=True, eq=False)
class PublicRides:
    """What a timetable says of rides, as tables of numbers of stops and lines.

    Attributes:
        timetable: The lines and stops.
        walk_m: How far people walk between a stop where they got off and their next one.
    """

    timetable: Timetable
    walk_m: int

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
        return _table(np.array(rows).reshape(-1, 3), ("pattern", "call_s", "call_at"))

    @cached_property
    def rides(self) -> pa.Table:
        """(line, at, alight, ride_s): where one can ride to on a line, and how long it takes.

        A station stands for all of its platforms. Line -1 is any line at a stop, for taps that name
        none. Lines behind gates are left out of it: see `behind_gates`.
        """
        rows = np.unique(np.concatenate([*self._of_patterns(), np.zeros((0, 4), np.int64)]), axis=0)
        # Sorted by seconds within a ride, so the quickest comes first.
        first = np.ones(len(rows), dtype=np.bool_)
        first[1:] = np.any(rows[1:, :3] != rows[:-1, :3], axis=1)
        return _table(rows[first], ("line", "at", "alight", "ride_s"))

    @cached_property
    def near(self) -> pa.Table:
        """(alight, toward, metres): stops that people walk between, each near itself."""
        pairs, metres = self._near(np.flatnonzero(self._located))
        rows = np.column_stack([pairs, metres])
        return _table(rows, ("alight", "toward", "metres"))

    @cached_property
    def behind_gates(self) -> pa.Table:
        """(toward, gate, metres): the nearest stop behind gates to every stop.

        People who passed a gate without naming a line may have changed behind it, so they may have
        come out wherever the network goes.
        """
        gates = np.array(sorted(self._gated_stops), dtype=np.int64)
        rows = np.zeros((0, 3), np.int64)
        if len(gates):
            rows = self._nearest(gates)
        return _table(rows, ("toward", "gate", "metres"))

    @cached_property
    def gates(self) -> pa.Table:
        """(at): stops and stations behind gates."""
        return pa.table({"at": np.array(sorted(self._gated_stops), dtype=np.int64)})

    @cached_property
    def _gated_stops(self) -> set[int]:
        found = {
            stop
            for pattern in self.timetable.patterns
            if self.timetable.gated[pattern.route]
            for stop in pattern.stops
        }
        return found | {int(self.timetable.station[stop]) for stop in found}

    def _of_patterns(self) -> Iterator[IntArray]:
        for pattern in self.timetable.patterns:
            pairs = _downstream(pattern)
            for boards in (pairs[:, 0], self.timetable.station[pairs[:, 0]]):
                for line in self._line_numbers(pattern):
                    yield np.column_stack([np.full(len(pairs), line), boards, pairs[:, 1:]])

    def _line_numbers(self, pattern: Pattern) -> tuple[int, ...]:
        gated = self.timetable.gated[pattern.route]
        return (pattern.route,) if gated else (pattern.route, ANY_LINE)

    @cached_property
    def _located(self) -> BoolArray:
        return np.isfinite(self.timetable.lon) & np.isfinite(self.timetable.lat)

    @cached_property
    def _points(self) -> FloatArray:
        """Points on the Earth in metres: straight lines between them are as long as short walks."""
        return self.on_earth(self.timetable.lon, self.timetable.lat)

    @property
    def located(self) -> tuple[IntArray, FloatArray]:
        """The stops that have a point, and their points."""
        stops = np.flatnonzero(self._located)
        return stops, self._points[stops]

    @staticmethod
    def on_earth(lon: FloatArray, lat: FloatArray) -> FloatArray:
        """Returns points on the Earth, in metres from its middle."""
        lon, lat = np.radians(lon), np.radians(lat)
        points = (np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat))
        return np.asarray(_EARTH_M * np.column_stack(points))

    def _near(self, stops: IntArray) -> tuple[IntArray, IntArray]:
        tree = cKDTree(self._points[stops])
        pairs = tree.query_pairs(self.walk_m, output_type="ndarray")
        own = np.arange(len(stops))
        pairs = np.concatenate([pairs, pairs[:, ::-1], np.column_stack([own, own])])
        apart = self._points[stops[pairs[:, 0]]] - self._points[stops[pairs[:, 1]]]
        return stops[pairs], np.rint(np.linalg.norm(apart, axis=1)).astype(np.int64)

    def _nearest(self, gates: IntArray) -> IntArray:
        stops = np.flatnonzero(self._located)
        gates = gates[self._located[gates]]
        metres, index = cKDTree(self._points[gates]).query(
            self._points[stops], distance_upper_bound=self.walk_m
        )
        found = np.isfinite(metres)
        rounded = np.rint(metres[found]).astype(np.int64)
        return np.column_stack([stops[found], gates[index[found]], rounded])


def _downstream(pattern: Pattern) -> IntArray:
    """Returns (stop, later stop, seconds between them) of all pairs of a pattern."""
    stops, seconds = np.array(pattern.stops), np.array(pattern.seconds)
    before, after = np.triu_indices(len(stops), 1)
    apart = stops[before] != stops[after]
    before, after = before[apart], after[apart]
    return np.column_stack([stops[before], stops[after], seconds[after] - seconds[before]])


def _table(rows: IntArray, names: tuple[str, ...]) -> pa.Table:
    return pa.table({name: rows[:, column] for column, name in enumerate(names)})
