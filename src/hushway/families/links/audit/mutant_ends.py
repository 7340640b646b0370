"""Wrong ways from positions to trips with noisy ends that mutants are made of."""

from dataclasses import replace

import numpy as np

from hushway.families.links.rows.noisy import (
    EndNoise,
    beyond_discs,
    few_trips,
    joined,
    moved,
    noisy_ends,
    noisy_trips,
    parted,
)
from hushway.families.links.rows.rows import PeoplePositions
from hushway.families.links.rows.trips import Trips, split_trips, timed_trips


def within_the_radius(people: PeoplePositions, noise: EndNoise) -> Trips:
    """Moves beginnings no further along the road than the radius, as the paper does."""
    trips, true = (
        noisy_trips(people, noise),
        timed_trips(people, noise.roads.plane, noise.splitting),
    )
    traces, radius = trips.traces, noise.ends.radius
    first, began = traces.start[:-1], true.traces.y[true.traces.start[:-1]]
    y = traces.y.copy()
    y[first] = np.clip(y[first], began - radius, began + radius)
    return replace(trips, traces=replace(traces, y=y))


def cleaned_first(people: PeoplePositions, noise: EndNoise) -> Trips:
    """Splits and cleans trips by where their true ends are, and adds noise afterwards."""
    cleaned = split_trips(people, noise.roads.plane, noise.splitting)
    return noisy_ends(few_trips(cleaned, people.salt, noise.ends.max_trips, noise.key), noise)


def around_true_ends(people: PeoplePositions, noise: EndNoise) -> Trips:
    """Leaves out what is near the true ends instead of the noisy ones."""
    trips = timed_trips(people, noise.roads.plane, noise.splitting)
    x, y, inner = parted(trips.traces, noise.ends.step)
    beyond = beyond_discs(inner, (x * noise.ends.step, y * noise.ends.step), noise)
    return joined(trips, moved(x, y, noise.ends, noise.bits), beyond, noise)


def first_by_place(people: PeoplePositions, noise: EndNoise) -> Trips:
    """Takes the first of several positions at one time from west to east, at the ends as well."""
    again = np.zeros(len(people.lon), dtype=np.bool_)
    again[1:] = np.diff(people.since_us) == 0
    again[people.start[1:-1]] = False
    before = np.concatenate([[0], np.cumsum(~again)])
    single = PeoplePositions(
        start=before[people.start],
        salt=people.salt,
        trip=people.trip[~again],
        since_us=people.since_us[~again],
        lon=people.lon[~again],
        lat=people.lat[~again],
    )
    return noisy_trips(single, noise)
