"""Invented drives instead of a plan's rows: its release is tried on them.

People drive fastest routes between nodes that are rather near each other, more of them by day than
by night. That is the general shape of traffic and no fact about anybody.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.engine.key import BoundingKey
from hushway.errors import PlanError
from hushway.families.links.matching.routing import shortest_routes
from hushway.families.links.mechanism.terms import LinksMechanism
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.public.universe import LinkUniverse
from hushway.families.links.rows.bounding import ArrayMovements
from hushway.numerics.chance import draw, generator
from hushway.privacy.query import Counter
from hushway.privacy.randomness import SeededSource
from hushway.release.forecast.crowd import ExpectedPopulation
from hushway.release.job import Job

# Routing so many drives takes some seconds on the roads of a large city.
MOST_DRIVES: Final = 50_000
_SEED: Final = 1
_PERIOD_STREAM: Final = 161
_DRIVE_STREAM: Final = 160
_ROUTINGS: Final = 10
# Trips are mostly short: the typical distance between their ends, in metres.
_TYPICAL_M: Final = 2500.0
_NEARBY: Final = 8
_SAMPLE: Final = 200
_LIVELY_H: Final = 14.0
_SPREAD_H: Final = 5.0


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Drives:
    """What people did: a row for each item of a person, in any order, with repetitions.

    Attributes:
        person: Code of the person.
        item: The link; or links + node for a beginning; or links + nodes + node for an end.
    """

    person: IntArray
    item: IntArray


def random_drives(roads: RoadNetwork, trips: int, seed: int) -> Drives:
    """Returns trips of as many people: fastest routes, each by somebody's own idea of fast.

    Of some places for the other end, a near one is more likely to be taken than a far one.
    """
    rng = generator(seed, _DRIVE_STREAM)
    origin = _nodes(rng, roads, trips)
    choices = np.column_stack([_nodes(rng, roads, trips) for _ in range(_NEARBY)])
    away = roads.node_points[choices] - roads.node_points[origin][:, None, :]
    keys = np.hypot(away[..., 0], away[..., 1]) / _TYPICAL_M + np.log(
        -np.log(rng.random(choices.shape))
    )
    destination = choices[np.arange(trips), keys.argmin(axis=1)]
    seconds = roads.length / roads.speed
    person, item = [], []
    for part in np.array_split(np.arange(trips), _ROUTINGS):
        cost = seconds * (0.7 + 0.6 * rng.random(roads.links))
        start, links = shortest_routes(roads, origin[part], destination[part], cost)
        length = np.diff(start)
        driven = np.flatnonzero(length)
        begins = roads.links + origin[part[driven]]
        ends = roads.links + roads.nodes + destination[part[driven]]
        person.append(np.concatenate([np.repeat(part, length), part[driven], part[driven]]))
        item.append(np.concatenate([links, begins, ends]))
    return Drives(person=np.concatenate(person), item=np.concatenate(item))


def _nodes(rng: np.random.Generator, roads: RoadNetwork, count: int) -> IntArray:
    return np.asarray(rng.random(count) * roads.nodes, dtype=np.int64)


def invented_links(job: Job, crowd: ExpectedPopulation) -> Counter:
    """Returns who counts invented drives, about so many links in all, each person bounded.

    Privacy:
        Reads no row: the drives follow from public roads and the guess.

    Raises:
        PlanError: The guess makes no sense, or takes too long to try.
    """
    universe, mechanism = job.geography, job.mechanism
    assert isinstance(universe, LinkUniverse)  # noqa: S101  what a links plan makes
    assert isinstance(mechanism, LinksMechanism)  # noqa: S101  what a links plan makes
    roads = universe.roads
    sample = random_drives(roads, _SAMPLE, _SEED)
    links_a_drive = max(1.0, len(sample.item) / _SAMPLE)
    drives = max(1, round(crowd.trips / links_a_drive))
    people = drives if crowd.people is None else crowd.people
    if drives > MOST_DRIVES:
        raise PlanError(
            f"No more than {MOST_DRIVES:,} drives are invented, and this guess asks for more.",
            advice=f"Try a guess of at most {MOST_DRIVES * links_a_drive:,.0f} links travelled.",
        )
    driven = random_drives(roads, drives, _SEED)
    rng = generator(_SEED, _PERIOD_STREAM)
    period = draw(rng, _rhythm(universe), drives)
    return ArrayMovements(
        universe=universe,
        limits=mechanism.limits,
        key=BoundingKey.draw(SeededSource(_SEED)),
        # A drive is called after its driver where people are few.
        person=driven.person % people,
        period=period[driven.person],
        item=driven.item,
        steps=np.zeros_like(driven.item),
    )


def _rhythm(universe: LinkUniverse) -> FloatArray:
    """Returns how much is driven in each period, also where a week has them all."""
    periods = universe.periods
    middles = np.array([(part.starts + part.ends) / 2 for part in periods.day_parts]) / 60.0
    hours = np.tile(middles % 24.0, len(periods) // periods.parts)
    return np.asarray(0.1 + np.exp(-(((hours - _LIVELY_H) / _SPREAD_H) ** 2) / 2))
