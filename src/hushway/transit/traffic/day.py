"""Puts the trips of an average day on public roads, period by period."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Self

import numpy as np
from scipy.spatial import KDTree

from hushway.arrays import FloatArray, IntArray
from hushway.errors import GeographyError, PlanError
from hushway.families.links.public.roads import RoadNetwork
from hushway.geography.locations import Locations
from hushway.transit.day_demand import DayDemand
from hushway.transit.traffic.equilibrium import RoadDemand, RoadSupply, assign

# Vehicles an hour on a lane, by class from 1 on: usual capacities of planning.
_CAPACITY: Final = np.array([np.nan, 2000.0, 1200.0, 900.0, 700.0, 500.0])
# From further away nobody gets onto a road.
_REACH_M: Final = 2_000.0
_KMH: Final = 3.6
_HOUR_S: Final = 3600


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacesOnRoads:
    """A road network, and where on it each place is.

    Attributes:
        node: The node nearest to each place; -1 if none is near.
        vehicles_per_trip: How many vehicles a trip puts on the road.
    """

    roads: RoadNetwork
    node: IntArray
    vehicles_per_trip: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.vehicles_per_trip < np.inf:
            raise PlanError(
                "There must be more than 0 vehicles for a trip.",
                advice="Give a number such as 0.7, or leave it out for 1.",
            )

    @classmethod
    def of(cls, roads: RoadNetwork, places: Locations, *, vehicles_per_trip: float = 1.0) -> Self:
        """Ties each place to the nearest node.

        Raises:
            GeographyError: The roads are elsewhere.
        """
        lon, lat = np.array([(place.lon, place.lat) for place in places.places]).T
        away_m, node = KDTree(roads.node_points).query(roads.plane.to_metres(lon, lat))
        near = away_m <= _REACH_M
        if not near.any():
            raise GeographyError(
                f"No place of the release lies within {_REACH_M:,.0f} metres of a road.",
                advice="Give the roads of the region that the release is about.",
            )
        nodes = np.where(near, node, -1).astype(np.int64)
        return cls(roads=roads, node=nodes, vehicles_per_trip=vehicles_per_trip)

    @cached_property
    def supply(self) -> RoadSupply:
        """What the roads offer, by usual speeds, lanes and classes."""
        roads = self.roads
        return RoadSupply(
            nodes=roads.nodes,
            tail=roads.tail,
            head=roads.head,
            free_s=roads.length / roads.speed * _KMH,
            capacity=_CAPACITY[roads.road_class] * np.maximum(roads.lanes, 1.0),
        )

    def by_period(self, demand: DayDemand) -> Iterator[tuple[float, RoadDemand]]:
        """Returns the hours of each period, and the vehicles an hour on roads in it."""
        period, origin, destination = demand.universe.decode(demand.cells)
        start, end = self.node[origin], self.node[destination]
        drives = (start != end) & (start >= 0) & (end >= 0)
        for number, part in enumerate(demand.universe.periods.day_parts):
            hours, now = part.minutes / 60, drives & (period == number)
            vehicles = demand.mean_trips[now] * self.vehicles_per_trip / hours
            yield hours, RoadDemand(origin=start[now], destination=end[now], vehicles=vehicles)


@dataclass(frozen=True, kw_only=True, eq=False)
class DayTraffic:
    """Traffic of an average day, or of some hours of it.

    Attributes:
        roads: Where it is.
        volumes: Vehicles on each link.
        seconds: What a vehicle spends on each link on average; on an empty one, what it would.
        vehicles: How many are on roads; other trips end where they begin, or far from roads.
        gap: The largest relative gap to an equilibrium among its periods.
    """

    roads: RoadNetwork
    volumes: FloatArray
    seconds: FloatArray
    vehicles: float
    gap: float

    @property
    def speeds(self) -> FloatArray:
        """Kilometres an hour on each link."""
        return np.asarray(self.roads.length / self.seconds * _KMH)

    @property
    def vehicle_hours(self) -> float:
        """What all vehicles spend on roads together."""
        return float(self.volumes @ self.seconds) / _HOUR_S

    @property
    def vehicle_km(self) -> float:
        """What all vehicles drive together."""
        return float(self.volumes @ self.roads.length) / 1000


def day_traffic(places: PlacesOnRoads, demand: DayDemand) -> DayTraffic:
    """Assigns the average day of a demand to roads, each period by itself."""
    volumes, spent_s = np.zeros((2, places.roads.links))
    vehicles, gap = 0.0, 0.0
    for hours, asked in places.by_period(demand):
        found = assign(places.supply, asked)
        volumes += hours * found.volumes
        spent_s += hours * found.volumes * found.seconds
        vehicles += hours * float(asked.vehicles.sum())
        gap = max(gap, found.gap)
    used = volumes > 0
    seconds = np.where(used, spent_s / np.where(used, volumes, 1.0), places.supply.free_s)
    return DayTraffic(
        roads=places.roads, volumes=volumes, seconds=seconds, vehicles=vehicles, gap=gap
    )
