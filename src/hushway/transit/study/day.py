"""A day of the transit study: the city's trips and its ways, and what riders are promised."""

from dataclasses import dataclass
from functools import cache
from typing import Final

from hushway.families.od.city.ann_arbor import ann_arbor
from hushway.families.od.city.figures import OPENS_MINUTE, PERIOD_MINUTES, WINDOW, Day
from hushway.families.od.study.scene import ODScene, city_scene
from hushway.geography.itineraries import Itineraries, RiderCosts, itineraries
from hushway.transit.fleet import MEAN_WAIT_S
from hushway.transit.operate import Window
from hushway.transit.rider_trips import RiderTrips, in_order
from hushway.transit.rules import ServiceRules

DAYS: Final[tuple[Day, ...]] = ("weekday", "weekend")
CITY_SEED: Final = 2018
RULES: Final = ServiceRules()
TARGET_S: Final = MEAN_WAIT_S
COSTS: Final = RiderCosts()


def _second(period: int) -> int:
    return (OPENS_MINUTE + period * PERIOD_MINUTES) * 60


WINDOW_S: Final[Window] = (_second(WINDOW.start), _second(WINDOW.stop))


@dataclass(frozen=True, kw_only=True, eq=False)
class StudyDay:
    """What the runs of one day have in common.

    Attributes:
        scene: The window's cells, features and exact counts.
        routes: The way of every pair of places.
        operated: The window's trips at their true seconds: those that every fleet has to serve.
    """

    scene: ODScene
    routes: Itineraries
    operated: RiderTrips


@cache
def study_day(day: Day) -> StudyDay:
    """Returns a day of the matched city; every process makes it once."""
    city = ann_arbor(seed=CITY_SEED, day=day)
    trips = city.trips
    inside = (trips.period >= WINDOW.start) & (trips.period < WINDOW.stop)
    return StudyDay(
        scene=city_scene(city, periods=WINDOW),
        routes=itineraries(city.network, COSTS),
        operated=in_order(
            trips.departure_s[inside], trips.origin[inside], trips.destination[inside]
        ),
    )
