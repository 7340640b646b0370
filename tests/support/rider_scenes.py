"""Places by metres, and what a day of operations begins with."""

from dataclasses import dataclass

import numpy as np

from hushway.geography.itineraries import Itineraries, RiderCosts, itineraries
from hushway.geography.locations import Location, Locations
from hushway.geography.transit import BusLine, TransitNetwork, Travel
from hushway.transit.legs import RiderTrips, in_order
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


def random_routes(rng: np.random.Generator) -> Itineraries:
    count, hubs = int(rng.integers(6, 12)), int(rng.integers(2, 5))
    spots = rng.uniform(-2_500, 2_500, (count, 2)).tolist()
    zones = ["a", "b", *("ab"[zone] for zone in rng.integers(0, 2, count - 2))]
    lines = []
    for number in range(rng.integers(1, 5)):
        stops = tuple(rng.permutation(hubs)[: rng.integers(2, hubs + 1)].tolist())
        rides = tuple(rng.integers(30, 300, len(stops) - 1).tolist())
        headway_s = int(rng.integers(60, 700))
        lines.append(BusLine(name=f"L{number}", stops=stops, ride_s=rides, headway_s=headway_s))
    network = TransitNetwork(
        locations=placed(*((*spot, zone) for spot, zone in zip(spots, zones, strict=True))),
        hubs=tuple(range(hubs)),
        lines=tuple(lines),
        travel=Travel(stop_s=int(rng.integers(0, 30))),
    )
    costs = RiderCosts(
        shuttle_km_s=int(rng.integers(0, 900)),
        change_s=int(rng.integers(0, 60)),
        most_walk_m=float(rng.integers(0, 1500)),
    )
    return itineraries(network, costs)


def random_trips(
    rng: np.random.Generator, routes: Itineraries, *, most: int, start_s: int, end_s: int
) -> RiderTrips:
    count, places = int(rng.integers(1, most)), len(routes.network.locations)
    origin = rng.integers(0, places, count)
    return in_order(
        # Whole half-minutes: some riders set out together.
        rng.integers(start_s // 30, end_s // 30, count) * 30,
        origin,
        (origin + rng.integers(1, places, count)) % places,
    )


def random_scene(seed: int, *, most: int = 60) -> Scene:
    rng = np.random.default_rng(seed)
    routes = random_routes(rng)
    opens = int(rng.integers(0, 30_000))
    # Some riders set out before the window, and many are on their way when it closes.
    window_s = opens + 300, opens + int(rng.integers(900, 3000))
    return Scene(
        routes=routes,
        trips=random_trips(rng, routes, most=most, start_s=opens, end_s=window_s[1]),
        fleet=tuple(int(count) for count in rng.integers(0, 5, 2)),
        rules=ServiceRules(
            seats=int(rng.integers(1, 5)),
            bus_seats=int(rng.integers(1, 4)),
            most_wait_s=int(rng.integers(100, 1200)),
            detour=float(rng.choice([1.0, 1.25, 1.5, 2.0])),
            detour_s=int(rng.integers(0, 400)),
        ),
        window_s=window_s,
    )
