"""What people mean to do: journeys from place to place, with the times they mean to leave at."""

from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.families.links.city.people import CUSTOMERS, FAVOURITES, People
from hushway.families.links.city.settings import Habits

DAY_S = 86_400
_HOUR_S = 3_600.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Journeys:
    """Planned trips in the order of persons, and of time within each person.

    Attributes:
        person: Who drives.
        origin: The link to leave from.
        destination: The link to go to.
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
        return Journeys(
            person=self.person[chosen],
            origin=self.origin[chosen],
            destination=self.destination[chosen],
            second=self.second[chosen],
        )


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
