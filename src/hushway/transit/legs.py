"""Trips of riders and their legs by shuttle, as the simulation reads them; planned legs, stands."""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import PlanError
from hushway.families.od.public.cells import ODCells
from hushway.geography.itineraries import DIRECT, NO_CHANGE, Access, Itineraries
from hushway.geography.transit import TransitNetwork
from hushway.numerics.compiled import Rows, whole_rows
from hushway.transit.routes import NOWHERE
from hushway.transit.simulation import NOT_YET


@dataclass(frozen=True, kw_only=True, eq=False)
class RiderTrips:
    """Trips in the order of departure; one rider each.

    Attributes:
        depart_s: When each begins, in seconds after midnight, ascending.
    """

    depart_s: IntArray
    origin: IntArray
    destination: IntArray

    def __post_init__(self) -> None:
        if (np.diff(self.depart_s) < 0).any() or (self.origin == self.destination).any():
            raise PlanError(
                "Trips are not in the order of departure, or one ends where it began.",
                advice="Put them in order with in_order, and leave out trips that go nowhere.",
            )

    def __len__(self) -> int:
        return len(self.depart_s)


def in_order(depart_s: IntArray, origin: IntArray, destination: IntArray) -> RiderTrips:
    """Returns trips in the order of departure; those that begin together keep their order."""
    order = np.argsort(depart_s, kind="stable")
    return RiderTrips(
        depart_s=depart_s[order].astype(np.int64),
        origin=origin[order].astype(np.int64),
        destination=destination[order].astype(np.int64),
    )


def draw_trips(universe: ODCells, cells: IntArray, counts: IntArray, *, seed: int) -> RiderTrips:
    """Returns one trip for each that a table counts, at a moment drawn within its period.

    A table of periods does not say when in its period a trip begins: every second of it is as
    likely as any other. Trips that end where they began are left out: nobody rides them.

    Args:
        universe: The cells of the table; its periods are parts of one day.
        cells: Numbers of the cells that hold trips.
    """
    period, origin, destination = universe.decode(np.repeat(cells, counts))
    away = origin != destination
    period, origin, destination = period[away], origin[away], destination[away]
    periods = universe.periods
    part = period % periods.parts
    length_s = np.array([each.minutes * 60 for each in periods.day_parts])[part]
    rng = np.random.Generator(np.random.PCG64(seed))
    within_s = np.floor(rng.random(len(period)) * length_s).astype(np.int64)
    start_s = np.array([each.starts * 60 for each in periods.day_parts])[part]
    return in_order(start_s + within_s, origin, destination)


@dataclass(frozen=True, kw_only=True, eq=False)
class ShuttleLegs:
    """Rides that riders ask for, in the order of asking; one rider each.

    Attributes:
        request_s: When each is asked for, in seconds, ascending.
    """

    request_s: IntArray
    pickup: IntArray
    dropoff: IntArray

    def __len__(self) -> int:
        return len(self.request_s)


def trip_rows(routes: Itineraries, trips: RiderTrips) -> Rows:
    """Returns a row for each trip, with its way through the network."""
    ends = trips.origin, trips.destination
    made = _empty_trips(trips.depart_s, *ends)
    made["first"], made["last"] = routes.first[ends], routes.last[ends]
    made["access"], made["egress"] = routes.access[ends], routes.egress[ends]
    return made


def direct_rows(legs: ShuttleLegs) -> Rows:
    """Returns legs as trips of their own, each by one shuttle from door to door."""
    made = _empty_trips(legs.request_s, legs.pickup, legs.dropoff)
    made["first"], made["last"] = DIRECT, DIRECT
    return made


def leg_rows(count: int) -> Rows:
    """Returns rows for two legs by shuttle of each of so many trips."""
    made = whole_rows(2 * count, "trip zone pickup dropoff request_s board_s leave_s shuttle")
    made["trip"] = np.arange(2 * count) // 2
    made["request_s"], made["board_s"], made["leave_s"] = NOT_YET, NOT_YET, NOT_YET
    made["shuttle"] = NOWHERE
    return made


def leg_zones(network: TransitNetwork, trip: Rows) -> tuple[IntArray, IntArray]:
    """Returns whose shuttles serve the first and the second leg of every trip.

    A leg belongs to the zone of its door. A direct one has two doors: if just one of them is a hub,
    it is the other that counts, else the first.
    """
    origin, destination = trip["origin"], trip["destination"]
    is_hub = network.hub_number >= 0
    from_hub = (trip["first"] == DIRECT) & is_hub[origin] & ~is_hub[destination]
    first = np.where(from_hub, network.zone[destination], network.zone[origin])
    return first, network.zone[destination]


def _empty_trips(depart_s: IntArray, origin: IntArray, destination: IntArray) -> Rows:
    made = whole_rows(
        len(depart_s),
        "depart_s origin destination first last access egress bus_wait_s bus_ride_s buses "
        "arrival_s",
    )
    made["depart_s"], made["origin"], made["destination"] = depart_s, origin, destination
    made["arrival_s"] = NOT_YET
    return made


def planned_legs(
    routes: Itineraries, trips: RiderTrips, *, shuttle_wait_s: int
) -> tuple[ShuttleLegs, ...]:
    """Returns the legs of each zone, in the order of the zones' names.

    A leg from a hub is asked for when its rider should be there: after the planned wait for the
    first shuttle, its direct drive or the walk, and half a headway and the ride of every bus. So
    each zone can be planned by itself.
    """
    network = routes.network
    trip = trip_rows(routes, trips)
    zones = leg_zones(network, trip)
    direct = trip["first"] == DIRECT
    hubs = np.array([*network.hubs, 0])  # the last stands for no hub
    first_hub, last_hub = hubs[trip["first"]], hubs[trip["last"]]
    by_shuttle = trip["access"] == Access.SHUTTLE
    drive_s = shuttle_wait_s + network.shuttle_s[trips.origin, first_hub]
    walk_s = np.where(trip["access"] == Access.WALK, network.walk_s[trips.origin, first_hub], 0)
    at_last_s = trips.depart_s + np.where(by_shuttle, drive_s, walk_s) + _bus_s(routes, trips)

    first = direct | by_shuttle
    second = trip["egress"] == Access.SHUTTLE
    pickup = np.concatenate([trips.origin[first], last_hub[second]])
    dropoff = np.concatenate(
        [np.where(direct, trips.destination, first_hub)[first], trips.destination[second]]
    )
    request_s = np.concatenate([trips.depart_s[first], at_last_s[second]])
    zone = np.concatenate([zones[0][first], zones[1][second]])
    order = np.argsort(request_s, kind="stable")
    chosen = [order[zone[order] == number] for number in range(len(network.locations.zones))]
    return tuple(
        ShuttleLegs(request_s=request_s[some], pickup=pickup[some], dropoff=dropoff[some])
        for some in chosen
    )


def _bus_s(routes: Itineraries, trips: RiderTrips) -> IntArray:
    """Returns the planned seconds of every trip from its first hub to its last."""
    ends = trips.origin, trips.destination
    by_bus = routes.first[ends] != routes.last[ends]
    first, last = routes.first[ends][by_bus], routes.last[ends][by_bus]
    rides = routes.rides
    # Not the cost of a ride: a change costs riders more than the time that it takes.
    half_s = np.array([*(line.headway_s // 2 for line in routes.network.lines), 0])
    single_s = half_s[rides.line] + rides.ride_s
    change = rides.change[first, last]
    change = np.where(change == NO_CHANGE, last, change)
    planned = np.zeros(len(trips), dtype=np.int64)
    # From a hub to itself there is no line, and it takes no time.
    planned[by_bus] = single_s[first, change] + single_s[change, last]
    return planned


def stand_order(network: TransitNetwork, zone: int, pickups: IntArray) -> IntArray:
    """Returns where each next shuttle of a zone waits, given the places where riders ask.

    First every place where somebody asks gets one shuttle: always that place next which brings
    riders and their nearest shuttle together most, all riders taken together. Then places get more
    by the number of their riders, as parties get seats by their votes. There are as many stands as
    riders, and as many of them at a place as riders ask there: with all of them nobody waits,
    since whenever a rider asks, fewer shuttles have left the place than it has.
    """
    places, riders = np.unique(pickups, return_counts=True)
    if not len(places):
        return np.flatnonzero(network.zone == zone)
    first = _spread(network.shuttle_s[np.ix_(places, places)], riders)
    rank = np.argsort(first)
    more = np.repeat(np.arange(len(places)), riders - 1)
    begin = np.cumsum(riders - 1) - (riders - 1)
    share = riders[more] / (np.arange(len(more)) - begin[more] + 2)
    order = np.lexsort((rank[more], -share))
    return np.asarray(places[np.concatenate([first, more[order]])])


def stands(order: IntArray, count: int) -> IntArray:
    """Returns the stand of each of so many shuttles; stands that ran out are used again."""
    return order[np.arange(count) % len(order)]


def _spread(drive_s: IntArray, riders: IntArray) -> IntArray:
    """Returns places in the order in which each next one saves riders the most seconds."""
    # Farther than any place: the first stand is the one with the least drive to all riders.
    nearest_s = np.full(len(riders), drive_s.max() + 1)
    order = np.zeros(len(riders), dtype=np.int64)
    left = np.ones(len(riders), dtype=np.bool_)
    for number in range(len(riders)):
        saved_s = np.maximum(nearest_s - drive_s, 0) @ riders
        order[number] = np.where(left, saved_s, -1).argmax()
        left[order[number]] = False
        nearest_s = np.minimum(nearest_s, drive_s[order[number]])
    return order
