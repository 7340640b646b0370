"""How fast and how well trips are matched to roads.

Trips are simulated along shortest routes, from the middle of a link to the middle of another, with
Gaussian errors. The roads are a town of crooked streets or, if HUSHWAY_DATA names a folder that
holds roads/porto_portugal.osm.pbf, those of Porto. Times are processor seconds of one thread.
"""

import os
import statistics
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from hushway.geography.roads import RoadNetwork
from hushway.matching.matcher import Matcher
from hushway.matching.routing import shortest_routes
from hushway.matching.traces import Traces, Ways
from hushway.tables.roads import read_roads

RUNS = 3
TRIPS = 150
SPEED = 10.0
SIGMA = 10.0
DEGREE = 111_195.0
SIDE = 112


def town(seed: int = 1) -> RoadNetwork:
    """A town of about 50,000 links, all of them two-way."""
    rng = np.random.default_rng(seed)
    grid = np.meshgrid(np.arange(SIDE), np.arange(SIDE))
    lon, lat = ((g.ravel() + rng.uniform(-0.25, 0.25, SIDE**2)) * 110 / DEGREE for g in grid)
    node = np.arange(SIDE**2).reshape(SIDE, SIDE)
    pairs = np.concatenate(
        [
            np.column_stack([node[:, :-1].ravel(), node[:, 1:].ravel()]),
            np.column_stack([node[:-1].ravel(), node[1:].ravel()]),
        ]
    )
    tail, head = np.concatenate([pairs, pairs[:, ::-1]]).T.copy()
    links = len(tail)
    return RoadNetwork(
        node_id=np.arange(SIDE**2).astype(np.str_),
        node_lon=lon,
        node_lat=lat,
        link_id=np.arange(links).astype(np.str_),
        tail=tail,
        head=head,
        length=np.hypot(lon[tail] - lon[head], lat[tail] - lat[head]) * DEGREE,
        speed=np.full(links, 50.0),
        lanes=np.ones(links),
        road_class=np.full(links, 5),
        street=np.tile(np.arange(links // 2), 2),
        name=np.full(links, ""),
        start=np.arange(links + 1) * 2,
        lon=np.column_stack([lon[tail], lon[head]]).ravel(),
        lat=np.column_stack([lat[tail], lat[head]]).ravel(),
    )


def routes_of(roads: RoadNetwork, count: int, seed: int = 2) -> list[np.ndarray]:
    origin, destination = np.random.default_rng(seed).integers(0, roads.nodes, (2, count))
    start, links = shortest_routes(roads, origin, destination, roads.length)
    return [links[a:b] for a, b in pairwise(start) if b - a >= 4]


def simulate(
    roads: RoadNetwork, routes: list[np.ndarray], every: float, seed: int = 3
) -> tuple[Traces, np.ndarray]:
    """Positions every few seconds, and the links that they are on."""
    rng = np.random.default_rng(seed)
    trips, truth = [], []
    for route in routes:
        points = np.concatenate([roads.points[roads.start[k] : roads.start[k + 1]] for k in route])
        owner = np.repeat(route, np.diff(roads.start)[route])
        metres = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
        first, last = roads.length[route[[0, -1]]] / 2
        at = np.arange(first, metres[-1] - last, every * SPEED)
        place = np.clip(np.searchsorted(metres, at, side="right") - 1, 0, len(points) - 1)
        xy = np.column_stack([np.interp(at, metres, column) for column in points.T])
        trips.append(np.column_stack([xy + rng.normal(0, SIGMA, xy.shape), at / SPEED]))
        truth.append(owner[place])
    start = np.concatenate([[0], np.cumsum([len(trip) for trip in trips])])
    x, y, seconds = np.concatenate(trips).T.copy()
    return Traces(start=start, x=x, y=y, seconds=seconds), np.concatenate(truth)


def quality(
    roads: RoadNetwork, ways: Ways, routes: list[np.ndarray], truth: np.ndarray
) -> dict[str, float]:
    both = driven = found = 0.0
    for i, route in enumerate(routes):
        links = np.unique(ways.link[ways.start[i] : ways.start[i + 1]])
        both += roads.length[np.intersect1d(links, route)].sum()
        driven += roads.length[route].sum()
        found += roads.length[links].sum()
    return {
        "link accuracy": float((ways.point_link == truth).mean()),
        "route recall": both / driven,
        "route precision": both / found,
        "trips matched whole": float((ways.reason == 0).mean()),
    }


def seconds_of(work: Callable[[], object]) -> float:
    """Processor seconds: other programs on the machine do not count."""
    work()
    times = []
    for _ in range(RUNS):
        before = time.process_time()
        work()
        times.append(time.process_time() - before)
    return statistics.median(times)


def main() -> dict[str, float]:
    porto = Path(os.environ.get("HUSHWAY_DATA", "absent")) / "roads" / "porto_portugal.osm.pbf"
    roads = read_roads(porto)[0] if porto.is_file() else town()
    measured: dict[str, float] = {"links": float(roads.links)}
    matcher = Matcher(roads)
    routes = routes_of(roads, TRIPS)
    for every in (1.0, 5.0, 15.0):
        traces, truth = simulate(roads, routes, every)
        # Default arguments: each function must keep its own traces.
        spent = seconds_of(lambda traces=traces: matcher.match(traces, threads=1))
        name = f"every {every:.0f} s"
        measured[f"{name}: positions/s"] = len(traces.x) / spent
        for what, value in quality(roads, matcher.match(traces), routes, truth).items():
            measured[f"{name}: {what}"] = value
    rng = np.random.default_rng(4)
    x, y = roads.node_points[rng.integers(0, roads.nodes, 10_000)].T.copy()
    radii = np.arange(1, 101) * 10.0
    measured["10,000 points x 100 radii, s"] = seconds_of(
        lambda: matcher.links_within(x, y, radii, threads=1)
    )
    origin = rng.integers(0, roads.nodes, 1_000)
    destination = two_kilometres_away(roads, origin, rng)
    spent = seconds_of(lambda: shortest_routes(roads, origin, destination, roads.length, threads=1))
    measured["route of two kilometres, microseconds"] = spent * 1e3
    for what, value in measured.items():
        print(f"{what:40} {value:14,.4f}", flush=True)
    return measured


def two_kilometres_away(
    roads: RoadNetwork, origin: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """A node about two kilometres from each origin as the crow flies, in any direction."""
    angle = rng.uniform(0, 2 * np.pi, len(origin))
    there = roads.node_points[origin] + 2_000 * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.asarray(cKDTree(roads.node_points).query(there)[1])


if __name__ == "__main__":
    main()
