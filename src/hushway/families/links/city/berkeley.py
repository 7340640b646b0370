"""A synthetic region with the published figures of the Berkeley study of aggregated road networks.

The figures are those of the DP-ANI paper, sections VI-A, VI-B and VI-D. The roads lie where
Berkeley lies, and share nothing else with it. See docs/researchers/cities.md.
"""

from collections.abc import Collection
from datetime import date
from typing import Final

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import PlanError
from hushway.families.links.city.plans import DAY_S, Devices, Habits
from hushway.families.links.city.road_city import road_city
from hushway.families.links.city.simulate import simulate_traces, some_trips
from hushway.families.links.city.traces_city import TraceCity

# Published: the hour, about how many trajectories it has, and the length of all that they cover.
HOUR: Final = 13
TRAJECTORIES: Final = 1_200
DRIVEN_MILES: Final = 194.6
METRES_OF_MILE: Final = 1_609.344

# Found by search: with roads of this size about 1,200 trajectories cover the published length.
LINKS: Final = 3_500
_ROADS_SEED = 2019
_MIDDLE = (-122.2727, 37.8716)
# More than enough; the last ones are left out when the length is reached.
_PEOPLE = 10_000
_HABITS = Habits(first_day=date(2019, 1, 29), zone="America/Los_Angeles", fleet_share=0.12)
_DEVICES = Devices(interval_s=(5, 75))


def berkeley(seed: int, *, hours: Collection[int] = (HOUR,)) -> TraceCity:
    """Returns trips of a weekday that begin in some hours: 1 pm to 2 pm unless told otherwise.

    The links that trips from 1 pm to 2 pm take have a length of 194.6 miles together, to a
    hundredth, whatever the seed and the hours. Persons are counted until this length is reached.

    Args:
        seed: Chooses people and their trips. The roads are always the same.
        hours: The hours of the day to keep, from 0 to 23.

    Raises:
        PlanError: The seed is negative, or an hour does not exist.
    """
    if not hours or not all(0 <= hour < 24 for hour in hours):
        raise PlanError("A day has the hours 0 to 23.", advice="Give hours=range(24) for a day.")
    roads = road_city(_ROADS_SEED, links=LINKS, middle=_MIDDLE)
    city = simulate_traces(
        roads, seed, people=_PEOPLE, habits=_HABITS, devices=_DEVICES, name="Berkeley (synthetic)"
    )
    hour = departure_hours(city)
    people = _people_until(some_trips(city, hour == HOUR), DRIVEN_MILES * METRES_OF_MILE)
    return some_trips(city, np.isin(hour, list(hours)) & (city.person < people))


def departure_hours(city: TraceCity) -> IntArray:
    """Returns the hour of the day at which each trip begins."""
    begins = city.truth.entered[city.truth.start[:-1]]
    return np.asarray(begins % DAY_S // 3_600, dtype=np.int64)


def _people_until(city: TraceCity, metres: float) -> int:
    """Returns how many persons, counted from the first, cover about this length of links."""
    link, first = np.unique(city.truth.link, return_index=True)
    who = np.repeat(city.person, np.diff(city.truth.start))[first]
    by_person = np.bincount(who, weights=city.roads.length[link], minlength=city.people)
    covered = np.cumsum(by_person)
    return int(np.abs(covered - metres).argmin()) + 1
