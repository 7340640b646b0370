"""Designs a bus network from a published release, as a file that can be evaluated and edited."""

from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.errors import PlanError
from hushway.geography.itineraries import Itineraries, itineraries
from hushway.geography.locations import Locations
from hushway.geography.transit import BusLine, TransitNetwork, network_toml
from hushway.progress import Progress
from hushway.release.folder.new_file import write_new
from hushway.transit.day_demand import DayDemand, Hours, published_day, read_od_table
from hushway.transit.design.design import Design, design
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


Arc = tuple[int, int]


def lines_of(
    design: Design, network: TransitNetwork, settings: DesignSettings | None = None
) -> TransitNetwork:
    """Returns the network with lines along exactly the opened arcs, and the hubs that they touch.

    Args:
        network: The network whose hubs were the candidates; its own lines are dropped.
    """
    settings = settings or DesignSettings()
    ride_s = settings.ride_s(network)
    lines: list[BusLine] = []
    for stops in lines_through(design.opened):
        places = tuple(network.hubs[hub] for hub in stops)
        # The way back of a line shares its name.
        back = [line.name for line in lines if line.stops == places[::-1]]
        names = len({line.name for line in lines})
        lines.append(
            BusLine(
                name=back[0] if back else f"Line {names + 1}",
                stops=places,
                ride_s=tuple(int(ride_s[arc]) for arc in pairwise(stops)),
                headway_s=settings.headway_s,
            )
        )
    return TransitNetwork(
        locations=network.locations,
        hubs=tuple(sorted({stop for line in lines for stop in line.stops})),
        lines=tuple(lines),
        travel=network.travel,
    )


def lines_through(opened: BoolArray) -> list[tuple[int, ...]]:
    """Returns few lines that use every opened arc once and no other, each through distinct hubs.

    Every hub has as many arcs in as out, so each arc that enters a hub can be followed by one that
    leaves it, and the arcs fall into closed tours. A tour is cut into lines, each as long as it may
    be. Which arc follows which is improved by swaps, as long as that saves a line.
    """
    hubs = range(len(opened))
    follows: dict[Arc, Arc] = {}
    for hub in hubs:
        arcs_in = [(other, hub) for other in hubs if opened[other, hub]]
        arcs_out = [(hub, other) for other in hubs if opened[hub, other]]
        # One place on: an arc there and back is not followed by its own way back if others exist.
        follows |= dict(zip(arcs_in, arcs_out[1:] + arcs_out[:1], strict=True))
    lines = _cut(follows)
    improved = True
    while improved:
        improved = False
        for one, other in combinations(sorted(follows, key=lambda arc: arc[::-1]), 2):
            if one[1] != other[1]:
                continue
            swapped = follows | {one: follows[other], other: follows[one]}
            fewer = _cut(swapped)
            if len(fewer) < len(lines):
                follows, lines, improved = swapped, fewer, True
    return sorted(lines)


def _cut(follows: dict[Arc, Arc]) -> list[tuple[int, ...]]:
    """Returns the fewest lines that the tours can be cut into."""
    lines: list[tuple[int, ...]] = []
    left = dict.fromkeys(sorted(follows))
    while left:
        arc = next(iter(left))
        tour = []
        while arc in left:
            del left[arc]
            tour.append(arc[0])
            arc = follows[arc]
        # The first line cannot be longer, so wherever a tour is cut, one cut lies at one of that
        # line's later stops.
        starts = range(1, len(_cut_from(tour, 0)[0]))
        cuts = [_cut_from(tour, start) for start in starts]
        best = min(cuts, key=len)
        lines.extend(best)
    return lines


def _cut_from(tour: list[int], start: int) -> list[tuple[int, ...]]:
    """Cuts a closed tour into lines that are as long as they may be, from a stop on."""
    stops = [*tour[start:], *tour[: start + 1]]
    lines, line = [], [stops[0]]
    for stop in stops[1:]:
        if stop in line:
            lines.append(tuple(line))
            line = [line[-1]]
        line.append(stop)
    return [*lines, tuple(line)]
