from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

from hushway.geography.itineraries import NO_CHANGE, bus_rides
from hushway.geography.locations import Location, Locations
from hushway.geography.transit import BusLine, TransitNetwork

CHANGE_S = 60


def network_of(places: int, hubs: tuple[int, ...], *lines: BusLine) -> TransitNetwork:
    located = tuple(
        Location(id=f"p{i}", name="", lon=i / 100, lat=0.0, zone="z") for i in range(places)
    )
    return TransitNetwork(locations=Locations(located), hubs=hubs, lines=lines)


def line(*stops: int, ride_s: int = 100, headway_s: int = 600) -> BusLine:
    rides = (ride_s,) * (len(stops) - 1)
    return BusLine(name="L", stops=stops, ride_s=rides, headway_s=headway_s)


def random_network(seed: int) -> TransitNetwork:
    rng = np.random.default_rng(seed)
    hubs = tuple(sorted(rng.choice(12, size=6, replace=False).tolist()))
    lines = []
    for _ in range(rng.integers(0, 6)):
        stops = tuple(rng.permutation(hubs)[: rng.integers(2, 6)].tolist())
        rides = tuple(rng.integers(1, 9, len(stops) - 1).tolist())
        lines.append(
            BusLine(name="L", stops=stops, ride_s=rides, headway_s=int(rng.integers(1, 20)))
        )
    return network_of(12, hubs, *lines)


def single_rides(network: TransitNetwork, start: int, end: int) -> Iterator[float]:
    """Yields what every ride between two places on one line costs."""
    for each in network.lines:
        if start in each.stops and end in each.stops:
            first, last = each.stops.index(start), each.stops.index(end)
            if first < last:
                yield each.headway_s / 2 + sum(each.ride_s[first:last])


def all_rides(network: TransitNetwork, start: int, end: int, change_s: int) -> Iterator[float]:
    """Yields what every way by one or two buses costs."""
    yield from single_rides(network, start, end)
    for middle in network.hubs:
        for one in single_rides(network, start, middle):
            for other in single_rides(network, middle, end):
                yield one + change_s + other


@pytest.mark.parametrize("change_s", [0, 7])
@pytest.mark.parametrize("seed", range(25))
def test_the_best_way_costs_what_the_best_of_all_ways_costs(seed: int, change_s: int) -> None:
    network = random_network(seed)
    rides = bus_rides(network, change_s=change_s)
    for row, start in enumerate(network.hubs):
        for column, end in enumerate(network.hubs):
            ways = all_rides(network, start, end, change_s) if start != end else [0.0]
            assert rides.cost_s[row, column] == min(ways, default=np.inf)


@pytest.mark.parametrize("seed", range(25))
def test_the_legs_of_the_best_way_cost_what_it_costs(seed: int) -> None:
    network = random_network(seed)
    rides = bus_rides(network, change_s=CHANGE_S)
    for row, column in np.argwhere(np.isfinite(rides.cost_s)).tolist():
        middle = rides.change[row, column]
        via = [row, column] if middle == NO_CHANGE else [row, middle, column]
        cost = CHANGE_S * (len(via) - 2)
        for legs in pairwise(via) if row != column else ():
            taken = network.lines[rides.line[legs]]
            board, alight = rides.board[legs], rides.alight[legs]
            assert board < alight
            assert taken.stops[board] == network.hubs[legs[0]]
            assert taken.stops[alight] == network.hubs[legs[1]]
            assert rides.ride_s[legs] == sum(taken.ride_s[board:alight])
            cost += taken.headway_s / 2 + rides.ride_s[legs]
        assert rides.cost_s[row, column] == cost


def test_a_line_goes_one_way() -> None:
    rides = bus_rides(network_of(2, (0, 1), line(0, 1)), change_s=CHANGE_S)
    assert rides.cost_s.tolist() == [[0, 400], [np.inf, 0]]
    assert rides.line.tolist() == [[-1, 0], [-1, -1]]


def test_hubs_are_counted_as_hubs_wherever_they_are_in_the_list() -> None:
    rides = bus_rides(network_of(9, (2, 5, 8), line(8, 2)), change_s=CHANGE_S)
    assert rides.cost_s[2, 0] == 400
    assert np.isinf(rides.cost_s[[0, 0, 1], [1, 2, 2]]).all()


def test_two_changes_are_never_made() -> None:
    lines = line(0, 1), line(1, 2), line(2, 3)
    rides = bus_rides(network_of(4, (0, 1, 2, 3), *lines), change_s=CHANGE_S)
    assert rides.cost_s[0].tolist() == [0, 400, 860, np.inf]
    assert rides.change[0].tolist() == [NO_CHANGE, NO_CHANGE, 1, NO_CHANGE]


def test_one_bus_is_preferred_to_two_that_cost_as_much() -> None:
    slow = line(0, 2, ride_s=860 - 300)
    rides = bus_rides(network_of(3, (0, 1, 2), line(0, 1), line(1, 2), slow), change_s=CHANGE_S)
    assert rides.cost_s[0, 2] == 860
    assert (rides.change[0, 2], rides.line[0, 2]) == (NO_CHANGE, 2)


def test_two_buses_are_taken_where_they_are_faster_than_one() -> None:
    slow = line(0, 2, ride_s=861 - 300)
    rides = bus_rides(network_of(3, (0, 1, 2), line(0, 1), line(1, 2), slow), change_s=CHANGE_S)
    assert (rides.cost_s[0, 2], rides.change[0, 2]) == (860, 1)


def test_of_equal_lines_the_first_is_taken_and_of_equal_changes_the_smaller_hub() -> None:
    lines = [line(0, middle) for middle in (2, 1, 1)] + [line(middle, 3) for middle in (2, 1)]
    rides = bus_rides(network_of(4, (0, 1, 2, 3), *lines), change_s=CHANGE_S)
    assert rides.line[0, 1] == 1
    assert rides.change[0, 3] == 1


def test_nobody_goes_from_a_hub_to_itself_by_bus() -> None:
    rides = bus_rides(network_of(2, (0, 1), line(0, 1), line(1, 0)), change_s=0)
    assert np.diag(rides.cost_s).tolist() == [0, 0]
    assert np.diag(rides.change).tolist() == [NO_CHANGE, NO_CHANGE]


def test_without_lines_no_hub_is_reached_and_without_hubs_there_is_no_table() -> None:
    rides = bus_rides(network_of(3, (0, 2)), change_s=CHANGE_S)
    assert rides.cost_s.tolist() == [[0, np.inf], [np.inf, 0]]
    assert (rides.change == NO_CHANGE).all()
    nothing = bus_rides(network_of(3, ()), change_s=CHANGE_S)
    assert nothing.cost_s.shape == nothing.change.shape == nothing.line.shape == (0, 0)
