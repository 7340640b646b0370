"""How fast bus lines are designed, beside one large mixed-integer program.

Both solve the same problem to a proven optimum, the program by HiGHS as well and with the same arcs
left out that can help nobody: the morning of the synthetic Ann Arbor with its 20 busiest places as
candidates, and riders at random between places in a square of 10 km. The program gets a limit of
time; if it meets it, what is reported is by which share of its cost it had not proved its answer,
and the ratio is the least that it can be. `off` is the difference of the costs, as a share.

The riders at random were chosen, among six numbers, so that lines open and both finish: with fewer
no line is worth its buses, and with up to 12 a pair instead of 9 neither had proved its answer
after 100 s of a busy machine. One such instance says little about others.
"""

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from harness import print_figures, timed
from hushway.families.od.city.ann_arbor import ann_arbor
from hushway.families.od.city.places import WINDOW
from hushway.geography.locations import Location, Locations
from hushway.geography.transit import TransitNetwork
from hushway.transit.design.cuts import pair_graphs
from hushway.transit.design.design import design
from hushway.transit.design.problem import DesignProblem, DesignSettings, design_problem
from hushway.transit.network_design import busiest_apart

HUBS = 20
PAIRS, PLACES = 300, 150
# A pair has fewer riders than this: enough for a few lines to be worth their buses.
MOST_RIDERS = 10
SQUARE_DEGREES = 0.09
LIMIT_S = 60.0
RUNS = 3


def morning() -> DesignProblem:
    """The city's riders between 08:00 and 10:00."""
    city = ann_arbor(seed=2018)
    inside = (city.trips.period >= WINDOW.start) & (city.trips.period < WINDOW.stop)
    origin, destination = city.trips.origin[inside], city.trips.destination[inside]
    locations = city.network.locations
    visits = np.bincount(np.concatenate([origin, destination]), minlength=len(locations))
    hubs = busiest_apart(locations, visits.astype(float), most=HUBS)
    network = TransitNetwork(locations=locations, hubs=tuple(sorted(hubs)), lines=())
    pairs, riders = np.unique(np.stack([origin, destination]), axis=1, return_counts=True)
    return design_problem(network, (pairs[0], pairs[1], riders.astype(float)))


def at_random(seed: int = 1) -> DesignProblem:
    """Riders between places in a square; the first places are the candidates."""
    rng = np.random.default_rng(seed)
    places = tuple(
        Location(id=f"p{i}", name="", lon=lon, lat=lat, zone="z")
        for i, (lon, lat) in enumerate(rng.uniform(0, SQUARE_DEGREES, (PLACES, 2)).tolist())
    )
    network = TransitNetwork(locations=Locations(places), hubs=tuple(range(HUBS)), lines=())
    pair = rng.choice(PLACES * (PLACES - 1), PAIRS, replace=False)
    origin, destination = np.divmod(pair, PLACES - 1)
    destination += destination >= origin
    riders = rng.integers(1, MOST_RIDERS, PAIRS).astype(float)
    return design_problem(network, (origin, destination, riders), DesignSettings())


def one_program(problem: DesignProblem) -> tuple[float, float]:
    """Returns the cost that one large program finds, and the share of it that is not proved."""
    graphs = pair_graphs(problem)
    arcs, flows = problem.open_cost.size, len(graphs.tail)
    nodes, pairs = graphs.hubs + 2, len(graphs.riders)
    which = np.arange(flows)
    # Each pair sends one rider from its origin to its destination.
    rows = np.concatenate([graphs.pair * nodes + graphs.tail, graphs.pair * nodes + graphs.head])
    values = np.repeat([1.0, -1.0], flows)
    shape = pairs * nodes, arcs + flows
    conserved = csr_array((values, (rows, arcs + np.tile(which, 2))), shape=shape)
    sent = np.zeros(pairs * nodes)
    sent[graphs.hubs :: nodes], sent[graphs.hubs + 1 :: nodes] = 1.0, -1.0
    # Nobody rides an arc that is not open.
    bus = np.flatnonzero(graphs.bus >= 0)
    each = np.arange(len(bus))
    columns = np.concatenate([arcs + bus, graphs.bus[bus]])
    values = np.repeat([1.0, -1.0], len(bus))
    shape = len(bus), arcs + flows
    opened = csr_array((values, (np.tile(each, 2), columns)), shape=shape)
    tail, head = np.divmod(np.arange(arcs), graphs.hubs)
    values = np.repeat([1.0, -1.0], arcs)
    shape = graphs.hubs, arcs + flows
    places = np.concatenate([tail, head]), np.tile(np.arange(arcs), 2)
    balance = csr_array((values, places), shape=shape)
    most = np.concatenate([problem.may_open.ravel().astype(float), np.ones(flows)])
    cost = np.concatenate([problem.open_cost.ravel(), graphs.riders[graphs.pair] * graphs.cost])
    cost[:arcs][~problem.may_open.ravel()] = 0.0
    found = milp(
        # The solver's tolerances are absolute.
        cost / graphs.without_buses.max() * 1000,
        constraints=[
            LinearConstraint(conserved, sent, sent),
            LinearConstraint(opened, -np.inf, 0),
            LinearConstraint(balance, 0, 0),
        ],
        bounds=Bounds(0, most),
        integrality=np.arange(arcs + flows) < arcs,
        options={"mip_rel_gap": 0.0, "time_limit": LIMIT_S},
    )
    if found.x is None:
        return float("inf"), float("inf")
    chosen = np.round(found.x[:arcs]).reshape(problem.open_cost.shape) == 1
    return problem.cost(chosen), float(found.mip_gap)


def compare(name: str, problem: DesignProblem, runs: int) -> dict[str, float]:
    """Solves one problem both graphs."""
    ours, best = timed(lambda: design(problem), runs)
    theirs, (cost, unproved) = timed(lambda: one_program(problem), 1)
    return {
        f"{name}_pairs": len(problem.riders),
        f"{name}_arcs_opened": int(best.opened.sum()),
        f"{name}_saved": 1 - best.cost / float(problem.riders @ problem.without_buses),
        f"{name}_ours_unproved": (best.cost - best.bound) / best.cost,
        f"{name}_ours_seconds": ours,
        f"{name}_program_seconds": theirs,
        f"{name}_program_over_ours": theirs / ours,
        f"{name}_program_unproved": unproved,
        f"{name}_off": (cost - best.cost) / best.cost,
    }


def main() -> dict[str, float]:
    """Measures, prints and returns the numbers."""
    city = morning()
    design(city)  # compiles
    figures = compare("city", city, RUNS) | compare("random", at_random(), 1)
    bars = {"city_off": "0", "random_off": "0 or more", "random_program_over_ours": "above 1"}
    print_figures(figures, bars, ".4g")
    return figures


if __name__ == "__main__":
    main()
