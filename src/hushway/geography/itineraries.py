"""Which legs a trip is made of: the cheapest way through a public network, for every pair."""

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hushway.geography.bus_rides import NO_CHANGE, BusRides, bus_rides
from hushway.geography.od import IntArray
from hushway.geography.transit import TransitNetwork

FloatArray = NDArray[np.float64]
CodeArray = NDArray[np.int8]

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
    shuttle_km_s: int = 300
    change_s: int = 60
    most_walk_m: float = 600.0
    most_across_m: float = 1_200.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Itineraries:
    """The cheapest way of every origin (row) and destination (column).

    Attributes:
        network: The network.
        rides: The best bus rides between its hubs.
        first: Which hub the rider goes to first, an index into the network's hubs; -1 if a shuttle
            goes directly.
        last: Which hub the rider leaves the buses at; the same as `first` where none is ridden.
        access: How the rider gets to the first hub, as an `Access`.
        egress: How the rider gets from the last hub, as an `Access`.
        cost_s: The generalised cost.
    """

    network: TransitNetwork
    rides: BusRides
    first: IntArray
    last: IntArray
    access: CodeArray
    egress: CodeArray
    cost_s: FloatArray

    @cached_property
    def mode(self) -> IntArray:
        """The mode of every pair, an index into `MODES`; -1 from a place to itself."""
        by_shuttle = self.access == Access.SHUTTLE
        on_by_shuttle = self.egress == Access.SHUTTLE
        change = self.rides.change[self.first, self.last] != NO_CHANGE
        mode = _BUS + 4 * change + 2 * by_shuttle + on_by_shuttle
        waiting = self.first == self.last
        mode[waiting & by_shuttle & on_by_shuttle] = _SHUTTLE_SHUTTLE
        mode[waiting & by_shuttle & (self.egress == Access.WALK)] = _SHUTTLE_WALK
        mode[waiting & on_by_shuttle & (self.access == Access.WALK)] = _WALK_SHUTTLE
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
    to_hub = _Ends.of(network, costs)
    best = _Best.direct(network, costs)
    for hub in range(len(network.hubs)):
        # The first hub that is best for each place, given that the buses are left at this one.
        by_bus = rides.cost_s[:, hub].copy()
        by_bus[hub] = np.inf
        reach = to_hub.by_any + costs.change_s * (to_hub.how == Access.SHUTTLE) + by_bus
        board = reach.argmin(axis=1)
        leave = to_hub.by_any[:, hub] + costs.change_s * (to_hub.how[:, hub] == Access.SHUTTLE)
        best.improve(
            reach.min(axis=1),
            leave,
            hubs=(board, hub),
            how=(np.take_along_axis(to_hub.how, board[:, None], axis=1)[:, 0], to_hub.how[:, hub]),
        )
    for hub in range(len(network.hubs)):
        shuttle, walk = to_hub.by_shuttle[:, hub], to_hub.on_foot[:, hub]
        here = np.full(len(shuttle), hub)
        for start, end, kinds in (
            (shuttle + costs.change_s, shuttle, (Access.SHUTTLE, Access.SHUTTLE)),
            (shuttle, walk, (Access.SHUTTLE, Access.WALK)),
            (walk, shuttle, (Access.WALK, Access.SHUTTLE)),
        ):
            how = tuple(np.full(len(shuttle), kind, dtype=np.int8) for kind in kinds)
            best.improve(start, end, hubs=(here, hub), how=(how[0], how[1]))
    return best.itineraries(network, rides)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Ends:
    """What it costs to get from every place (row) to every hub (column), and back likewise."""

    by_shuttle: FloatArray
    on_foot: FloatArray
    by_any: FloatArray
    how: CodeArray

    @classmethod
    def of(cls, network: TransitNetwork, costs: RiderCosts) -> "_Ends":
        hubs = list(network.hubs)
        at_hub = network.distance_m[:, hubs] == 0
        near = (network.distance_m[:, hubs] <= costs.most_walk_m) & ~at_hub
        on_foot = np.where(near, network.walk_s[:, hubs], np.inf)
        by_shuttle = np.where(at_hub, np.inf, _shuttle_cost(network, costs)[:, hubs])
        walked = on_foot <= by_shuttle
        how = np.where(walked, Access.WALK, Access.SHUTTLE).astype(np.int8)
        how[at_hub] = Access.THERE
        return cls(
            by_shuttle=by_shuttle,
            on_foot=on_foot,
            by_any=np.where(at_hub, 0.0, np.minimum(on_foot, by_shuttle)),
            how=how,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Best:
    """The best way of every pair so far."""

    first: IntArray
    last: IntArray
    access: CodeArray
    egress: CodeArray
    cost_s: FloatArray

    @classmethod
    def direct(cls, network: TransitNetwork, costs: RiderCosts) -> "_Best":
        near = network.distance_m <= costs.most_across_m
        one_zone = network.zone[:, None] == network.zone[None, :]
        is_hub = network.hub_number >= 0
        allowed = near | one_zone | (is_hub[:, None] != is_hub[None, :])
        cost = np.where(allowed | (not network.hubs), _shuttle_cost(network, costs), np.inf)
        hubs = np.full(cost.shape, DIRECT, dtype=np.int64)
        there = np.full(cost.shape, Access.THERE, dtype=np.int8)
        return cls(first=hubs, last=hubs.copy(), access=there, egress=there.copy(), cost_s=cost)

    def improve(
        self,
        start: FloatArray,
        end: FloatArray,
        *,
        hubs: tuple[IntArray, int],
        how: tuple[CodeArray, CodeArray],
    ) -> None:
        """Takes the way over some hubs wherever it is cheaper."""
        total = start[:, None] + end[None, :]
        origin, destination = np.nonzero(total < self.cost_s)
        self.cost_s[origin, destination] = total[origin, destination]
        self.first[origin, destination] = hubs[0][origin]
        self.last[origin, destination] = hubs[1]
        self.access[origin, destination] = how[0][origin]
        self.egress[origin, destination] = how[1][destination]

    def itineraries(self, network: TransitNetwork, rides: BusRides) -> Itineraries:
        return Itineraries(
            network=network,
            rides=rides,
            first=self.first,
            last=self.last,
            access=self.access,
            egress=self.egress,
            cost_s=self.cost_s,
        )


def _shuttle_cost(network: TransitNetwork, costs: RiderCosts) -> FloatArray:
    street_km = network.distance_m * network.travel.detour / 1000
    return costs.shuttle_wait_s + network.shuttle_s + costs.shuttle_km_s * street_km
