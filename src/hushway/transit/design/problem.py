"""What network design has to decide: which bus arcs between candidate hubs are worth their buses.

This is the problem of Maheo, Kilby and Van Hentenryck (Transportation Science, 2017). All costs are
seconds of a rider's time.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.errors import PlanError
from hushway.geography.itineraries import RiderCosts
from hushway.geography.transit import TransitNetwork

_HOUR_S = 3600
_METRES_PER_KM = 1000


@dataclass(frozen=True, kw_only=True)
class DesignSettings:
    """What buses are like, and what they cost.

    Attributes:
        costs: What shuttles, waits and changes cost riders. Nobody walks to a hub here.
        bus_detour: How much longer the way of a bus is than the way by air.
        headway_s: Seconds from one bus to the next; a rider waits half of it for every arc.
        window_s: How long the buses run, and how long the demand lasts.
        bus_hour_s: What an hour of a bus costs, as seconds of a rider. The default stands for 100
            dollars for bus and driver, and 15 dollars for an hour of a rider.
    """

    costs: RiderCosts = field(default_factory=RiderCosts)
    bus_m_per_s: float = 7.0
    bus_detour: float = 1.3
    bus_stop_s: int = 30
    headway_s: int = 450
    window_s: int = 7_200
    bus_hour_s: float = 24_000.0

    def __post_init__(self) -> None:
        if not self.bus_m_per_s > 0 or not self.bus_detour >= 1 or self.bus_stop_s < 1:
            raise PlanError(
                "Buses need a speed, a detour factor and a stop time.",
                advice="Give a speed above 0, a detour of 1 or more, and a stop of 1 s or more.",
            )
        if min(self.headway_s, self.window_s) < 1 or not 0 <= self.bus_hour_s < np.inf:
            raise PlanError(
                "Buses need a headway, a time to run and a cost.",
                advice="Give seconds above 0, and a bus_hour_s of 0 or more.",
            )

    def ride_s(self, network: TransitNetwork) -> IntArray:
        """Returns seconds of a bus from every hub (row) to every other (column), a stop included.

        Whole seconds are rounded up, as lines need them.
        """
        hubs = list(network.hubs)
        street_m = network.distance_m[np.ix_(hubs, hubs)] * self.bus_detour
        return np.ceil(street_m / self.bus_m_per_s + self.bus_stop_s).astype(np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class DesignProblem:
    """Riders, and hubs between which buses may run.

    A rider goes by the cheapest way: directly, or to a hub, along opened arcs or along none, and on
    from there. Infinite costs mean that there is no such way.

    Attributes:
        riders: How many riders each pair of places has.
        direct: What each rider of a pair pays to go directly.
        to_hub: What it costs from the origin of each pair (row) to every hub (column).
        from_hub: What it costs from every hub (column) to the destination of each pair (row).
        arc_cost: What the bus costs a rider from every hub (row) to every other (column).
        open_cost: What it costs to run buses there, once for all riders.
    """

    riders: FloatArray
    direct: FloatArray
    to_hub: FloatArray
    from_hub: FloatArray
    arc_cost: FloatArray
    open_cost: FloatArray

    def __post_init__(self) -> None:
        pairs, hubs = len(self.riders), len(self.arc_cost)
        expected = {
            "riders": (pairs,),
            "direct": (pairs,),
            "to_hub": (pairs, hubs),
            "from_hub": (pairs, hubs),
            "arc_cost": (hubs, hubs),
            "open_cost": (hubs, hubs),
        }
        for name, shape in expected.items():
            values = getattr(self, name)
            if values.shape != shape or not (values >= 0).all():
                raise PlanError(
                    f"In a design, {name} is not {shape} numbers of 0 or more.",
                    advice="Give one row a pair, one column a hub, and no negative costs.",
                )
        if not (np.isfinite(self.riders).all() and np.isfinite(self.without_buses).all()):
            raise PlanError(
                "Some riders of a design cannot travel without buses, or cannot be counted.",
                advice="Give every pair a finite direct cost and a finite number of riders.",
            )

    @cached_property
    def without_buses(self) -> FloatArray:
        """What each rider of a pair pays if no arc is open."""
        at_one_hub = (self.to_hub + self.from_hub).min(axis=1, initial=np.inf)
        return np.asarray(np.minimum(self.direct, at_one_hub))

    @cached_property
    def may_open(self) -> BoolArray:
        """Which arcs can be opened at all."""
        return np.isfinite(self.open_cost) & ~np.eye(len(self.open_cost), dtype=np.bool_)

    def between_hubs(self, opened: BoolArray) -> FloatArray:
        """Returns what the cheapest way along opened arcs costs from every hub to every other."""
        cost = np.where(opened, self.arc_cost, np.inf)
        np.fill_diagonal(cost, 0.0)
        for by_way in range(len(cost)):
            cost = np.minimum(cost, cost[:, by_way, None] + cost[by_way])
        return cost

    def rider_costs(self, opened: BoolArray) -> FloatArray:
        """Returns what each rider of a pair pays if these arcs are open."""
        between = self.between_hubs(opened)
        best = self.without_buses.copy()
        for last in range(len(between)):
            reach = (self.to_hub + between[:, last]).min(axis=1)
            best = np.minimum(best, reach + self.from_hub[:, last])
        return best

    def cost(self, opened: BoolArray) -> float:
        """Returns what these arcs and all riders cost together."""
        return float(self.open_cost[opened].sum() + self.riders @ self.rider_costs(opened))


def design_problem(
    network: TransitNetwork,
    demand: tuple[IntArray, IntArray, FloatArray],
    settings: DesignSettings | None = None,
) -> DesignProblem:
    """Returns the design problem of candidate hubs and a demand.

    Args:
        network: Its hubs are the candidates; its lines do not matter.
        demand: Origins and destinations, indices of places, and the number of riders of each pair.
    """
    settings = settings or DesignSettings()
    origin, destination, riders = demand
    if (origin == destination).any():
        raise PlanError(
            "Some riders of a design end where they began.",
            advice="Leave trips from a place to itself out of the demand.",
        )
    street_km = network.distance_m * network.travel.detour / _METRES_PER_KM
    shuttle = network.shuttle_s + settings.costs.shuttle_km_s * street_km
    shuttle += settings.costs.shuttle_wait_s
    # As in the itineraries: whoever comes to a bus by shuttle changes vehicles once more.
    hubs = np.array(network.hubs, dtype=np.int64)
    at_hub = np.arange(len(network.locations))[:, None] == hubs
    to_hub = np.where(at_hub, 0.0, shuttle[:, hubs] + settings.costs.change_s)
    from_hub = np.where(at_hub, 0.0, shuttle[hubs].T + settings.costs.change_s)
    ride_s = settings.ride_s(network)
    buses = ride_s / settings.headway_s
    return DesignProblem(
        riders=np.asarray(riders, dtype=np.float64),
        direct=shuttle[origin, destination],
        to_hub=to_hub[origin],
        from_hub=from_hub[destination],
        arc_cost=(ride_s + settings.headway_s / 2).astype(np.float64),
        open_cost=buses * settings.bus_hour_s * (settings.window_s / _HOUR_S),
    )
