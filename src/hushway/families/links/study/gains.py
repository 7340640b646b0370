"""What each step of the fit of link counts gains, with true routes on a synthetic city."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.matching.routing import shortest_routes
from hushway.families.links.mechanism.terms import CLASSES, link_counts, smaller_noise
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.public.universe import LinkUniverse, MovementCells, MovementLimits
from hushway.families.links.rows.memory import ArrayMovements
from hushway.families.links.study.scene import Drives, LinkScene, dense_counts, one_period
from hushway.privacy.loss import Loss
from hushway.privacy.measured import Internal, Measured
from hushway.study.chance import generator

MAX_ITEMS: Final = 60
_ROUTINGS = 10
_STREAM = 160
# Trips are mostly short: the typical distance between their ends, in metres.
_TYPICAL_M = 2500.0
_NEARBY = 8

Fit = Callable[[LinkScene, ArrayMovements, Loss, int], FloatArray]


def random_drives(roads: RoadNetwork, trips: int, seed: int) -> Drives:
    """Returns trips of as many people: fastest routes, each by somebody's own idea of fast.

    Of some places for the other end, a near one is more likely to be taken than a far one.
    """
    rng = generator(seed, _STREAM)
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


def measure_link_gains(
    roads: RoadNetwork, trips: int, *, epsilon: Fraction, delta: Fraction, runs: range, seed: int
) -> Internal[dict[str, list[float]]]:
    """Fits noisy counts in ever better ways.

    Every way costs the same; one that asks for sums by class has more noise on the links.

    Args:
        roads: The road network.
        trips: How many people drive, once each.
        epsilon: The budget for each person.
        delta: The chance of failure.
        runs: Seeds of the noise.
        seed: Chooses the drives.

    Returns:
        By way to fit: the root mean square error over all links of each run.
    """
    scene = LinkScene(universe=one_period(roads), drives=random_drives(roads, trips, seed))
    budget = smaller_noise(epsilon, delta, _LIMITS)
    counter = scene.bounded(_LIMITS)
    return Internal(
        {
            name: [
                float(np.sqrt(((fit(scene, counter, budget, run) - scene.truth) ** 2).mean()))
                for run in runs
            ]
            for name, fit in FITS.items()
        }
    )


def _nodes(rng: np.random.Generator, roads: RoadNetwork, count: int) -> IntArray:
    return np.asarray(rng.random(count) * roads.nodes, dtype=np.int64)


def _noisy(scene: LinkScene, counter: ArrayMovements, budget: Loss, run: int) -> FloatArray:
    mechanism = link_counts(_LIMITS, budget=budget, classes=Fraction(0))
    measured = scene.measured(counter, mechanism, run)
    return _links(measured[0], scene.universe)


def _clamped(scene: LinkScene, counter: ArrayMovements, budget: Loss, run: int) -> FloatArray:
    return np.maximum(_noisy(scene, counter, budget, run), 0.0)


def _fitted(*, classes: Fraction = CLASSES, expect: bool = False, conserve: bool = False) -> Fit:
    def fit(scene: LinkScene, counter: ArrayMovements, budget: Loss, run: int) -> FloatArray:
        mechanism = link_counts(
            _LIMITS, budget=budget, classes=classes, shown=0.0, expect=expect, conserve=conserve
        )
        measured = scene.measured(counter, mechanism, run)
        return dense_counts(mechanism.fit(measured, scene.universe))

    return fit


def _links(measured: object, universe: LinkUniverse) -> FloatArray:
    if not (isinstance(measured, Measured) and isinstance(measured.query.cells, MovementCells)):
        raise TypeError(type(measured))
    return measured.values[: universe.roads.links].astype(np.float64)


_LIMITS = MovementLimits(max_items=MAX_ITEMS)
FITS: Final[Mapping[str, Fit]] = {
    "plain noise": _noisy,
    "not negative": _clamped,
    "and sums by class and zone": _fitted(),
    "and the usual count of the class": _fitted(expect=True),
    "and balanced nodes (the product)": _fitted(expect=True, conserve=True),
}
