"""Designs a bus network from a published release, as a file that can be evaluated and edited."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import PlanError
from hushway.geography.itineraries import Itineraries, itineraries
from hushway.geography.locations import Locations
from hushway.geography.transit import BusLine, TransitNetwork, network_toml
from hushway.progress import Progress
from hushway.release.folder.new_file import write_new
from hushway.transit.day_demand import DayDemand, Hours, published_day, read_od_table
from hushway.transit.design.design import design
from hushway.transit.design.lines import lines_of
from hushway.transit.design.problem import DesignSettings, design_problem
from hushway.transit.fleet import size_fleet
from hushway.transit.operations import ServiceRules

MOST_CANDIDATES = 20
# Hubs nearer to each other than riders walk would serve the same doors twice.
APART_M = 800.0
# No release is more exact than that, so a proof of the last thousandth is not worth waiting for.
GAP = 0.001

# A dense table has noise between all places. Lines live by the pairs that many ride between, and
# with 10,000 pairs a design takes minutes instead of seconds.
MOST_PAIRS = 3_000

_MINUTE_S, _HOUR_S = 60, 3600
_LITTLE = 1e-9


@dataclass(frozen=True, kw_only=True)
class DesignQuestion:
    """What is asked of a release."""

    candidates: int = 12
    day: str | None = None
    hours: Hours | None = None
    headway_min: float = 7.5

    def __post_init__(self) -> None:
        if not 2 <= self.candidates <= MOST_CANDIDATES:  # noqa: PLR2004
            raise PlanError(
                f"{self.candidates} places cannot be the candidates for hubs.",
                advice=f"Give a number from 2 to {MOST_CANDIDATES}.",
            )
        if not 1 <= self.headway_min * _MINUTE_S < np.inf:
            raise PlanError(
                "Buses cannot come more often than every second.",
                advice="Give a headway in minutes, such as 7.5.",
            )


@dataclass(frozen=True, kw_only=True, eq=False)
class NetworkDesign:
    """A network and what it is worth; costs are hours of riders' time a day, of those designed for.

    Attributes:
        network: The hubs that buses call at, and the lines.
        cost_h: What all riders and the buses cost together.
        shuttles_only_h: What riders would cost without buses.
        at_least_h: What any network between the candidates costs at least.
        designed_share: The share of them that the lines were designed for: those of the pairs with
            the most trips, and all unless there are very many pairs.
        bus_share: The share of all trips that ride a bus. Riders choose among the ways of
            `itineraries`, which know zones and walks that a design does not.
    """

    demand: DayDemand
    network: TransitNetwork
    routes: Itineraries
    candidates: tuple[int, ...]
    cost_h: float
    shuttles_only_h: float
    at_least_h: float
    trips: float
    designed_share: float
    bus_share: float

    def write(self, path: Path) -> None:
        """Writes the network as the file that `hushway evaluate --network` reads."""
        write_new(path, network_toml(self.network).encode())

    def picture(self, title: str) -> bytes:
        """Returns the network with the fleet that a day drawn from the release needs, as PNG.

        Privacy:
            Drawn from the release and public files alone.
        """
        # Matplotlib takes longest of all to load and is needed for nothing else.
        from hushway.transit.picture.picture import draw_network

        trips = self.demand.draw(0)
        plan = size_fleet(self.routes, trips, rules=ServiceRules(), window_s=self.demand.window_s)
        return draw_network(plan, self.network, title=title, routes=self.routes, trips=trips)


def design_network(release: Path, question: DesignQuestion, *, progress: Progress) -> NetworkDesign:
    """Designs bus lines between the busiest places of a release.

    Privacy:
        Reads a published release and nothing else: it costs nothing, and what it returns may be
        published like the release itself.
    """
    progress("Reading the release")
    table = read_od_table(release)
    demand = published_day(table, day=question.day, hours=question.hours)
    return design_for(demand, question, progress=progress)


def design_for(demand: DayDemand, question: DesignQuestion, *, progress: Progress) -> NetworkDesign:
    """Designs bus lines for the demand of a day."""
    locations = demand.universe.locations
    origin, destination, riders = _riders_by_pair(demand)
    ends = np.concatenate([origin, destination])
    visits = _sums(ends, np.tile(riders, 2), len(locations))
    candidates = busiest_apart(locations, visits, most=question.candidates)
    possible = TransitNetwork(locations=locations, hubs=tuple(sorted(candidates)), lines=())
    start_s, end_s = demand.window_s
    settings = DesignSettings(
        headway_s=round(question.headway_min * _MINUTE_S), window_s=end_s - start_s
    )
    progress("Designing lines")
    strongest = np.sort(np.argsort(-riders, kind="stable")[:MOST_PAIRS])
    problem = design_problem(
        possible, (origin[strongest], destination[strongest], riders[strongest]), settings
    )
    best = design(problem, gap=GAP)
    network = _ways_back_next(lines_of(best, possible, settings))
    progress("Finding riders' ways")
    routes = itineraries(network)
    everybody = max(float(riders.sum()), _LITTLE)
    by_bus = routes.first[origin, destination] != routes.last[origin, destination]
    return NetworkDesign(
        demand=demand,
        network=network,
        routes=routes,
        candidates=candidates,
        cost_h=best.cost / _HOUR_S,
        shuttles_only_h=float(problem.riders @ problem.without_buses) / _HOUR_S,
        at_least_h=best.bound / _HOUR_S,
        trips=float(riders.sum()),
        designed_share=float(problem.riders.sum()) / everybody,
        bus_share=float(riders[by_bus].sum()) / everybody,
    )


def busiest_apart(locations: Locations, visits: FloatArray, *, most: int) -> tuple[int, ...]:
    """Returns the places with the most visits, the busiest first, none close to another.

    Places without visits are left out.
    """
    apart_m = TransitNetwork(locations=locations, hubs=(), lines=()).distance_m
    free = visits > 0
    chosen: list[int] = []
    for place in np.argsort(-visits, kind="stable").tolist():
        if free[place] and len(chosen) < most:
            chosen.append(place)
            free &= apart_m[place] >= APART_M
    return tuple(chosen)


def _riders_by_pair(demand: DayDemand) -> tuple[IntArray, IntArray, FloatArray]:
    """Returns origins, destinations and the riders of each pair that has any, on an average day."""
    places = len(demand.universe.locations)
    _, origin, destination = demand.universe.decode(demand.cells)
    away = origin != destination
    pair, which = np.unique(origin[away] * places + destination[away], return_inverse=True)
    return pair // places, pair % places, _sums(which, demand.mean_trips[away], len(pair))


def _sums(which: IntArray, values: FloatArray, count: int) -> FloatArray:
    return np.bincount(which, values, count).astype(np.float64)


def _ways_back_next(network: TransitNetwork) -> TransitNetwork:
    """Puts every line's way back right after it, where the file can say both ways in one."""
    lines: list[BusLine] = []
    for line in network.lines:
        if line not in lines:
            lines.append(line)
            lines += [back for back in network.lines if back == line.back()]
    return replace(network, lines=tuple(lines))
