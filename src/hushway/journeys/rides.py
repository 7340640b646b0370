"""Public tables for chaining: which rides a timetable allows, and which stops are near."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
from scipy.spatial import cKDTree

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.geography.locations import line_at
from hushway.journeys.timetable import Pattern, Timetable
from hushway.numerics.compiled import Rows, compiled, rows_of

# Of a tap that names no line, and of one whose line is not in the timetable.
ANY_LINE: Final = -1
NO_LINE: Final = -2
_EARTH_M: Final = 6_371_000.0
# People get on at the first stop before the vehicle leaves.
WAITS_S: Final = 15 * 60
_ALWAYS_S: Final = -(1 << 40)
# A point further from every stop than this is at none.
_AT_A_STOP_M: Final = 150.0


class RideTables(NamedTuple):
    """Rides and walks by numbers of lines and stops.

    Attributes:
        lines: One more than there are lines.
        first_day: The day, counted from 1970, that the list of kinds of days begins with.
        kind_of_day: Of which kind each day is: days of a kind have the same rides; below 0 if the
            timetable does not cover it.
        boards: (line, at, start) of every line on days of a kind, numbered as `line_on` does, and
            stop from which one can ride on, in their order; its rides start there in the list that
            follows, and end where those of the next row start.
        rides: (alight, seconds): where each goes, in the order of stops, and how long it takes.
        stops: (near, gated, gate_of, x, y, z) of every stop: where stops near it start in the list
            that follows; whether it is behind gates; the nearest stop that is, -1 if none is near;
            and where it is, in metres from the middle of the Earth. One row more, for the last end.
        near: (alight, metres): the stops near each, in their order, itself among them, and how far.
    """

    lines: int
    first_day: int
    kind_of_day: IntArray
    boards: Rows
    rides: Rows
    stops: Rows
    near: Rows


@compiled
def line_on(lines: int, kind: int, line: int) -> int:
    """Returns the number of a line, or of any line, on days of a kind."""
    return kind * lines + line + 1


@dataclass(frozen=True, kw_only=True, eq=False)
class PublicRides:
    """What a timetable says of rides.

    Attributes:
        timetable: The lines and stops.
        walk_m: How far people walk between a stop where they got off and their next one.
        days: The first and the last day that taps are looked at, counted from 1970.
    """

    timetable: Timetable
    walk_m: int
    days: tuple[int, int]

    @cached_property
    def tables(self) -> RideTables:
        """Rides and walks."""
        rides, near = self._rides, self._near
        keys, starts = _starts(rides[:, :2])
        line, at = np.append(keys, [[-1, -1]], axis=0).T
        return RideTables(
            lines=self._lines,
            first_day=self.days[0],
            kind_of_day=self._kinds[0],
            boards=rows_of(line=line, at=at, start=starts),
            rides=rows_of(alight=rides[:, 2], seconds=rides[:, 3]),
            stops=self._stop_rows(near[:, 0]),
            near=rows_of(alight=near[:, 1], metres=near[:, 2]),
        )

    def _stop_rows(self, near: IntArray) -> Rows:
        """Returns what is known of every stop, given the stops that others are near to."""
        x, y, z = np.append(self._points, [[np.nan] * 3], axis=0).T
        return rows_of(
            near=np.searchsorted(near, np.arange(len(x))),
            gated=np.append(self._gated, False).astype(np.int64),
            gate_of=np.append(self._gate_of, -1),
            x=x,
            y=y,
            z=z,
        )

    @property
    def _lines(self) -> int:
        return len(self.timetable.routes) + 1

    @cached_property
    def _services(self) -> dict[int, frozenset[int]]:
        """The services of every day."""
        first, last = self.days
        return {day: frozenset(self.timetable.services_on(day)) for day in range(first, last + 1)}

    @cached_property
    def _kinds(self) -> tuple[IntArray, list[frozenset[int]]]:
        """Of which kind each day is, and the patterns of each kind."""
        kinds: dict[frozenset[int], int] = {}
        of_day = []
        for services in self._services.values():
            runs = frozenset(
                number
                for number, pattern in enumerate(self.timetable.patterns)
                if pattern.services & services
            )
            of_day.append(kinds.setdefault(runs, len(kinds)) if runs else -1)
        return np.array(of_day, dtype=np.int64), list(kinds)

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
    def _served(self) -> IntArray:
        """The numbers of all (line, stop) of these days in order; stations are of their lines."""
        runs = (self.timetable.patterns[n] for n in frozenset[int]().union(*self._kinds[1]))
        numbers = [
            pattern.route * len(self.timetable.stops) + stop
            for pattern in runs
            for platform in pattern.stops
            for stop in (platform, int(self.timetable.station[platform]))
        ]
        return np.unique(np.array(numbers, dtype=np.int64))

    @cached_property
    def served(self) -> dict[str, frozenset[str]]:
        """The ids of the stops of every line."""
        stops, found = self.timetable.stops, defaultdict[str, set[str]](set)
        for number in self._served.tolist():
            line, at = divmod(number, len(stops))
            found[self.timetable.routes[line]].add(stops[at])
        return {line: frozenset(ids) for line, ids in found.items()}

    @property
    def ends(self) -> pa.Table:
        """(end, name): every stop, and after them those of every line by themselves."""
        stops, lines = self.timetable.stops, self.timetable.routes
        of_lines = (divmod(number, len(stops)) for number in self._served.tolist())
        names = [*stops, *(line_at(lines[line], stops[at]) for line, at in of_lines)]
        return pa.table({"end": np.arange(len(names)), "name": names})

    def end_of(self, line: IntArray, at: IntArray) -> IntArray:
        """Returns the number in `ends` of each stop of a line; of a stop alone if none is known."""
        number = np.where((line >= 0) & (at >= 0), line * len(self.timetable.stops) + at, -1)
        found = np.searchsorted(self._served, number)
        served = np.append(self._served, -2)[found] == number
        return np.where(served, len(self.timetable.stops) + found, at)

    @cached_property
    def _calendars(self) -> dict[frozenset[int], int]:
        """The numbers of different sets of services that run on one day."""
        return {services: n for n, services in enumerate(dict.fromkeys(self._services.values()))}

    @cached_property
    def service_days(self) -> pa.Table:
        """(day, calendar): which set of services runs on every day."""
        calendars = [self._calendars[services] for services in self._services.values()]
        days = [*self._services]
        return pa.table({"day": pa.array(days, pa.int64()), "calendar": calendars})

    @cached_property
    def trips(self) -> pa.Table:
        """(trip_id, calendar, from_s, starts_s, pattern, trip_line): what vehicles follow.

        From `from_s` on whoever names the trip is on the vehicle that starts at `starts_s`; that is
        null where the time does not tell which one it is. A trip of two feeds that both cover a day
        is the one of the first.
        """
        runs = {
            (trip, calendar): (number, starts)
            for (service, trip), (number, starts) in reversed(self.timetable.trips.items())
            for services, calendar in self._calendars.items()
            if service in services
        }
        rows = [
            (trip, calendar, since, start, number, self.timetable.patterns[number].route)
            for (trip, calendar), (number, starts) in runs.items()
            for since, start in _sinces(starts, self.timetable.patterns[number].seconds[-1])
        ]
        names = ("calendar", "from_s", "starts_s", "pattern", "trip_line")
        kinds = [("trip_id", pa.string()), *((name, pa.int64()) for name in names)]
        return pa.table([*zip(*rows, strict=True)] or [()] * len(kinds), pa.schema(kinds))

    @cached_property
    def calls(self) -> pa.Table:
        """(pattern, call_s, call_at, last_s): when vehicles call, in seconds since they started."""
        rows = [
            (number, second, stop, pattern.seconds[-1])
            for number, pattern in enumerate(self.timetable.patterns)
            for second, stop in zip(pattern.seconds, pattern.stops, strict=True)
        ]
        columns = np.array(rows, dtype=np.int64).reshape(-1, 4).T
        names = ("pattern", "call_s", "call_at", "last_s")
        return pa.table(dict(zip(names, columns, strict=True)))

    @property
    def located(self) -> tuple[IntArray, FloatArray]:
        """The stops that have a point, and their points."""
        points = self._points
        stops = np.flatnonzero(np.isfinite(points).all(axis=1))
        return stops, points[stops]

    def stop_near(self, lon: FloatArray, lat: FloatArray) -> IntArray:
        """Returns the number of the stop of each point; -1 for a point that is at none."""
        stops, points = self.located
        sought = self.on_earth(lon, lat)
        sound = np.asarray(np.isfinite(sought).all(axis=1))
        metres, index = cKDTree(points).query(np.where(sound[:, None], sought, 0.0))
        return np.asarray(np.where(sound & (metres <= _AT_A_STOP_M), stops[index], -1))

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
        """Returns (line on days of a kind, stop, later stop, seconds), the quickest, in order.

        A station stands for all of its platforms. At a stop without gates `ANY_LINE` is all lines.
        """
        rows = np.unique(np.concatenate([*self._of_patterns(), np.zeros((0, 4), np.int64)]), axis=0)
        first = np.ones(len(rows), dtype=np.bool_)
        first[1:] = np.any(rows[1:, :3] != rows[:-1, :3], axis=1)
        return rows[first]

    def _of_patterns(self) -> Iterator[IntArray]:
        for kind, numbers in enumerate(self._kinds[1]):
            for pattern in (self.timetable.patterns[number] for number in sorted(numbers)):
                pairs = _downstream(pattern)
                gated = self.timetable.gated[pattern.route]
                for boards in (pairs[:, 0], self.timetable.station[pairs[:, 0]]):
                    for line in (pattern.route,) if gated else (pattern.route, ANY_LINE):
                        number = np.full(len(pairs), line_on(self._lines, kind, line))
                        yield np.column_stack([number, boards, pairs[:, 1:]])

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


def _sinces(starts: tuple[int, ...], takes_s: int) -> Iterator[tuple[int, int | None]]:
    """Yields from when on each vehicle of a trip is boarded, and when it starts.

    People get on at the first stop before it starts, but not before the one ahead has come.
    """
    yield _ALWAYS_S, starts[0] if starts else None
    for ahead, start in pairwise(starts):
        yield max(ahead + takes_s, start - WAITS_S), start


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
