"""Who drives: people with homes and usual places, and vehicles of fleets with depots."""

import math
from dataclasses import dataclass

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.families.links.city.settings import Devices, Habits
from hushway.families.links.public.roads import RoadNetwork
from hushway.study.chance import draw

_HUBS = 6
_DEPOTS = 8
_WORKING = 0.7
FAVOURITES = 2
CUSTOMERS = 12

# A person takes the nearest of so many places that would do.
_NEAREST_WORK, _NEAREST_LEISURE, _NEAREST_ERRAND = 3, 3, 6


@dataclass(frozen=True, kw_only=True, eq=False)
class Ground:
    """Where things are in a city: chances of links to be lived at, worked at or visited.

    Attributes:
        roads: The road network.
        reverse: The other direction of each link, or -1.
        middle: The middle of each link (x, y) in metres.
        homes: Chance of each link to have a home, up to a factor.
        offices: Chance of each link to be worked at.
        shops: Chance of each link to be visited.
        depots: Links where fleets are kept.
    """

    roads: RoadNetwork
    reverse: IntArray
    middle: FloatArray
    homes: FloatArray
    offices: FloatArray
    shops: FloatArray
    depots: IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class People:
    """Persons and their usual places. A place is a link; how far along it depends on the link.

    Attributes:
        fleet: Whether the person is a vehicle of a fleet.
        home: Where the person lives, or the vehicle is kept.
        work: Where the person works, or -1.
        errands: Favourite places for errands, a row for each person.
        leisure: Favourite places for leisure.
        customers: Places that a vehicle is sent to.
        taste: Which of the tastes in routes the person has, from 0 to 1.
        haste: Times as fast as others.
        interval_s: Time between two positions of the person's device.
        noise_m: Deviation of its positions.
        reporting: Whether it reports speed and heading.
    """

    fleet: BoolArray
    home: IntArray
    work: IntArray
    errands: IntArray
    leisure: IntArray
    customers: IntArray
    taste: FloatArray
    haste: FloatArray
    interval_s: IntArray
    noise_m: FloatArray
    reporting: BoolArray

    def __len__(self) -> int:
        return len(self.fleet)


def ground_of(roads: RoadNetwork, rng: np.random.Generator) -> Ground:
    """Returns where people live and work in a city."""
    first, last = roads.points[roads.start[:-1]], roads.points[roads.start[1:] - 1]
    middle = (first + last) / 2
    far = np.hypot(*(middle / np.abs(middle).max()).T)
    # Nobody lives or works at a motorway or on its ramps.
    quiet = roads.length * (roads.road_class >= 4)
    busy = roads.length * ((roads.road_class >= 2) & (roads.speed < 60))
    if not quiet.any():
        quiet = roads.length
    if not busy.any():
        busy = roads.length
    hubs = middle[draw(rng, busy * np.exp(-2 * far), _HUBS)]
    spread = np.abs(middle).max() / 8
    near = np.zeros(len(middle))
    for hub, weight in zip(hubs, 1 / np.arange(1, _HUBS + 1), strict=True):
        near += weight * np.exp(-np.hypot(*(middle - hub).T) / spread)
    return Ground(
        roads=roads,
        reverse=_reverse(roads),
        middle=middle,
        homes=quiet * np.exp(-1.2 * far**2),
        offices=busy * near,
        shops=busy * (near + 0.2),
        depots=draw(rng, busy * (far > 0.5) + 1e-9, _DEPOTS),
    )


def _reverse(roads: RoadNetwork) -> IntArray:
    order = np.argsort(roads.street, kind="stable")
    street = roads.street[order]
    pair = np.flatnonzero(street[:-1] == street[1:])
    reverse = np.full(roads.links, -1, dtype=np.int64)
    reverse[order[pair]], reverse[order[pair + 1]] = order[pair + 1], order[pair]
    # A number shared by pieces that are no two directions of one street is no reversal.
    back = np.flatnonzero(reverse >= 0)
    other = reverse[back]
    same = (roads.tail[back] == roads.head[other]) & (roads.head[back] == roads.tail[other])
    reverse[back[~same]] = -1
    return reverse


def people_of(
    ground: Ground, count: int, habits: Habits, devices: Devices, rng: np.random.Generator
) -> People:
    """Returns so many people."""
    fleet = rng.random(count) < habits.fleet_share
    home = draw(rng, ground.homes, count)
    kept = ground.depots[np.minimum((rng.random(count) * _DEPOTS).astype(np.int64), _DEPOTS - 1)]
    home = np.where(fleet, kept, home)
    working = (rng.random(count) < _WORKING) & ~fleet
    work = _nearest(ground, home, ground.offices, (1, _NEAREST_WORK), rng)[:, 0]
    shortest, longest = devices.interval_s
    ratio = math.log(longest / shortest)
    return People(
        fleet=fleet,
        home=home,
        work=np.where(working, work, -1),
        errands=_nearest(ground, home, ground.shops, (FAVOURITES, _NEAREST_ERRAND), rng),
        leisure=_nearest(ground, home, ground.shops, (FAVOURITES, _NEAREST_LEISURE), rng),
        # Vehicles serve one part of the city, around a place that is not the depot.
        customers=_nearest(
            ground, draw(rng, ground.homes, count), ground.homes, (CUSTOMERS, 3), rng
        ),
        taste=rng.random(count),
        haste=0.85 + 0.3 * rng.random(count),
        interval_s=np.rint(shortest * np.exp(ratio * rng.random(count))).astype(np.int64),
        noise_m=devices.noise_m * (0.6 + 0.8 * rng.random(count)),
        reporting=rng.random(count) < devices.reporting,
    )


def _nearest(
    ground: Ground,
    around: IntArray,
    weights: FloatArray,
    shape: tuple[int, int],
    rng: np.random.Generator,
) -> IntArray:
    """Returns places for each person: each the nearest of several that are drawn."""
    places, choices = shape
    drawn = draw(rng, weights, len(around) * places * choices).reshape(-1, places, choices)
    away = ground.middle[drawn] - ground.middle[around][:, None, None]
    best = np.hypot(away[..., 0], away[..., 1]).argmin(axis=2)
    return np.take_along_axis(drawn, best[..., None], axis=2)[..., 0]
