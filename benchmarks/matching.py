"""How fast and how well trips are matched to roads.

Trips are simulated along shortest routes, from the middle of a link to the middle of another, with
Gaussian errors. The roads are a town of crooked streets or, if HUSHWAY_DATA names a folder that
holds roads/porto_portugal.osm.pbf, those of Porto; with roads/porto_taxi_1000.csv real taxi trips
are matched as well. Times are processor seconds of one thread.

Peers run on the same trips if they are installed: leuvenmapmatching on a small town, and Valhalla
on Porto.
"""

import csv
import json
import time
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from harness import data, print_figures, timed, warm_seconds
from hushway.families.links.matching.matcher import Matcher
from hushway.families.links.matching.routing import shortest_routes
from hushway.families.links.matching.traces import Reason, Traces, Ways
from hushway.families.links.public.read import read_roads
from hushway.families.links.public.roads import RoadNetwork
from matching_leuven import INSTALLED, Leuven
from matching_valhalla import Valhalla, builder, ways_of

RUNS = 3
TRIPS = 150
SPEED = 10.0
SIGMA = 10.0
DEGREE = 111_195.0
SIDE = 112
SMALL_SIDE = 14
FEW_TRIPS = 40

# Processor seconds: other programs on the machine do not count.
seconds_of = partial(warm_seconds, runs=RUNS, clock=time.process_time)


def town(side: int = SIDE, seed: int = 1) -> RoadNetwork:
    """A town of crooked streets, all of them two-way; about 50,000 links unless it is smaller."""
    rng = np.random.default_rng(seed)
    grid = np.meshgrid(np.arange(side), np.arange(side))
    lon, lat = ((g.ravel() + rng.uniform(-0.25, 0.25, side**2)) * 110 / DEGREE for g in grid)
    node = np.arange(side**2).reshape(side, side)
    pairs = np.concatenate(
        [
            np.column_stack([node[:, :-1].ravel(), node[:, 1:].ravel()]),
            np.column_stack([node[:-1].ravel(), node[1:].ravel()]),
        ]
    )
    tail, head = np.concatenate([pairs, pairs[:, ::-1]]).T.copy()
    links = len(tail)
    return RoadNetwork(
        node_id=np.arange(side**2).astype(np.str_),
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


def beside_leuven() -> dict[str, float]:
    """Both on a few trips through a small town."""
    if not INSTALLED:
        print("leuvenmapmatching is not installed: left out.")
        return {}
    roads = town(SMALL_SIDE)
    traces, truth = simulate(roads, routes_of(roads, FEW_TRIPS), 5.0)
    ours, peer = Matcher(roads), Leuven(roads)
    spent = seconds_of(lambda: ours.match(traces, threads=1))
    peer_spent, found = timed(lambda: peer.match(traces), clock=time.process_time)
    return {
        "small town: positions": float(len(truth)),
        "small town: positions/s": len(truth) / spent,
        "small town: positions/s, Leuven": len(truth) / peer_spent,
        "small town: times as fast as Leuven": peer_spent / spent,
        "small town: link accuracy": float((ours.match(traces).point_link == truth).mean()),
        "small town: link accuracy, Leuven": float((found == truth).mean()),
    }


def taxi_trips(file: Path, roads: RoadNetwork) -> Traces:
    """Real trips of taxis: a position every 15 seconds."""
    with file.open(newline="") as lines:
        trips = [np.array(json.loads(row["POLYLINE"])) for row in csv.DictReader(lines)]
    trips = [trip for trip in trips if len(trip) >= 2]
    x, y = roads.plane.to_metres(*np.concatenate(trips).T).T.copy()
    return Traces(
        start=np.concatenate([[0], np.cumsum([len(trip) for trip in trips])]),
        x=x,
        y=y,
        seconds=np.concatenate([np.arange(len(trip)) * 15.0 for trip in trips]),
    )


def every_minute(traces: Traces) -> Traces:
    """The same trips with every fourth position, and the last one of each."""
    position = np.arange(len(traces.x)) - np.repeat(traces.start[:-1], np.diff(traces.start))
    kept = position % 4 == 0
    kept[traces.start[1:] - 1] = True
    before = np.concatenate([[0], np.cumsum(kept)])
    return Traces(
        start=before[traces.start], x=traces.x[kept], y=traces.y[kept], seconds=traces.seconds[kept]
    )


def beside_valhalla(porto: Path, roads: RoadNetwork, matcher: Matcher) -> dict[str, float]:
    """Both on simulated trips and, if there are any, on real ones."""
    measured = {}
    way = np.array([int(link.split(":")[0]) for link in roads.link_id.tolist()])
    program = builder()
    peer = None if program is None else Valhalla(program, porto, roads.plane)
    if peer is None:
        print("Valhalla is not installed with the program that builds tiles: left out.")
    simulated, truth = simulate(roads, routes_of(roads, TRIPS), 5.0)
    sources: dict[str, tuple[Traces, float | None]] = {"simulated": (simulated, SIGMA)}
    taxis = porto.parent / "porto_taxi_1000.csv"
    if taxis.is_file():
        sources["taxi"] = (taxi_trips(taxis, roads), None)
        sources["taxi, every minute"] = (every_minute(sources["taxi"][0]), None)
    for name, (traces, accuracy) in sources.items():
        # Default arguments: each function must keep its own traces.
        spent = seconds_of(lambda traces=traces: matcher.match(traces, threads=1))
        ways = matcher.match(traces)
        ours = np.where(ways.point_link >= 0, way[ways.point_link], -1)
        measured[f"{name}: positions/s"] = len(traces.x) / spent
        measured[f"{name}: trips broken"] = float((ways.reason == Reason.BROKEN).sum())
        if name == "simulated":
            measured["simulated: way accuracy"] = float((ours == way[truth]).mean())
        if peer is None:
            continue
        requests = peer.requests(traces, accuracy)
        peer_spent = seconds_of(lambda requests=requests: peer.match(requests))
        theirs = ways_of(traces, peer.match(requests))
        measured[f"{name}: positions/s, Valhalla"] = len(traces.x) / peer_spent
        measured[f"{name}: times as fast as Valhalla"] = peer_spent / spent
        if name == "simulated":
            measured["simulated: way accuracy, Valhalla"] = float((theirs == way[truth]).mean())
        both = (ours >= 0) & (theirs >= 0)
        known = both & np.isin(theirs, way)
        measured[f"{name}: same way as Valhalla"] = float((ours == theirs)[both].mean())
        measured[f"{name}: same way, on ways both have"] = float((ours == theirs)[known].mean())
    return measured


def main() -> dict[str, float]:
    porto = data("roads", "porto_portugal.osm.pbf")
    roads = town() if porto is None else read_roads(porto)[0]
    matcher = Matcher(roads)
    measured = {"links": float(roads.links), **alone(roads, matcher), **beside_leuven()}
    if porto is not None:
        measured |= beside_valhalla(porto, roads, matcher)
    print_figures(measured)
    return measured


def alone(roads: RoadNetwork, matcher: Matcher) -> dict[str, float]:
    """Speed and quality at several rates, counting within radii, and routes."""
    measured = {}
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
