"""What another step of a series measured, on the roads and periods of one step.

Links and nodes are known by their public ids, groups by the links that they hold.

Privacy:
    Everything here is computed from noisy values and public roads: no row, no budget.
"""

from dataclasses import dataclass, replace

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.fit.answers import Told, nesting_of
from hushway.families.links.fit.left_out_before import Beyond
from hushway.families.links.public.universe import ClassZones, LinkUniverse
from hushway.numerics.wandering import UNKNOWN


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyStep:
    """What another step measured, with what its bound left out.

    Attributes:
        counts: Persons by (period, item).
        variance: What the square of the error of each is expected to be; `UNKNOWN` where the step
            did not have the link or node.
        sums: Persons by (period, group of `ClassZones`).
        sum_variance: The same of sums.
        share: Of each group, persons that were taken to be missing for each that counted.
        beyond: What was measured beyond the bound; None if nothing was, or on other roads.
    """

    counts: FloatArray
    variance: FloatArray
    sums: FloatArray
    sum_variance: FloatArray
    share: FloatArray
    beyond: Beyond | None


def tells_of(own: LinkUniverse, universe: LinkUniverse) -> bool:
    """Whether a step measured links of a universe, in the same periods."""
    return own.periods.labels == universe.periods.labels and not set(
        own.roads.link_id.tolist()
    ).isdisjoint(universe.roads.link_id.tolist())


def noisy_step(told: Told, own: LinkUniverse, universe: LinkUniverse) -> NoisyStep:
    """Returns what a step measured, for the links and groups of another universe."""
    item = _items_in(own, universe)
    group = _groups_in(own, universe, item)
    counts, variance = (
        numbers.reshape(-1, own.items) for numbers in (told.whole.counts, told.whole.variance)
    )
    return NoisyStep(
        counts=_laid(counts, item, 0.0).ravel(),
        variance=_laid(variance, item, UNKNOWN).ravel(),
        sums=_laid(told.sums.values, group, 0.0),
        sum_variance=_laid(told.sums.variance, group, UNKNOWN),
        share=_laid(told.whole.share.reshape(told.sums.values.shape), group, 0.0),
        beyond=_beyond(told.beyond, own, universe, item) if (group >= 0).all() else None,
    )


def _beyond(
    told: Beyond | None, own: LinkUniverse, universe: LinkUniverse, item: IntArray
) -> Beyond | None:
    """Returns what was measured beyond the bound, in the order of the items of a universe."""
    if told is None or universe.items != own.items:
        return None
    cells = (np.arange(len(own.periods))[:, None] * own.items + item).ravel()
    nesting = nesting_of(ClassZones(universe=universe), np.arange(len(cells)))
    return replace(
        told,
        ground=replace(told.ground, counts=told.ground.counts[cells], nesting=nesting),
        told=tuple(replace(one, cells=one.cells[cells]) for one in told.told),
    )


def _laid(numbers: FloatArray, at: IntArray, otherwise: float) -> FloatArray:
    return np.where(at >= 0, numbers[:, at], otherwise)


def _items_in(own: LinkUniverse, universe: LinkUniverse) -> IntArray:
    """Returns where each item of a period is among those of another universe; -1 if nowhere."""
    roads, others = universe.roads, own.roads
    link = _places(roads.link_id.tolist(), others.link_id.tolist())
    node = _places(roads.node_id.tolist(), others.node_id.tolist())
    begins, ends = (np.where(node >= 0, node + first, -1) for first in _first_nodes(own))
    return np.concatenate([link, begins, ends])


def _first_nodes(universe: LinkUniverse) -> tuple[int, int]:
    roads = universe.roads
    return roads.links, roads.links + roads.nodes


def _places(names: list[str], among: list[str]) -> IntArray:
    index = {name: place for place, name in enumerate(among)}
    return np.array([index.get(name, -1) for name in names], dtype=np.int64)


def _groups_in(own: LinkUniverse, universe: LinkUniverse, item: IntArray) -> IntArray:
    """Returns which group of another universe holds the very items of each group; -1 if none."""
    groups, others = ClassZones(universe=universe), ClassZones(universe=own)
    group, other = groups.of(np.arange(universe.items)), others.of(np.arange(own.items))
    there = np.where(item >= 0, other[item], -1)
    first, last = np.full(groups.groups, others.groups), np.full(groups.groups, -1)
    np.minimum.at(first, group, there)
    np.maximum.at(last, group, there)
    size, of_other = (np.bincount(each) for each in (group, other))
    same = (first == last) & (first >= 0) & (size == of_other[first])
    return np.where(same, first, -1).astype(np.int64)
