"""Places by metres, and what a day of operations begins with."""

from dataclasses import dataclass

from hushway.geography.itineraries import Itineraries
from hushway.geography.locations import Location, Locations
from hushway.transit.legs import RiderTrips
from hushway.transit.operations import Operations, ServiceRules, operate

# On the equator, this many degrees are a metre.
DEGREE = 1 / 111_320
Spot = tuple[float, float, str]


def placed(*spots: Spot) -> Locations:
    """Returns places at metres east and north, and their zones."""
    return Locations(
        tuple(
            Location(id=f"p{i}", name="", lon=east * DEGREE, lat=north * DEGREE, zone=zone)
            for i, (east, north, zone) in enumerate(spots)
        )
    )


@dataclass(frozen=True, kw_only=True)
class Scene:
    """What a day of operations begins with."""

    routes: Itineraries
    trips: RiderTrips
    fleet: tuple[int, ...]
    rules: ServiceRules
    window_s: tuple[int, int]

    def run(self) -> Operations:
        """Serves the trips of the day."""
        return operate(
            self.routes, self.trips, self.fleet, rules=self.rules, window_s=self.window_s
        )
