"""What people mean to do: journeys from place to place, with the times they mean to leave at."""

import math
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.errors import PlanError
from hushway.families.links.public.roads import RoadNetwork
from hushway.numerics.chance import draw


@dataclass(frozen=True, kw_only=True)
class Habits:
    """When people drive, and which days are simulated.

    Attributes:
        fleet_share: Share of persons that are vehicles of a fleet.
        commuting: Chance that a person who works drives to work on a weekday.
        errands: Chance of an errand around noon on a weekday; twice that at the weekend.
        leisure: Chance of a trip for leisure in the evening.
        fleet_trips: Trips of a vehicle of a fleet in a day, on average.
    """

    first_day: date = date(2026, 3, 2)
    days: int = 1
    zone: str = "UTC"
    fleet_share: float = 0.06
    commuting: float = 0.85
    errands: float = 0.22
    leisure: float = 0.22
    fleet_trips: float = 14.0

    def __post_init__(self) -> None:
        shares = (self.fleet_share, self.commuting, self.errands, self.leisure)
        if not all(0 <= share <= 1 for share in shares) or self.fleet_trips < 2:
            raise PlanError(
                "Habits need shares and chances from 0 to 1, and at least 2 trips of a fleet.",
                advice="Leave out what you do not mean to change.",
            )
        if self.days < 1:
            raise PlanError("There must be a day to drive on.", advice="Give at least one day.")


@dataclass(frozen=True, kw_only=True)
class Devices:
    """What devices record of a trip.

    Attributes:
        interval_s: Shortest and longest time between two positions, in whole seconds. Each device
            has an interval of its own; short ones are as likely as long ones on a scale of ratios.
        noise_m: Usual deviation of a position along each axis. Each device has between 0.6 and 1.4
            times as much.
        gaps: Share of trips that lose the positions of a few minutes.
        jumps: Share of positions that lie some hundred metres off.
        reporting: Share of devices that report speed and heading.
    """

    interval_s: tuple[int, int] = (5, 60)
    noise_m: float = 6.0
    gaps: float = 0.03
    jumps: float = 0.002
    duplicates: float = 0.005
    reporting: float = 0.6

    def __post_init__(self) -> None:
        shares = (self.gaps, self.jumps, self.duplicates, self.reporting)
        shortest, longest = self.interval_s
        if not 1 <= shortest <= longest or self.noise_m < 0:
            raise PlanError(
                "Devices need an interval of at least one second and noise that is not negative.",
                advice="Give interval_s = (5, 60) and noise_m = 6, for example.",
            )
        if not all(0 <= share <= 1 for share in shares):
            raise PlanError("A share must lie between 0 and 1.", advice="Give 0.01 for 1%.")


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
        reverse: The other direction of each link, or -1.
        middle: The middle of each link (x, y) in metres.
        homes: Chance of each link to have a home, up to a factor.
        offices: Chance of each link to be worked at.
        shops: Chance of each link to be visited.
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
        taste: Which of the tastes in routes the person has, from 0 to 1.
        haste: Times as fast as others.
        interval_s: Time between two positions of the person's device.
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


DAY_S = 86_400
_HOUR_S = 3_600.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Journeys:
    """Planned trips in the order of persons, and of time within each person.

    Attributes:
        second: When the person means to leave, in seconds since the first midnight.
    """

    person: IntArray
    origin: IntArray
    destination: IntArray
    second: FloatArray

    def __len__(self) -> int:
        return len(self.person)

    def only(self, chosen: BoolArray | IntArray) -> "Journeys":
        """Returns some of the journeys."""
        return Journeys(**{name: column[chosen] for name, column in vars(self).items()})


def journeys_of(people: People, habits: Habits, rng: np.random.Generator) -> Journeys:
    """Returns the journeys of all days."""
    parts = [_of_consumers(people, habits, rng), _of_fleets(people, habits, rng)]
    joined = Journeys(
        person=np.concatenate([part.person for part in parts]),
        origin=np.concatenate([part.origin for part in parts]),
        destination=np.concatenate([part.destination for part in parts]),
        second=np.concatenate([part.second for part in parts]),
    )
    # Stable: whoever means to do two things at once does them in the order of the plan.
    return joined.only(np.lexsort((joined.second, joined.person)))


def _of_consumers(people: People, habits: Habits, rng: np.random.Generator) -> Journeys:
    """Returns commutes, errands around noon and leisure in the evening, always there and back."""
    person = np.flatnonzero(~people.fleet)
    size = (len(person), habits.days)
    weekend = np.array(
        [(habits.first_day + timedelta(days=day)).weekday() >= 5 for day in range(habits.days)]
    )
    works = people.work[person][:, None] >= 0
    commutes = works & ~weekend & (rng.random(size) < habits.commuting)
    errand = rng.random(size) < np.where(weekend, min(1.0, 2 * habits.errands), habits.errands)
    leisure = rng.random(size) < habits.leisure
    usual = [_normal(rng, (len(person), 1)) for _ in range(2)]
    to_work = 8.1 + 0.6 * usual[0] + 0.2 * _normal(rng, size)
    from_work = 17.3 + 0.6 * usual[1] + 0.3 * _normal(rng, size)
    out = 10.5 + 5.0 * rng.random(size)
    evening = 18.5 + 3.0 * rng.random(size)
    home = np.broadcast_to(people.home[person][:, None], size)
    work = np.broadcast_to(people.work[person][:, None], size)
    base = np.where(commutes, work, home)
    shop, venue = (
        np.take_along_axis(places[person], _any(rng, size, FAVOURITES), axis=1)
        for places in (people.errands, people.leisure)
    )
    back_from_shop = out + 0.5 + 0.8 * rng.random(size)
    back_from_venue = evening + 0.8 + 1.4 * rng.random(size)
    slots = [
        (commutes, home, work, to_work),
        (errand, base, shop, out),
        (errand, shop, base, back_from_shop),
        (commutes, work, home, np.maximum(from_work, 15.8 + 1e-3)),
        (leisure, home, venue, np.maximum(evening, from_work + 0.7)),
        (leisure, venue, home, np.maximum(back_from_venue, from_work + 1.5)),
    ]
    midnight = DAY_S * np.arange(habits.days)
    who = np.broadcast_to(person[:, None], size)
    return Journeys(
        person=np.concatenate([who[on] for on, *_ in slots]).astype(np.int64),
        origin=np.concatenate([place[on] for on, place, *_ in slots]).astype(np.int64),
        destination=np.concatenate([place[on] for on, _, place, _ in slots]).astype(np.int64),
        second=np.concatenate([(midnight + _HOUR_S * hour)[on] for on, _, _, hour in slots]),
    )


def _of_fleets(people: People, habits: Habits, rng: np.random.Generator) -> Journeys:
    """Returns rounds of vehicles: from the depot to customers, one after the other, and back."""
    vehicle = np.flatnonzero(people.fleet)
    most = max(2, round(1.6 * habits.fleet_trips))
    size = (len(vehicle), habits.days)
    fewest = max(2, round(0.4 * habits.fleet_trips))
    trips = fewest + np.floor((most - fewest + 1) * rng.random(size)).astype(np.int64)
    # Most begin in the morning; a third, such as taxis, at any hour.
    late = rng.random((len(vehicle), 1)) < 0.33
    begins = np.where(late, 20.0 * rng.random(size), 6.0 + 3.0 * rng.random(size))
    waits = 0.25 + 0.4 * rng.random((*size, most))
    hour = begins[..., None] + np.cumsum(waits, axis=2) - waits
    customer = _any(rng, (len(vehicle), habits.days * (most - 1)), CUSTOMERS)
    stops = np.take_along_axis(people.customers[vehicle], customer, axis=1)
    stops = stops.reshape(*size, most - 1)
    depot = np.broadcast_to(people.home[vehicle][:, None, None], (*size, 1))
    number = np.arange(most)
    origin = np.concatenate([depot, stops], axis=2)
    destination = np.where(number == trips[..., None] - 1, depot, np.roll(origin, -1, axis=2))
    driven = number < trips[..., None]
    second = DAY_S * np.arange(habits.days)[:, None] + _HOUR_S * hour
    who = np.broadcast_to(vehicle[:, None, None], driven.shape)
    return Journeys(
        person=who[driven].astype(np.int64),
        origin=origin[driven],
        destination=destination[driven],
        second=second[driven],
    )


def _normal(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Returns about normal draws without tails: the sum of three uniform ones."""
    return np.asarray(2 * (rng.random((3, *shape)).sum(axis=0) - 1.5), dtype=np.float64)


def _any(rng: np.random.Generator, shape: tuple[int, ...], choices: int) -> IntArray:
    return np.minimum((rng.random(shape) * choices).astype(np.int64), choices - 1)
