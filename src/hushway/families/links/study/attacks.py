"""Attacks on published links: where does somebody live, and was somebody on a road at all?

The attacker knows everybody else's trips, and everything about the person but one thing. That is
what differential privacy guarantees to withstand. Both attacks succeed on DP-ANI, which publishes
exact counts; on noisy counts of every link they do hardly better than a guess.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.matching.routing import shortest_routes
from hushway.families.links.matching.traces import Traces
from hushway.families.links.mechanism.counts import LinkCounts
from hushway.families.links.planning.invented_rows import Drives
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.public.universe import LinkUniverse, MovementCells
from hushway.families.links.rows.bounding import ArrayMovements
from hushway.families.links.study.paper import PaperLinksPlan, Study, paper_links, study_of
from hushway.families.links.study.scene import LinkScene
from hushway.privacy.measured import Internal, Measured
from hushway.privacy.query import Query

_INTERVAL_S = 5.0
_PACE_M_S = 9.0
_GPS_M = 6.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Commuter:
    """Somebody who drives from one home to one place of work, again and again.

    Attributes:
        work: The node of the place of work, which the attacker knows.
    """

    home: int
    work: int
    route: IntArray


@dataclass(frozen=True, kw_only=True)
class Advantage:
    """How well an attacker tells with from without.

    Attributes:
        seen: Share of releases with the person that the attacker says hold the person.
        false_alarms: Share of releases without the person of which the attacker says so.
    """

    seen: float
    false_alarms: float

    @property
    def value(self) -> float:
        """0 for a guess, 1 for certainty."""
        return self.seen - self.false_alarms


def most_advantage(epsilon: float, delta: float) -> float:
    """Returns the largest advantage that (epsilon, delta)-differential privacy allows."""
    return math.tanh(epsilon / 2) + 2 * delta / (math.exp(epsilon) + 1)


def commuters(roads: RoadNetwork, count: int, rng: np.random.Generator) -> list[Commuter]:
    """Returns people with homes and places of work anywhere, some links apart."""
    found: list[Commuter] = []
    cost = roads.length / roads.speed
    while len(found) < count:
        home, work = (rng.integers(roads.nodes, size=count) for _ in range(2))
        start, links = shortest_routes(roads, home, work, cost)
        found += [
            Commuter(home=int(home[i]), work=int(work[i]), route=links[start[i] : start[i + 1]])
            for i in range(count)
            if start[i + 1] - start[i] >= _FEWEST_LINKS
        ]
    return found[:count]


def traces_of(roads: RoadNetwork, routes: Sequence[IntArray], rng: np.random.Generator) -> Traces:
    """Returns positions along routes, every few seconds, with the error of a device."""
    starts, xs, ys, seconds = [0], [], [], []
    for route in routes:
        at = np.concatenate([np.arange(roads.start[i], roads.start[i + 1]) for i in route])
        course = roads.points[at]
        along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(course, axis=0).T))])
        time = np.arange(0.0, along[-1] / _PACE_M_S, _INTERVAL_S)
        time = np.append(time, along[-1] / _PACE_M_S)
        xs.append(np.interp(time * _PACE_M_S, along, course[:, 0]))
        ys.append(np.interp(time * _PACE_M_S, along, course[:, 1]))
        seconds.append(time)
        starts.append(starts[-1] + len(time))
    x, y = np.concatenate(xs), np.concatenate(ys)
    return Traces(
        start=np.array(starts),
        x=x + rng.normal(0.0, _GPS_M, len(x)),
        y=y + rng.normal(0.0, _GPS_M, len(y)),
        seconds=np.concatenate(seconds),
    )


def paper_home(
    roads: RoadNetwork, person: Commuter, trips: int, epsilon: float, rng: np.random.Generator
) -> Internal[float]:
    """Runs DP-ANI on trips of one person, averages where they begin, and tells the metres off.

    The attacker sees sums over all trips only, and takes those of other people away. More trips
    leave than arrive at the nodes where some begin, so the sums tell how many began where.
    """
    study = study_of(roads, traces_of(roads, [person.route] * trips, rng))
    plan = PaperLinksPlan(rule="adaptive", epsilon=epsilon)
    ways = paper_links(plan, study, rng).value.ways
    used = np.bincount(ways.link, minlength=roads.links).astype(np.float64)
    began = np.maximum(_outflow(used, roads), 0.0)
    guess = began @ roads.node_points / max(began.sum(), 1.0)
    return Internal(_metres(guess, person, roads))


def sound_home(
    scene: LinkScene, person: Commuter, mechanism: LinkCounts, homes: IntArray, seed: int
) -> Internal[float]:
    """Measures link counts of one person, and tells how many metres off the best home is.

    Nobody else is in the scene: that is what is left when the attacker takes others away. The
    attacker knows the place of work, and for every possible home the links that the person would be
    on. Noisy counts are added up over these links, less half their number: the largest sum is the
    most likely home under Gaussian noise. The fit could only make it worse.
    """
    roads = scene.universe.roads
    counter = scene.bounded(mechanism.limits)
    noisy = _noisy_items(scene.measured(counter, mechanism, seed))
    cost = roads.length / roads.speed
    start, links = shortest_routes(roads, homes, np.full_like(homes, person.work), cost)
    routes = [links[start[i] : start[i + 1]] for i in range(len(homes))]
    scores = [
        noisy[route].sum() + noisy[roads.links + home] - len(route) / 2
        for home, route in zip(homes, routes, strict=True)
    ]
    return Internal(_metres(roads.node_points[homes[int(np.argmax(scores))]], person, roads))


def guessed_home(person: Commuter, homes: IntArray, roads: RoadNetwork) -> float:
    """Returns how far the middle of all possible homes is from the home: a guess without data."""
    return _metres(roads.node_points[homes].mean(axis=0), person, roads)


def away_from(
    road: int, people: Sequence[Commuter], roads: RoadNetwork, metres: float
) -> list[Commuter]:
    """Returns people who are never near a link, so that noise does not lead them there."""
    middle = (roads.node_points[roads.tail] + roads.node_points[roads.head]) / 2
    return [
        person
        for person in people
        if np.hypot(*(middle[person.route] - middle[road]).T).min() > metres
    ]


def drives_of_person(person: Commuter, roads: RoadNetwork) -> Drives:
    """Returns what somebody does, however often: the links, the beginning and the end."""
    ends = [roads.links + person.home, roads.links + roads.nodes + person.work]
    item = np.concatenate([person.route, ends]).astype(np.int64)
    return Drives(person=np.zeros_like(item), item=item)


def paper_presence(
    study: Study, alone: Study, road: int, epsilon: float, runs: range
) -> Internal[Advantage]:
    """Asks DP-ANI with and without a lone driver whether somebody was on a road.

    Args:
        study: Everybody else. The road is unused: nobody comes near it, else noise at their ends
            may lead them there, and they are taken for the driver.
        road: The link, somewhere in the middle of the driver's trip.
        runs: Seeds of the noise.
    """
    plan = PaperLinksPlan(rule="adaptive", epsilon=epsilon)
    seen = false = 0
    for run in runs:
        rng = np.random.default_rng(run)
        others = paper_links(plan, study, rng).value.counts
        driver = paper_links(plan, alone, rng).value.counts
        false += int(others[road] > 0)
        seen += int(others[road] + driver[road] > 0)
    return Internal(Advantage(seen=seen / len(runs), false_alarms=false / len(runs)))


def sound_presence(
    universe: LinkUniverse, others: Drives, person: Drives, mechanism: LinkCounts, runs: range
) -> Internal[Advantage]:
    """Asks noisy link counts with and without a person whether the person is in them.

    The attacker takes everybody else away and adds up what is left on the person's items, which is
    the likelihood ratio of Gaussian noise, and says yes above half of what the person adds.
    """
    one = int(others.person.max(initial=-1)) + 1
    both = Drives(
        person=np.concatenate([others.person, person.person * 0 + one]),
        item=np.concatenate([others.item, person.item]),
    )
    without = LinkScene(universe=universe, drives=others)
    scenes = (without, LinkScene(universe=universe, drives=both))
    known = _exact_items(without.bounded(mechanism.limits), universe)
    items = np.unique(person.item)
    said = []
    for side, scene in enumerate(scenes):
        counter = scene.bounded(mechanism.limits)
        yes = 0
        for run in runs:
            # Different noise with and without the person: the attacker sees one release only.
            noisy = _noisy_items(scene.measured(counter, mechanism, 2 * run + side))
            yes += int((noisy - known)[items].sum() > len(items) / 2)
        said.append(yes / len(runs))
    return Internal(Advantage(seen=said[1], false_alarms=said[0]))


_FEWEST_LINKS = 8


def _outflow(counts: FloatArray, roads: RoadNetwork) -> FloatArray:
    leaving = np.bincount(roads.tail, counts, minlength=roads.nodes)
    return np.asarray(leaving - np.bincount(roads.head, counts, minlength=roads.nodes))


def _metres(guess: FloatArray, person: Commuter, roads: RoadNetwork) -> float:
    return float(np.hypot(*(guess - roads.node_points[person.home])))


def _noisy_items(measured: Sequence[object]) -> FloatArray:
    first = measured[0]
    if not isinstance(first, Measured):
        raise TypeError(type(first))
    return first.values.astype(np.float64)


def _exact_items(counter: ArrayMovements, universe: LinkUniverse) -> FloatArray:
    cells = MovementCells(universe=universe)
    exact = counter.count(Query(name=cells.name, cells=cells))
    counts = np.zeros(universe.items)
    counts[exact.cells] = exact.values
    return counts
