"""Riders on a timetable, with their true ends: not the demand model of the product.

Everybody has a home and a place of work near stops, goes there by what runs next, perhaps with a
transfer on foot, sometimes on to a third place, and comes back by the ride that brings them home
soonest. Who finds none, and a few others, go by other means, without a tap. Lines behind gates are
entered at their station, without a line, and some networks see exits. Taps are lost, cards are
shared on the same days, and people take others along on one card.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hushway.journeys.rides import PublicRides
from hushway.journeys.timetable import Timetable

WALK_M, CHANGE_M = 400.0, 300.0
TRANSFERS, THIRD_PLACE, TRAVELS = 0.3, 0.15, 0.8
LOST, SHARED, COMPANY, OTHER_MEANS = 0.03, 0.03, 0.03, 0.05
LONGEST_WAIT_S = 25 * 60


class Ride(NamedTuple):
    """A ride: where and when it began and ended, in stops and seconds of the day."""

    route: int
    board: int
    off: int
    board_s: int
    off_s: int


class Seen(NamedTuple):
    """A tap and the truth about it."""

    card: int
    second: int
    stop: int
    route: int
    enters: bool
    off: int
    goes_on: bool


@dataclass
class Riders:
    """Riders of one timetable on a day's service."""

    timetable: Timetable
    day: int
    seed: int
    exits: bool
    starts: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    calls: dict[int, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)
        services = set(self.timetable.services_on(self.day))
        for (service, _), (pattern, starts) in self.timetable.trips.items():
            if service in services:
                self.starts[pattern].extend(starts)
        for pattern, runs in self.starts.items():
            runs.sort()
            for number, stop in enumerate(self.timetable.patterns[pattern].stops):
                self.calls[stop].append((pattern, number))
        rides = PublicRides(timetable=self.timetable, walk_m=int(WALK_M), days=(self.day,) * 2)
        tables = rides.tables
        self.near = {
            stop: tables.near[low:high].tolist()
            for stop in self.calls
            for low, high in [tables.stops["near"][stop : stop + 2]]
        }
        self.stops = np.array(sorted(self.calls))
        used = np.array([sum(len(self.starts[p]) for p, _ in self.calls[s]) for s in self.stops])
        self.busy = used / used.sum()

    def cards(self, people: int, days: int) -> Iterator[Seen]:
        """Yields the taps of some people on some days alike, in seconds since the first day."""
        for person in range(people):
            card = person - 1 if person and self.random.random() < SHARED else person
            home, work = self.random.choice(self.stops, 2, p=self.busy)
            leaves = self.random.normal(8, 1.2) * 3600
            for day in range(days):
                if self.random.random() < TRAVELS:
                    for journey in self._day(int(home), int(work), leaves):
                        yield from self._taps(card, day * 86_400, journey)

    def _day(self, home: int, work: int, leaves: float) -> Iterator[list[Ride]]:
        """Yields the journeys of a day: there, perhaps elsewhere, and back."""
        there = self._toward(home, work, int(leaves + self.random.normal(0, 900)))
        if not there:
            return
        yield there
        at, now = there[-1].off, there[-1].off_s + int(self.random.uniform(3, 9) * 3600)
        if self.random.random() < OTHER_MEANS:
            at = int(self.random.choice(self.stops, p=self.busy))
        if self.random.random() < THIRD_PLACE:
            third = self._toward(at, int(self.random.choice(self.stops, p=self.busy)), now)
            if third:
                yield third
                at, now = third[-1].off, third[-1].off_s + int(self.random.uniform(0.7, 3) * 3600)
        if back := self._toward(at, home, now):
            yield back

    def _toward(self, start: int, goal: int, now: int) -> list[Ride]:
        """Returns the soonest rides from near a stop to near another, with a change or none."""
        goals = {stop for stop, _ in self.near[goal]}
        if start in goals:
            return []
        direct = self._soonest(start, goals, now, WALK_M)
        if direct and (self.random.random() > TRANSFERS):
            return [direct]
        best: list[Ride] = [direct] if direct else []
        for first in self._rides_from(start, now):
            if best and first.off_s >= best[-1].off_s:
                continue
            then = self._soonest(first.off, goals, first.off_s, CHANGE_M, but=first.route)
            if then and (not best or then.off_s < best[-1].off_s):
                best = [first, then]
        return best

    def _departures(
        self, at: int, now: int, walk_m: float, but: int = -1
    ) -> Iterator[tuple[int, int, int, int]]:
        """Yields (pattern, call, stop, second) of what leaves next nearby."""
        for stop, metres in self.near[at]:
            if metres > walk_m or stop not in self.calls:
                continue
            arrives = now + int(metres / 1.2) + 30
            for pattern, number in self.calls[stop]:
                line = self.timetable.patterns[pattern]
                if line.route == but or number == len(line.stops) - 1:
                    continue
                starts = self.starts[pattern]
                since = line.seconds[number]
                index = bisect_left(starts, arrives - since)
                if index < len(starts) and starts[index] + since - arrives <= LONGEST_WAIT_S:
                    yield pattern, number, int(stop), starts[index]

    def _soonest(
        self, at: int, goals: set[int], now: int, walk_m: float, but: int = -1
    ) -> Ride | None:
        best: Ride | None = None
        for pattern, number, stop, start in self._departures(at, now, walk_m, but):
            line = self.timetable.patterns[pattern]
            for call in range(number + 1, len(line.stops)):
                off_s = start + line.seconds[call]
                if line.stops[call] in goals and (best is None or off_s < best.off_s):
                    board_s = start + line.seconds[number]
                    best = Ride(line.route, stop, line.stops[call], board_s, off_s)
        return best

    def _rides_from(self, at: int, now: int) -> Iterator[Ride]:
        """Yields rides to some of the stops that one gets to from near a stop."""
        for pattern, number, stop, start in self._departures(at, now, WALK_M):
            line = self.timetable.patterns[pattern]
            later = range(number + 1, len(line.stops))
            for call in self.random.choice(later, min(len(later), 6), replace=False).tolist():
                board_s, off_s = start + line.seconds[number], start + line.seconds[call]
                yield Ride(line.route, stop, line.stops[call], board_s, off_s)

    def _taps(self, card: int, since: int, journey: list[Ride]) -> Iterator[Seen]:
        """Yields what is seen of a journey: rides behind gates between two gates are one."""
        taps: list[Seen] = []
        behind = False
        for number, ride in enumerate(journey):
            gated = self.timetable.gated[ride.route]
            if gated and behind:  # A change behind the gates: nobody sees it.
                taps = [each for each in taps if each.enters]
                taps[-1] = taps[-1]._replace(off=ride.off)
            else:
                at = int(self.timetable.station[ride.board]) if gated else ride.board
                route = -1 if gated else ride.route
                board_s = since + ride.board_s - int(self.random.uniform(5, 40))
                taps.append(Seen(card, board_s, at, route, True, ride.off, number > 0))
            if gated and self.exits:
                out = int(self.timetable.station[ride.off])
                taps.append(Seen(card, since + ride.off_s + 60, out, -1, False, out, False))
            behind = gated
        others = 1 + (self.random.random() < COMPANY)
        for tap in taps:
            for other in range(others):
                if self.random.random() > LOST:
                    yield tap._replace(second=tap.second + 4 * other)


def metres_between(timetable: Timetable, one: Any, other: Any) -> Any:
    """Returns how far stops are from each other."""
    points = PublicRides.on_earth(timetable.lon, timetable.lat)
    return np.linalg.norm(points[one] - points[other], axis=1)


def grid_feed(folder: Path, lines: int = 8, apart: float = 0.008) -> Path:
    """Writes the feed of a generated town: buses along a grid, and a metro across it."""
    folder.mkdir(parents=True, exist_ok=True)
    stops, trips, times = {}, [], []

    def run(route: str, calls: list[tuple[str, float, float]], headway: int, ride_s: int) -> None:
        for way, order in enumerate((calls, calls[::-1])):
            named = [(f"{stop}-{route}-{way}", lon, lat + 0.0002 * way) for stop, lon, lat in order]
            stops.update({stop: (lon, lat) for stop, lon, lat in named})
            for start in range(5 * 3600, 24 * 3600, headway):
                trip = f"{route}-{way}-{start}"
                trips.append(f"{route},daily,{trip}")
                for number, (stop, _, _) in enumerate(named):
                    second = start + ride_s * number
                    clock = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
                    times.append(f"{trip},{clock},{clock},{stop},{number}")

    for line in range(lines):
        along = [(f"{line}.{cross}", apart * cross, apart * line) for cross in range(lines)]
        across = [(f"{cross}.{line}", apart * line, apart * cross) for cross in range(lines)]
        run(f"B{line}", along, 720, 150)
        run(f"A{line}", across, 900, 150)
    run("M", [(f"M{n}", apart * n, apart * n + 0.001) for n in range(0, lines, 2)], 360, 180)
    rows = {
        "stops": ["stop_id,stop_name,stop_lon,stop_lat"]
        + [f"{stop},{stop},{lon},{lat}" for stop, (lon, lat) in stops.items()],
        "routes": ["route_id,route_type"]
        + [f"{kind}{n},3" for kind in "AB" for n in range(lines)]
        + ["M,1"],
        "trips": ["route_id,service_id,trip_id", *trips],
        "stop_times": ["trip_id,arrival_time,departure_time,stop_id,stop_sequence", *times],
    }
    for name, lines_of in rows.items():
        (folder / f"{name}.txt").write_text("\n".join(lines_of) + "\n")
    return folder
