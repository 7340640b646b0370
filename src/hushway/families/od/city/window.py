"""The matched window, 08:00-10:00: so many trips in so many cells, for every seed."""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import IntArray
from hushway.families.od.city.demand import Corridors, Leg, profile
from hushway.families.od.city.figures import WINDOW, Day, Figures
from hushway.geography.itineraries import MODES
from hushway.study.chance import draw, largest, race

# Part of the window's travellers who travel again in it if their way leads back: errands, schools,
# couriers.
_TRAVEL_ON = 0.4


@dataclass(frozen=True, kw_only=True)
class WindowTrips:
    """The trips of the window, each given to one rider.

    A rider's trips alternate between OUT and BACK, in half-hours that increase.

    Attributes:
        rider: Number of the rider, without gaps.
        corridor: The rider's corridor.
        leg: OUT or BACK.
        period: Half-hour of the day.
    """

    rider: IntArray
    corridor: IntArray
    leg: IntArray
    period: IntArray


def fill_window(
    corridors: Corridors,
    mode_of: IntArray,
    *,
    day: Day,
    figures: Figures,
    rng: np.random.Generator,
) -> WindowTrips:
    """Draws the window: first the cells in use, then one trip for each of them, then all others."""
    corridor, leg, period = (
        axis.ravel()
        for axis in np.meshgrid(
            np.arange(len(corridors)), (Leg.OUT, Leg.BACK), tuple(WINDOW), indexing="ij"
        )
    )
    profiles = np.stack([profile(day, Leg.OUT), profile(day, Leg.BACK)])
    weight = corridors.rate[day][corridor] * profiles[leg, period]

    keys = race(rng, weight)
    home, usual = corridors.home[corridor], corridors.usual[corridor]
    mode = np.where(leg == Leg.OUT, mode_of[home, usual], mode_of[usual, home])
    for number in range(len(MODES)):
        # Every mode is used, so that no seed gives a table without one of them.
        keys[np.argmax(np.where(mode == number, keys, -np.inf))] = np.inf
    used = largest(keys, figures.window_cells)

    more = draw(rng, weight[used], figures.window_trips - figures.window_cells)
    trips = np.repeat(used, 1 + np.bincount(more, minlength=len(used)))
    rider = _riders(corridor[trips], leg[trips], period[trips], rng)
    return WindowTrips(rider=rider, corridor=corridor[trips], leg=leg[trips], period=period[trips])


def _riders(
    corridor: IntArray, leg: IntArray, period: IntArray, rng: np.random.Generator
) -> IntArray:
    """Gives every trip of the window a rider, some of whom make several."""
    previous = np.full(len(corridor), -1)
    open_end = rng.random(len(corridor)) < _TRAVEL_ON
    for now in tuple(WINDOW)[1:]:
        early = np.flatnonzero(open_end & (period < now))
        late = np.flatnonzero(period == now)
        # A way back continues a way out on the same corridor, and the other way round.
        first, second = _paired(
            2 * corridor[early] + leg[early], 2 * corridor[late] + 1 - leg[late]
        )
        previous[late[second]] = early[first]
        open_end[early[first]] = False
    root = np.arange(len(corridor))
    for _ in tuple(WINDOW)[1:]:
        root = np.where(previous[root] >= 0, previous[root], root)
    return np.asarray(np.unique(root, return_inverse=True)[1], dtype=np.int64)


def _paired(left: IntArray, right: IntArray) -> tuple[IntArray, IntArray]:
    """Pairs the k-th entry of a value on the left with its k-th entry on the right."""
    width = max(len(left), len(right), 1)
    _, first, second = np.intersect1d(
        left * width + rank_within(left),
        right * width + rank_within(right),
        assume_unique=True,
        return_indices=True,
    )
    return first, second


def rank_within(groups: IntArray) -> IntArray:
    """Returns how many earlier entries are in the same group, for each entry."""
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]][: len(ordered)])
    rank = np.empty(len(groups), dtype=np.int64)
    sizes = np.diff(np.r_[starts, len(ordered)])
    rank[order] = np.arange(len(groups)) - np.repeat(starts, sizes)
    return rank
