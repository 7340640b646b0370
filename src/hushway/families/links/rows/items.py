"""From ways to items: links by the time they were entered, and the nodes at both ends of trips."""

import numpy as np

from hushway.arrays import BoolArray, IntArray
from hushway.families.links.matching.traces import Ways
from hushway.families.links.public.universe import SPEED_STEP, LinkUniverse
from hushway.families.links.rows.bounding import PeopleItems
from hushway.families.links.rows.periods import PeriodLookup

_KMH = 3.6
# Far beyond any limit of steps, and far from where a float is no whole number of 64 bits.
_MOST_STEPS = 1e6


def items_of(
    ways: Ways, person: IntArray, salt: IntArray, universe: LinkUniverse, lookup: PeriodLookup
) -> PeopleItems:
    """Returns the items of trips: links, beginnings and ends, those outside of periods left out.

    A link that a stretch begins or ends with is driven on only in part, nobody knows how far, so
    it tells nothing about speeds.

    Privacy:
        Every item depends on one trip and public facts alone.

    Args:
        ways: The ways of trips.
        person: Index of each trip's person, ascending.
        salt: A number for each person.
        universe: The public roads, periods and zones.
        lookup: The period of each second.
    """
    roads = universe.roads
    length = np.diff(ways.start)
    trips = np.flatnonzero(length)
    first, last = ways.start[trips], ways.start[trips + 1] - 1
    whole = _driven_whole(ways)
    nothing, never = np.zeros(2 * len(trips), np.int64), np.full(2 * len(trips), np.inf)
    owner = np.concatenate([np.repeat(person, length), person[trips], person[trips]])
    item = np.concatenate(
        [
            ways.link,
            roads.links + roads.tail[ways.link[first]],
            roads.links + roads.nodes + roads.head[ways.link[last]],
        ]
    )
    time = np.concatenate([ways.entered, ways.entered[first], ways.left[last]])
    when = np.concatenate([np.where(whole, ways.entered, np.inf), never])
    steps = np.concatenate([_steps(ways, whole, universe), nothing])
    period = lookup.at(time)
    kept = np.flatnonzero(period >= 0)
    kept = kept[np.argsort(owner[kept], kind="stable")]
    return PeopleItems(
        start=np.searchsorted(owner[kept], np.arange(len(salt) + 1)),
        code=period[kept] * universe.items + item[kept],
        when=when[kept],
        steps=steps[kept],
        salt=salt,
    )


def _driven_whole(ways: Ways) -> BoolArray:
    """Says which links are neither the first nor the last of a stretch, and took some time."""
    ends = np.ones(len(ways.link) + 1, dtype=np.bool_)
    ends[:-1] = ways.fresh
    ends[ways.start] = True
    return ~ends[:-1] & ~ends[1:] & (ways.left > ways.entered)


def _steps(ways: Ways, whole: BoolArray, universe: LinkUniverse) -> IntArray:
    """Returns how many steps the speed on each link is from the usual one; 0 if nobody knows."""
    roads = universe.roads
    took = np.where(whole, ways.left - ways.entered, 1.0)
    speed = roads.length[ways.link] / took * _KMH
    steps = np.rint((speed - roads.speed[ways.link]) / SPEED_STEP)
    return np.where(whole, np.clip(steps, -_MOST_STEPS, _MOST_STEPS), 0.0).astype(np.int64)
