"""Which legs a trip is made of: the cheapest way through a public network, for every pair."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Final

import numpy as np

from hushway.arrays import BoolArray, FloatArray, Int8Array, IntArray
from hushway.errors import GeographyError
from hushway.geography.transit import TransitNetwork

NEVER = np.inf
NO_CHANGE = -1


@dataclass(frozen=True, kw_only=True, eq=False)
class BusRides:
    """The best way from every hub (row) to every other (column).

    Attributes:
        cost_s: What a rider expects it to cost: waits of half a headway, rides, and a change.
            Infinite where no line goes, 0 from a hub to itself.
        change: The hub where a rider changes lines, an index into the network's hubs; -1 if none.
        line: Of the best single ride, which line; meaningful where one line joins the two hubs.
        board: Of that ride, which stop of the line it begins at.
        alight: Which stop it ends at.
        ride_s: Seconds on that line, without the wait.
    """

    cost_s: FloatArray
    change: IntArray
    line: IntArray
    board: IntArray
    alight: IntArray
    ride_s: IntArray


def bus_rides(network: TransitNetwork, *, change_s: int) -> BusRides:
    """Returns the best way between all hubs; two rides at the most."""
    hubs = len(network.hubs)
    single = np.full((hubs, hubs), NEVER)
    line = np.full((hubs, hubs), -1, dtype=np.int64)
    board, alight, ride_s = line.copy(), line.copy(), np.zeros((hubs, hubs), dtype=np.int64)
    for number, each in enumerate(network.lines):
        stops = network.hub_number[list(each.stops)]
        clock = np.concatenate([[0], np.cumsum(each.ride_s)])
        for first in range(len(stops)):
            for last in range(first + 1, len(stops)):
                ends = stops[first], stops[last]
                cost = each.headway_s / 2 + clock[last] - clock[first]
                if cost < single[ends]:
                    single[ends], line[ends] = cost, number
                    board[ends], alight[ends] = first, last
                    ride_s[ends] = clock[last] - clock[first]
    by_way = single[:, :, None] + single[None, :, :] + change_s
    change = by_way.argmin(axis=1) if hubs else np.zeros((0, 0), dtype=np.int64)
    changed = by_way.min(axis=1, initial=NEVER)
    np.fill_diagonal(single, 0.0)
    one = single <= changed
    return BusRides(
        cost_s=np.where(one, single, changed),
        change=np.where(one | ~np.isfinite(changed), NO_CHANGE, change),
        line=line,
        board=board,
        alight=alight,
        ride_s=ride_s,
    )


# Legs in the order in which they are travelled; walking is named only where no bus is ridden, as in
# the twelve combinations of the CBDP paper. Numbers 4 to 11 are the bus modes: 4 + 4 * (a change of
# bus) + 2 * (a shuttle to the first hub) + (a shuttle from the last hub).
MODES: Final = (
    "shuttle",
    "shuttle-shuttle",
    "shuttle-walk",
    "walk-shuttle",
    "bus",
    "bus-shuttle",
    "shuttle-bus",
    "shuttle-bus-shuttle",
    "bus-bus",
    "bus-bus-shuttle",
    "shuttle-bus-bus",
    "shuttle-bus-bus-shuttle",
)
_SHUTTLE, _SHUTTLE_SHUTTLE, _SHUTTLE_WALK, _WALK_SHUTTLE, _BUS = range(5)
NO_MODE: Final = -1
DIRECT: Final = -1


class Access(IntEnum):
    """How a rider gets to the first hub, or from the last."""

    THERE = 0
    WALK = 1
    SHUTTLE = 2


@dataclass(frozen=True, kw_only=True)
class RiderCosts:
    """What makes one way better than another, in seconds of a rider's time.

    Attributes:
        shuttle_wait_s: The expected wait for a shuttle.
        shuttle_km_s: What a kilometre of a shuttle costs the system, as seconds of a rider.
        change_s: What every change of vehicle costs, beside the wait.
        most_walk_m: How far a rider walks to or from a hub, by air.
        most_across_m: How far a shuttle goes directly into another zone, by air.
    """

    shuttle_wait_s: int = 180
    shuttle_km_s: int = 400
    change_s: int = 60
    most_walk_m: float = 600.0
    most_across_m: float = 1_200.0

    def __post_init__(self) -> None:
        costs = (self.shuttle_wait_s, self.shuttle_km_s, self.change_s)
        # Written so that what is no number is refused too.
        if not all(np.isfinite(cost) and cost >= 0 for cost in costs):
            raise GeographyError(
                "What a way costs a rider cannot be negative.",
                advice="Give costs of 0 seconds or more.",
            )
        if not (self.most_walk_m >= 0 and self.most_across_m >= 0):
            raise GeographyError(
                "How far riders walk, or shuttles cross into another zone, cannot be negative.",
                advice="Give 0 metres or more.",
            )


@dataclass(frozen=True, kw_only=True, eq=False)
class Itineraries:
    """The cheapest way of every origin (row) and destination (column).

    Attributes:
        first: Which hub the rider goes to first, an index into the network's hubs; -1 if a shuttle
            goes directly, and from a place to itself.
        last: Which hub the rider leaves the buses at; the same as `first` where none is ridden.
        access: How the rider gets to the first hub, as an `Access`.
        egress: How the rider gets from the last hub, as an `Access`.
        cost_s: The generalised cost; 0 from a place to itself.
    """

    network: TransitNetwork
    rides: BusRides
    first: IntArray
    last: IntArray
    access: Int8Array
    egress: Int8Array
    cost_s: FloatArray

    @cached_property
    def mode(self) -> IntArray:
        """The mode of every pair, an index into `MODES`; -1 from a place to itself."""
        by_shuttle = self.access == Access.SHUTTLE
        on_by_shuttle = self.egress == Access.SHUTTLE
        # A direct trip finds the margin: its hubs are -1, the last row and column.
        change = np.pad(self.rides.change != NO_CHANGE, (0, 1))[self.first, self.last]
        mode = _BUS + 4 * change + 2 * by_shuttle + on_by_shuttle
        no_bus = self.first == self.last
        mode[no_bus & by_shuttle & on_by_shuttle] = _SHUTTLE_SHUTTLE
        mode[no_bus & by_shuttle & (self.egress == Access.WALK)] = _SHUTTLE_WALK
        mode[no_bus & on_by_shuttle & (self.access == Access.WALK)] = _WALK_SHUTTLE
        mode[self.first == DIRECT] = _SHUTTLE
        np.fill_diagonal(mode, NO_MODE)
        return np.asarray(mode, dtype=np.int64)


def itineraries(network: TransitNetwork, costs: RiderCosts | None = None) -> Itineraries:
    """Returns the cheapest way of every pair of places.

    A trip is one shuttle from door to door, or goes by way of hubs: on foot or by shuttle to the
    first, by one or two buses or none to the last, on foot or by shuttle to the door. A shuttle
    serves its own zone, and the ways from there to any hub and back; it crosses into another zone
    only for a short trip. Where there are no hubs, shuttles go everywhere. No trip is walked whole.
    Between ways of equal cost a direct shuttle comes first, then buses, then the smaller hub.
    """
    costs = costs or RiderCosts()
    rides = bus_rides(network, change_s=costs.change_s)
    shuttle_cost = _shuttle_cost(network, costs)
    direct = np.where(_goes_directly(network, costs), shuttle_cost, np.inf)
    np.fill_diagonal(direct, 0.0)
    ends = _Ends.of(network, costs, shuttle_cost)
    return _cheapest(direct, [*_by_bus(ends, rides), *_over_one_hub(ends, costs)], network, rides)


def _shuttle_cost(network: TransitNetwork, costs: RiderCosts) -> FloatArray:
    street_km = network.distance_m * network.travel.detour / 1000
    return costs.shuttle_wait_s + network.shuttle_s + costs.shuttle_km_s * street_km


def _goes_directly(network: TransitNetwork, costs: RiderCosts) -> BoolArray:
    """Returns whether a shuttle may go from each place (row) to each other (column)."""
    if not network.hubs:
        return np.ones(network.distance_m.shape, dtype=np.bool_)
    near = network.distance_m <= costs.most_across_m
    one_zone = network.zone[:, None] == network.zone[None, :]
    is_hub = network.hub_number >= 0
    return np.asarray(near | one_zone | is_hub[:, None] | is_hub[None, :])


@dataclass(frozen=True, kw_only=True, eq=False)
class _Ends:
    """What it costs to get from every place (row) to every hub (column), and back likewise.

    Attributes:
        by_shuttle: The cost by shuttle; infinite from a hub to itself.
        on_foot: The cost on foot; infinite where it is too far, and from a hub to itself.
        of_buses: The cheaper of both where a bus follows or went before: a shuttle costs a change.
        how: Which of them is cheaper, as an `Access`.
    """

    by_shuttle: FloatArray
    on_foot: FloatArray
    of_buses: FloatArray
    how: Int8Array

    @classmethod
    def of(cls, network: TransitNetwork, costs: RiderCosts, shuttle_cost: FloatArray) -> "_Ends":
        hubs = list(network.hubs)
        # Another place may lie where the hub is: from there riders walk no way at all.
        at_hub = network.hub_number[:, None] == np.arange(len(hubs))
        near = (network.distance_m[:, hubs] <= costs.most_walk_m) & ~at_hub
        on_foot = np.where(near, network.walk_s[:, hubs], np.inf)
        by_shuttle = np.where(at_hub, np.inf, shuttle_cost[:, hubs])
        of_buses = np.minimum(on_foot, by_shuttle + costs.change_s)
        how = np.where(on_foot <= of_buses, Access.WALK, Access.SHUTTLE).astype(np.int8)
        of_buses[at_hub] = 0.0
        how[at_hub] = Access.THERE
        return cls(by_shuttle=by_shuttle, on_foot=on_foot, of_buses=of_buses, how=how)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Way:
    """A kind of way over hubs, from every origin to every destination.

    Attributes:
        start: What it costs from every origin to its last hub, the buses included.
        end: What it costs from there to every destination.
        first: The first hub, of every origin.
        last: The last hub.
        access: How every origin's riders get to the first hub.
        egress: How they get from the last to every destination.
    """

    start: FloatArray
    end: FloatArray
    first: IntArray
    last: int
    access: Int8Array
    egress: Int8Array


def _by_bus(ends: _Ends, rides: BusRides) -> Iterator[_Way]:
    """Yields the best way by bus to every hub, from there to the door."""
    bus_cost = rides.cost_s.copy()
    np.fill_diagonal(bus_cost, np.inf)
    places = np.arange(len(ends.how))
    for hub in range(len(bus_cost)):
        reach = ends.of_buses + bus_cost[:, hub]
        first = reach.argmin(axis=1)
        yield _Way(
            start=reach[places, first],
            end=ends.of_buses[:, hub],
            first=first,
            last=hub,
            access=ends.how[places, first],
            egress=ends.how[:, hub],
        )


def _over_one_hub(ends: _Ends, costs: RiderCosts) -> Iterator[_Way]:
    """Yields the ways over every hub that ride no bus: by two shuttles, or by one and on foot."""
    for hub in range(ends.how.shape[1]):
        shuttle, walk = ends.by_shuttle[:, hub], ends.on_foot[:, hub]
        for start, end, access, egress in (
            (shuttle + costs.change_s, shuttle, Access.SHUTTLE, Access.SHUTTLE),
            (shuttle, walk, Access.SHUTTLE, Access.WALK),
            (walk, shuttle, Access.WALK, Access.SHUTTLE),
        ):
            yield _Way(
                start=start,
                end=end,
                first=np.full(len(shuttle), hub),
                last=hub,
                access=np.full(len(shuttle), access, dtype=np.int8),
                egress=np.full(len(shuttle), egress, dtype=np.int8),
            )


def _cheapest(
    direct: FloatArray, ways: list[_Way], network: TransitNetwork, rides: BusRides
) -> Itineraries:
    """Returns the cheapest of going directly and of all ways; of equal ones the one named first."""
    shape, place = direct.shape, np.arange(len(direct))
    nowhere, there = np.full(len(direct), DIRECT), np.zeros(len(direct), dtype=np.int8)
    # Column 0 is going directly; a row is an origin, or of `end` and `egress` a destination.
    start = np.column_stack([np.zeros(len(direct)), *(way.start for way in ways)])
    end = np.column_stack([np.zeros(len(direct)), *(way.end for way in ways)])
    first = np.column_stack([nowhere, *(way.first for way in ways)])
    last = np.array([DIRECT, *(way.last for way in ways)])
    access = np.column_stack([there, *(way.access for way in ways)])
    egress = np.column_stack([there, *(way.egress for way in ways)])
    best = Itineraries(
        network=network,
        rides=rides,
        first=np.empty(shape, dtype=np.int64),
        last=np.empty(shape, dtype=np.int64),
        access=np.empty(shape, dtype=np.int8),
        egress=np.empty(shape, dtype=np.int8),
        cost_s=np.empty(shape),
    )
    total = np.empty_like(end)
    # One origin at a time: all totals at once are a gigabyte for 2,000 places.
    for origin in place:
        np.add(start[origin], end, out=total)
        total[:, 0] = direct[origin]
        way = total.argmin(axis=1)
        best.cost_s[origin] = total[place, way]
        best.first[origin] = first[origin, way]
        best.last[origin] = last[way]
        best.access[origin] = access[origin, way]
        best.egress[origin] = egress[place, way]
    return best
