from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, permutations, product

import numpy as np
import pytest
from scipy.optimize import linprog

from hushway.arrays import BoolArray, FloatArray
from hushway.errors import PlanError
from hushway.geography.locations import Location, Locations
from hushway.geography.transit import TransitNetwork
from hushway.transit.design.cuts import cuts_at, pair_graphs
from hushway.transit.design.design import Design, design
from hushway.transit.design.problem import DesignProblem, DesignSettings
from hushway.transit.network_design import lines_of, lines_through


def _random(
    rng: np.random.Generator,
    *,
    pairs: int = 6,
    hubs: int = 3,
    open_cost: float = 60.0,
    metric: bool = True,
) -> DesignProblem:
    """Riders in a square if metric, else costs without any order."""
    riders = rng.integers(0, 9, pairs).astype(float)
    if not metric:
        return DesignProblem(
            riders=riders,
            direct=rng.uniform(5, 40, pairs),
            to_hub=rng.choice([0.0, 3.0, 8.0, 15.0, np.inf], (pairs, hubs)),
            from_hub=rng.choice([0.0, 3.0, 8.0, 15.0, np.inf], (pairs, hubs)),
            arc_cost=rng.integers(0, 12, (hubs, hubs)).astype(float),
            open_cost=rng.choice([0.0, open_cost / 4, open_cost, np.inf], (hubs, hubs)),
        )
    start, end, hub = (rng.uniform(0, 40, (n, 2)) for n in (pairs, pairs, hubs))

    def far(a: FloatArray, b: FloatArray) -> FloatArray:
        gap = a[:, None] - b[None]
        return np.hypot(gap[..., 0], gap[..., 1])

    return DesignProblem(
        riders=riders,
        direct=2 * far(start, end).diagonal(),
        to_hub=2 * far(start, hub),
        from_hub=2 * far(end, hub),
        arc_cost=far(hub, hub) / 2 + 1,
        open_cost=far(hub, hub) / 20 * open_cost / 10,
    )


def _way_costs(problem: DesignProblem, opened: BoolArray) -> FloatArray:
    """What riders pay, by looking at every simple way through the hubs."""
    hubs = range(len(opened))
    best = problem.direct.copy()
    for length in range(1, len(opened) + 1):
        for way in permutations(hubs, length):
            arcs = list(pairwise(way))
            if all(opened[arc] for arc in arcs):
                ride = sum(problem.arc_cost[arc] for arc in arcs)
                ends = problem.to_hub[:, way[0]] + problem.from_hub[:, way[-1]]
                best = np.minimum(best, ends + ride)
    return best


def _cost(problem: DesignProblem, opened: BoolArray) -> float:
    return problem.open_cost[opened].sum() + problem.riders @ _way_costs(problem, opened)


def _balanced_sets(hubs: int) -> Iterator[BoolArray]:
    arcs = [(i, j) for i in range(hubs) for j in range(hubs) if i != j]
    for chosen in product([False, True], repeat=len(arcs)):
        opened = np.zeros((hubs, hubs), dtype=bool)
        for arc, is_open in zip(arcs, chosen, strict=True):
            opened[arc] = is_open
        if (opened.sum(axis=0) == opened.sum(axis=1)).all():
            yield opened


_THREE, _FOUR = list(_balanced_sets(3)), list(_balanced_sets(4))


@pytest.mark.parametrize("metric", [True, False])
def test_no_balanced_set_of_arcs_between_three_hubs_is_cheaper(metric: bool) -> None:
    rng = np.random.default_rng(1)
    sizes = set()
    for _ in range(60):
        problem = _random(rng, open_cost=rng.choice([5.0, 30.0, 100.0]), metric=metric)
        found = design(problem)
        best = min(_cost(problem, opened) for opened in _THREE)
        assert found.cost == pytest.approx(best, rel=1e-9, abs=1e-9)
        assert found.cost == pytest.approx(_cost(problem, found.opened), rel=1e-12)
        assert found.bound <= found.cost
        assert found.bound == pytest.approx(found.cost, rel=1e-6)
        assert (found.opened.sum(axis=0) == found.opened.sum(axis=1)).all()
        assert not found.opened.diagonal().any()
        sizes.add(int(found.opened.sum()))
    # Nothing, a pair of hubs and more: the instances are neither all trivial nor all alike.
    assert {0, 2, 3} <= sizes


@pytest.mark.long
@pytest.mark.parametrize("metric", [True, False])
def test_no_balanced_set_of_arcs_between_four_hubs_is_cheaper(metric: bool) -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        problem = _random(rng, pairs=15, hubs=4, metric=metric)
        best = min(problem.cost(opened) for opened in _FOUR)
        assert design(problem).cost == pytest.approx(best, rel=1e-9)


def test_riders_take_the_cheapest_way_along_opened_arcs() -> None:
    rng = np.random.default_rng(3)
    for metric in [True, False] * 10:
        problem = _random(rng, hubs=4, metric=metric)
        opened = rng.random((4, 4)) < 0.5
        np.fill_diagonal(opened, val=False)
        expected = _way_costs(problem, opened)
        np.testing.assert_allclose(problem.rider_costs(opened), expected, rtol=1e-12)


def test_a_gap_is_kept_and_the_relaxation_of_one_large_program_is_below_every_design() -> None:
    problem = _random(np.random.default_rng(4), pairs=80, hubs=8, open_cost=300.0)
    found = design(problem)
    assert found.opened.sum() >= 4
    # The relaxation of the large program bounds every design from below.
    assert _flow_program(problem, fixed=None) <= found.cost * (1 + 1e-9)
    assert found.bound <= found.cost
    rough = design(problem, gap=0.05)
    assert rough.cost * (1 - 0.05) <= rough.bound <= found.cost <= rough.cost


def test_dearer_buses_never_open_more() -> None:
    rng = np.random.default_rng(5)
    for _ in range(5):
        problem = _random(rng, pairs=20, hubs=5, open_cost=1.0)
        spent = []
        for times in [0.5, 2.0, 8.0, 32.0, 128.0, 1e6]:
            dearer = replace(problem, open_cost=problem.open_cost * times)
            # What the arcs cost at one and the same price falls as their price rises.
            spent.append(problem.open_cost[design(dearer).opened].sum())
        assert spent == sorted(spent, reverse=True)
        assert spent[0] > 0
        assert spent[-1] == 0


def test_cuts_are_exact_where_they_were_made_and_hold_everywhere() -> None:
    rng = np.random.default_rng(6)
    for metric in [True, False] * 15:
        problem = _random(rng, hubs=4, metric=metric)
        graphs = pair_graphs(problem)
        made_at, elsewhere = rng.random((2, 16)) * rng.integers(0, 2, (2, 16))
        cuts = cuts_at(graphs, made_at)
        exact = _saved(problem, made_at)
        assert cuts.saved(graphs, made_at) @ graphs.riders == pytest.approx(exact, abs=1e-4)
        assert cuts.saved(graphs, elsewhere) @ graphs.riders >= _saved(problem, elsewhere) - 1e-6


def test_nothing_is_opened_where_nobody_gains() -> None:
    problem = _random(np.random.default_rng(7))
    stay = replace(problem, direct=np.zeros(6))
    found = design(stay)
    assert not found.opened.any()
    assert found.cost == found.bound == 0
    nobody = replace(problem, riders=np.zeros(6))
    assert not design(nobody).opened.any()


def test_a_city_without_hubs_or_riders_has_nothing_to_design() -> None:
    for pairs, hubs in [(3, 0), (0, 3), (0, 0), (2, 1)]:
        found = design(_random(np.random.default_rng(8), pairs=pairs, hubs=hubs))
        assert found.opened.shape == (hubs, hubs)
        assert not found.opened.any()
        assert found.bound == found.cost


def test_a_change_at_a_hub_without_a_bus_may_beat_the_direct_way() -> None:
    problem = DesignProblem(
        riders=np.array([10.0]),
        direct=np.array([50.0]),
        to_hub=np.array([[5.0, 20.0]]),
        from_hub=np.array([[6.0, 1.0]]),
        arc_cost=np.full((2, 2), 3.0),
        open_cost=np.full((2, 2), 100.0),
    )
    found = design(problem)
    assert not found.opened.any()
    assert found.cost == 110.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"direct": np.zeros(5)}, "direct is not"),
        ({"to_hub": np.full((6, 3), -1.0)}, "to_hub is not"),
        ({"arc_cost": np.full((3, 3), np.nan)}, "arc_cost is not"),
        ({"direct": np.full(6, np.inf), "to_hub": np.full((6, 3), np.inf)}, "without buses"),
        ({"riders": np.full(6, np.inf)}, "without buses"),
    ],
)
def test_costs_that_make_no_sense_are_refused(change: dict[str, FloatArray], message: str) -> None:
    problem = _random(np.random.default_rng(9))
    with pytest.raises(PlanError, match=message):
        replace(problem, **change)


def test_a_gap_must_be_a_share() -> None:
    with pytest.raises(PlanError, match="gap"):
        design(_random(np.random.default_rng(9)), gap=1.0)


def _saved(problem: DesignProblem, y: FloatArray) -> float:
    """What all riders save if arcs are open in part: a linear program, solved as such."""
    return float(problem.riders @ problem.without_buses) - _flow_program(problem, fixed=y)


def _flow_program(problem: DesignProblem, *, fixed: FloatArray | None) -> float:
    """Riders as flows and, unless they are fixed, arcs open in part: the least cost of both."""
    hubs = len(problem.arc_cost)
    arcs = [(i, j) for i in range(hubs) for j in range(hubs) if i != j and problem.may_open[i, j]]
    count = len(arcs)
    pairs = range(len(problem.riders))
    # Of each pair: its arcs, its graphs to hubs, its graphs from hubs, its way without buses.
    width = count + 2 * hubs + 1
    columns = count + width * len(pairs)
    cost = np.zeros(columns)
    top = np.ones(columns)
    equal, equal_to, most = [], [], []
    for at, arc in enumerate(arcs):
        if fixed is None:
            cost[at] = problem.open_cost[arc]
        else:
            top[at] = fixed[arc[0] * hubs + arc[1]]
    for pair in pairs:
        first = count + pair * width
        ends = np.concatenate([problem.to_hub[pair], problem.from_hub[pair]])
        arc_costs = (problem.arc_cost[arc] for arc in arcs)
        own = np.array([*arc_costs, *ends, problem.without_buses[pair]])
        top[first : first + width][~np.isfinite(own)] = 0.0
        cost[first : first + width] = problem.riders[pair] * np.where(np.isfinite(own), own, 0.0)
        leaves = np.zeros(columns)
        leaves[first + count : first + count + hubs] = 1
        leaves[first + width - 1] = 1
        equal.append(leaves)
        equal_to.append(1.0)
        for hub in range(hubs):
            row = np.zeros(columns)
            row[first + count + hub], row[first + count + hubs + hub] = 1, -1
            for at, (tail, head) in enumerate(arcs):
                row[first + at] = (head == hub) - (tail == hub)
            equal.append(row)
            equal_to.append(0.0)
        for at in range(count):
            row = np.zeros(columns)
            row[first + at], row[at] = 1, -1
            most.append(row)
    if fixed is None:
        for hub in range(hubs):
            row = np.zeros(columns)
            for at, (tail, head) in enumerate(arcs):
                row[at] = (head == hub) - (tail == hub)
            equal.append(row)
            equal_to.append(0.0)
    bounds = np.column_stack([np.zeros(columns), top])
    limits = {"A_ub": np.array(most), "b_ub": np.zeros(len(most))} if most else {}
    return linprog(cost, A_eq=np.array(equal), b_eq=equal_to, bounds=bounds, **limits).fun


_SETTINGS = DesignSettings(headway_s=300)


def _opened(hubs: int, *tours: tuple[int, ...]) -> BoolArray:
    opened = np.zeros((hubs, hubs), dtype=np.bool_)
    for tour in tours:
        for arc in pairwise(tour):
            opened[arc] = True
    return opened


def _network(hubs: int) -> TransitNetwork:
    """Returns candidates that are every second place of a list."""
    rng = np.random.default_rng(0)
    places = tuple(
        Location(id=f"P{i}", name=f"P{i}", lon=lon, lat=lat, zone="z")
        for i, (lon, lat) in enumerate(rng.uniform(0, 0.1, (2 * hubs, 2)).tolist())
    )
    return TransitNetwork(locations=Locations(places), hubs=tuple(range(1, 2 * hubs, 2)), lines=())


def _design(opened: BoolArray) -> Design:
    return Design(opened=opened, cost=0.0, bound=0.0, iterations=0)


def _random_balanced(rng: np.random.Generator, hubs: int) -> BoolArray:
    """Returns the arcs of some closed tours that share no arc."""
    opened = np.zeros((hubs, hubs), dtype=np.bool_)
    for _ in range(rng.integers(1, 6)):
        order = rng.permutation(hubs)[: rng.integers(2, hubs + 1)].tolist()
        tour = _opened(hubs, (*order, order[0]))
        if not (opened & tour).any():
            opened |= tour
    return opened


def test_lines_use_every_opened_arc_once_and_call_nowhere_twice() -> None:
    rng = np.random.default_rng(1)
    for _ in range(150):
        opened = _random_balanced(rng, int(rng.integers(2, 9)))
        lines = lines_through(opened)
        used = Counter(arc for line in lines for arc in pairwise(line))
        assert set(used.values()) == {1}
        assert set(used) == {(i, j) for i, j in np.argwhere(opened).tolist()}
        assert all(len(set(line)) == len(line) >= 2 for line in lines)
        assert lines == lines_through(opened.copy())


def test_no_hub_needs_more_lines_than_there_are_and_most_designs_need_no_more() -> None:
    # Every line leaves a hub at most once, so no fewer lines than arcs out of a hub can do.
    rng = np.random.default_rng(2)
    needed = found = 0
    for _ in range(60):
        opened = _random_balanced(rng, 7)
        needed += max(2, int(opened.sum(axis=1).max()))
        found += len(lines_through(opened))
    assert needed <= found <= 1.35 * needed


def test_a_line_there_and_back_is_two_lines_of_one_name() -> None:
    opened = _opened(5, (0, 2, 4, 1, 4, 2, 0))
    network = lines_of(_design(opened), _network(5), _SETTINGS)
    assert [line.stops for line in network.lines] == [(1, 5, 9, 3), (3, 9, 5, 1)]
    assert network.lines[1] == network.lines[0].back()
    assert network.hubs == (1, 3, 5, 9)


def test_a_closed_tour_is_cut_into_two_lines() -> None:
    assert len(lines_through(_opened(4, (0, 1, 2, 3, 0)))) == 2


def test_a_star_has_lines_through_its_centre() -> None:
    opened = _opened(5, *((0, spoke, 0) for spoke in (1, 2, 3, 4)))
    lines = lines_through(opened)
    assert len(lines) == 4
    assert all(len(line) == 3 and line[1] == 0 for line in lines)


def test_lines_ride_as_long_as_the_design_says() -> None:
    candidates = _network(4)
    opened = _opened(4, (0, 1, 3, 0))
    network = lines_of(_design(opened), candidates, _SETTINGS)
    ride_s = _SETTINGS.ride_s(candidates)
    for line in network.lines:
        assert line.headway_s == 300
        stops = candidates.hub_number[list(line.stops)].tolist()
        assert line.ride_s == tuple(ride_s[arc] for arc in pairwise(stops))
    assert network.hubs == (1, 3, 7)
    assert network.locations is candidates.locations
    assert len({line.name for line in network.lines}) == len(network.lines)


def test_no_arcs_make_no_lines_and_no_hubs() -> None:
    network = lines_of(_design(_opened(3)), _network(3))
    assert network.lines == ()
    assert network.hubs == ()
