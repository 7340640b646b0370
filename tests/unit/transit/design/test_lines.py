from collections import Counter
from itertools import pairwise

import numpy as np

from hushway.arrays import BoolArray
from hushway.geography.locations import Location, Locations
from hushway.geography.transit import TransitNetwork
from hushway.transit.design.design import Design
from hushway.transit.design.problem import DesignSettings
from hushway.transit.network_design import lines_of, lines_through

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
