"""Movements: random ones, the rule that bounds them in plain Python, and cases for all engines."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa

from hushway.engine.key import PRIME, SUM_MASK, BoundingKey
from hushway.engine.settings import EngineSettings
from hushway.families.links.city.road_city import road_city
from hushway.families.links.matching.matcher import Matcher
from hushway.families.links.matching.routing import shortest_routes
from hushway.families.links.matching.traces import Traces
from hushway.families.links.public.universe import (
    SPEED_STEP,
    LinkUniverse,
    MovementCells,
    MovementLimits,
    SpeedSums,
)
from hushway.families.links.rows.bounding import ArrayMovements
from hushway.families.links.rows.movements import TraceMovements
from hushway.families.links.rows.rows import TraceColumns, TracesSource
from hushway.geography.periods import Periods
from hushway.privacy.query import Query
from hushway.tables.header import Clock
from support.conformance.case import (
    SEASONS,
    Answers,
    Case,
    as_counts,
    name_of,
    number_by_hand,
    random_key,
    salt_of,
)
from support.conformance.case import ZONE as ZONE_NAME

ZONE = ZoneInfo(ZONE_NAME)
ROADS = road_city(3, links=1_000)
MATCHER = Matcher(ROADS)
LIMITS = MovementLimits(max_items=25, speed_steps=2)
KEY = random_key(12)
Trip = tuple[int, str, list[tuple[datetime, float, float]]]  # person, id, positions


def universe_of(first: date) -> LinkUniverse:
    return LinkUniverse(
        roads=ROADS,
        periods=Periods(
            zone=ZONE_NAME,
            first_day=first,
            last_day=first + timedelta(days=2),
            opens=60,
            closes=1320,
            minutes=60,
            cycle="window",
        ),
        zone=np.zeros(ROADS.links, dtype=np.int64),
        zones=("all",),
    )


def random_trips(seed: int, count: int, first: date) -> list[Trip]:
    """Trips between random nodes, with a position at every node passed, at random speeds.

    They begin at ten past an hour of Paris, never in the hour that the clocks pass twice: on a wall
    clock nobody could tell which of the two it was.
    """
    rng = np.random.default_rng(seed)
    start, links = shortest_routes(
        ROADS,
        rng.integers(0, ROADS.nodes, count),
        rng.integers(0, ROADS.nodes, count),
        ROADS.length,
    )
    midnight = datetime(first.year, first.month, first.day, tzinfo=ZONE)
    trips: list[Trip] = []
    for i in range(count):
        route = links[start[i] : start[i + 1]]
        if len(route) < 3:
            continue
        hour = int(rng.integers(0, 72))
        begin = (midnight.astimezone(UTC) + timedelta(hours=hour, minutes=10)).astimezone(ZONE)
        if begin.hour in (1, 2, 3):
            continue
        pace = ROADS.length[route] / (ROADS.speed[route] / 3.6 * rng.uniform(0.5, 1.3))
        since = np.concatenate([[0.0], np.cumsum(pace)]).round(3)
        nodes = np.append(ROADS.tail[route], ROADS.head[route[-1]])
        positions = [
            (begin.astimezone(UTC) + timedelta(seconds=float(s)), float(lon), float(lat))
            for s, lon, lat in zip(since, ROADS.node_lon[nodes], ROADS.node_lat[nodes], strict=True)
        ]
        trips.append((int(rng.integers(-3, 12)), f"t{i}", positions))
    return trips


def items_by_hand(
    trips: list[Trip], universe: LinkUniverse, *, text: bool
) -> dict[int, dict[tuple[int, int], tuple[float, int]]]:
    """For each salt and (period, item): when it was first driven whole, and the steps then."""
    links, nodes = ROADS.links, ROADS.nodes
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    found: dict[int, dict[tuple[int, int], tuple[float, int]]] = defaultdict(dict)

    def add(salt: int, item: int, seconds: float, when: float, steps: int) -> None:
        wall = (begin + timedelta(seconds=seconds)).astimezone(ZONE)
        day = (wall.date() - universe.periods.first_day).days
        minute = wall.hour * 60 + wall.minute - universe.periods.opens
        if not (0 <= day < 3 and 0 <= minute < universe.periods.closes - universe.periods.opens):
            return
        key = (day * universe.periods.parts + minute // 60, item)
        found[salt][key] = min(found[salt].get(key, (np.inf, 0)), (when, steps))

    for person, _, positions in trips:
        seconds = np.array([(time - begin).total_seconds() for time, _, _ in positions])
        where = ROADS.plane.to_metres(*(np.array([p[i] for p in positions]) for i in (1, 2)))
        x, y = where.T.copy()
        traces = Traces(start=np.array([0, len(seconds)]), x=x, y=y, seconds=seconds)
        ways = MATCHER.match(traces)
        count, salt = len(ways.link), salt_of(person, text=text)
        for i, link in enumerate(ways.link.tolist()):
            inner = 0 < i < count - 1 and not ways.fresh[i] and not ways.fresh[i + 1]
            took = float(ways.left[i] - ways.entered[i])
            steps, when = 0, np.inf
            if inner and took > 0:
                speed = ROADS.length[link] / took * 3.6
                steps = round(float((speed - ROADS.speed[link]) / SPEED_STEP))
                when = float(ways.entered[i])
            add(salt, link, float(ways.entered[i]), when, steps)
        if count:
            add(salt, links + int(ROADS.tail[ways.link[0]]), float(ways.entered[0]), np.inf, 0)
            end = links + nodes + int(ROADS.head[ways.link[-1]])
            add(salt, end, float(ways.left[-1]), np.inf, 0)
    return found


def counts_by_hand(
    items: dict[int, dict[tuple[int, int], tuple[float, int]]],
    universe: LinkUniverse,
    key: BoundingKey,
) -> list[dict[int, int]]:
    """The rule in words: the answers about movements and about speeds."""
    counts: Counter[int] = Counter()
    sums: Counter[int] = Counter()
    slope, shift = key.coefficients[-2:]
    for salt, own in items.items():
        codes = {period * universe.items + item: told for (period, item), told in own.items()}
        kept = sorted(codes)
        if len(kept) > LIMITS.max_items:
            place = {code: number_by_hand(key, salt, code, 3) for code in kept}
            turn = ((sum(place.values()) & SUM_MASK) * slope + shift) % PRIME
            ring = sorted(kept, key=lambda code: (place[code], code))
            kept = [ring[(i + turn) % len(ring)] for i in range(LIMITS.max_items)]
        for code in kept:
            counts[code] += 1
            period, item = divmod(code, universe.items)
            when, steps = codes[code]
            if item < ROADS.links and when < np.inf:
                sums[period * ROADS.links + item] += max(min(steps, 2), -2)
    return [dict(counts), {cell: total for cell, total in sums.items() if total}]


def questions(universe: LinkUniverse) -> list[Query]:
    every = (MovementCells(universe=universe), SpeedSums(universe=universe))
    return [Query(name="movements", cells=cells) for cells in every]


def answers(counter: ArrayMovements | TraceMovements, universe: LinkUniverse) -> Answers:
    return [as_counts(counter.count(query)) for query in questions(universe)]


def table_of(trips: list[Trip], *, text: bool, clock: str) -> pa.Table:
    rows = [(person, trip, *each) for person, trip, own in trips for each in own]
    # Somebody nobody knows drove along.
    rows += [(None, "t9999", *rest) for _, _, *rest in rows[:20]]
    person, trip, instant, lon, lat = zip(*rows, strict=True)
    wall = [t.astimezone(ZONE).replace(tzinfo=None) for t in instant]
    numbers = [int(name[1:]) for name in trip]
    return pa.table(
        {
            "person": pa.array(
                [None if p is None else name_of(p) for p in person] if text else person
            ),
            "trip": pa.array(trip if text else numbers),
            "time": pa.array(wall, pa.timestamp("us"))
            if clock == "local"
            else pa.array(instant, pa.timestamp("us", "UTC")),
            "lon": pa.array(lon),
            "lat": pa.array(lat),
        }
    )


def counter_of(
    path: Path | str,
    universe: LinkUniverse,
    settings: EngineSettings,
    clock: Clock = "local",
    engine: Callable[..., Any] = TraceMovements,
) -> Any:
    return engine(
        source=TracesSource(path, TraceColumns(trip="trip"), clock=clock),
        universe=universe,
        limits=LIMITS,
        key=KEY,
        settings=settings,
        matcher=MATCHER,
    )


def memory_of(
    items: dict[int, dict[tuple[int, int], tuple[float, int]]], universe: LinkUniverse
) -> ArrayMovements:
    person, period, item, steps = np.array(
        [(salt, *what, steps) for salt, own in items.items() for what, (_, steps) in own.items()]
    ).T
    return ArrayMovements(
        universe=universe,
        limits=LIMITS,
        key=KEY,
        person=person,
        period=period,
        item=item,
        steps=steps,
    )


def _case(name: str, first: date, *, text: bool, clock: Clock, tireless: bool = False) -> Case:
    universe = universe_of(first)

    @cache
    def trips() -> list[Trip]:
        found = random_trips(seed=11, count=160, first=first)
        return [(7, *rest) for _, *rest in found] if tireless else found

    @cache
    def items() -> dict[int, dict[tuple[int, int], tuple[float, int]]]:
        return items_by_hand(trips(), universe, text=text)

    def memory() -> Answers:
        counter = memory_of(items(), universe)
        for query in questions(universe):
            settings = EngineSettings()
            assert counter_of("", universe, settings).bound(query) == counter.bound(query)
        return answers(counter, universe)

    def rows() -> pa.Table:
        table = table_of(trips(), text=text, clock=clock)
        return table.take(np.random.default_rng(5).permutation(len(table)))

    return Case(
        name=f"links, {name}",
        rows=rows,
        by_hand=lambda: counts_by_hand(items(), universe, KEY),
        by_memory=memory,
        count=lambda path, settings: answers(counter_of(path, universe, settings, clock), universe),
        in_csv=text,
    )


def _cases() -> Sequence[Case]:
    spring, autumn = SEASONS["spring"], SEASONS["autumn"]
    return [
        _case("clocks change in spring, local, integers", spring, text=False, clock="local"),
        _case("clocks change in spring, utc, text", spring, text=True, clock="utc"),
        _case("clocks change in autumn, local, text", autumn, text=True, clock="local"),
        _case("clocks change in autumn, utc, integers", autumn, text=False, clock="utc"),
        _case("one tireless person", spring, text=True, clock="local", tireless=True),
    ]


CASES = _cases()
