"""Fleet sizing: the fewest shuttles of each zone that keep waits short (the paper's F).

A size is enough if the dispatcher of the simulation serves every leg and the mean wait is within
the target. Below a proven bound no size can be enough. From there the search doubles, halves the
gap between what fails and what is enough, and at last tries some smaller sizes again: dispatching
is not monotone, and one shuttle more may once in a while make a day worse. A size that fails does
so early: the simulation stops as soon as its waits add up to too much or a rider is left.
"""

from collections.abc import Callable
from dataclasses import dataclass

from hushway.geography.itineraries import Itineraries
from hushway.transit.fleet_bounds import FleetBound, fewest_shuttles
from hushway.transit.legs import RiderTrips, ShuttleLegs, planned_legs, stand_order, stands
from hushway.transit.operations import Operations, ServiceRules, Window, limits_of, serve_legs

MEAN_WAIT_S = 180
_LOOK_BACK = 5


@dataclass(frozen=True, kw_only=True)
class ZoneFleet:
    """The shuttles of one zone.

    Attributes:
        shuttles: The fewest that were found enough.
        bound: How many there must be at least.
    """

    zone: str
    legs: int
    shuttles: int
    bound: FleetBound
    mean_wait_s: float


@dataclass(frozen=True, kw_only=True)
class FleetPlan:
    """The shuttles of all zones, in the order of their names."""

    zones: tuple[ZoneFleet, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The shuttles of each zone."""
        return tuple(zone.shuttles for zone in self.zones)

    @property
    def shuttles(self) -> int:
        """All shuttles."""
        return sum(self.sizes)

    @property
    def at_least(self) -> int:
        """The shuttles that any dispatching needs."""
        return sum(zone.bound.shuttles for zone in self.zones)


def size_fleet(
    routes: Itineraries,
    trips: RiderTrips,
    *,
    rules: ServiceRules,
    window_s: Window,
    mean_wait_s: int = MEAN_WAIT_S,
) -> FleetPlan:
    """Returns the fewest shuttles of each zone with which the mean wait is within the target.

    Args:
        window_s: The time of service, in seconds after midnight.
        mean_wait_s: The longest mean wait for a shuttle, in every zone.
    """
    every = planned_legs(routes, trips, shuttle_wait_s=mean_wait_s)
    return FleetPlan(
        zones=tuple(
            _size_zone(routes, legs, zone, rules=rules, window_s=window_s, target_s=mean_wait_s)
            for zone, legs in enumerate(every)
        )
    )


def _size_zone(
    routes: Itineraries,
    legs: ShuttleLegs,
    zone: int,
    *,
    rules: ServiceRules,
    window_s: Window,
    target_s: int,
) -> ZoneFleet:
    order = stand_order(routes.network, zone, legs.pickup)
    limits = limits_of(rules, window_s)._replace(
        most_unserved=0, most_waiting_s=target_s * len(legs)
    )
    days: dict[int, Operations | None] = {}

    def enough(count: int) -> bool:
        if count not in days:
            days[count] = serve_legs(
                routes, legs, stands(order, count), seats=rules.seats, limits=limits
            )
        day = days[count]
        return day is not None and day.mean_shuttle_wait_s <= target_s

    bound = fewest_shuttles(legs, routes.network.shuttle_s, rules)
    # With a stand for every rider nobody waits, so that many are enough.
    found = least_enough(enough, at_least=bound.shuttles, at_most=len(legs))
    day = days[found]
    return ZoneFleet(
        zone=routes.network.locations.zones[zone],
        legs=len(legs),
        shuttles=found,
        bound=bound,
        mean_wait_s=0.0 if day is None else day.mean_shuttle_wait_s,
    )


def least_enough(enough: Callable[[int], bool], *, at_least: int, at_most: int) -> int:
    """Returns the smallest size found to be enough.

    The sizes just below the answer were tried, and are not enough.

    Args:
        enough: Whether a size is enough; asked about the answer at least.
        at_least: No smaller size is.
        at_most: A size that is.
    """
    fails, step = at_least - 1, 1
    while fails + step < at_most and not enough(fails + step):
        fails, step = fails + step, 2 * step
    found = min(fails + step, at_most)
    while found - fails > 1:
        middle = (found + fails) // 2
        found, fails = (middle, fails) if enough(middle) else (found, middle)
    for tried in range(found - 1, at_least - 1, -1):
        if tried < found - _LOOK_BACK:
            break
        found = tried if enough(tried) else found
    enough(found)
    return found
