"""Buses against every departure of every line, in plain words."""

from collections import Counter

import numpy as np
import pytest

from hushway.geography.itineraries import bus_rides
from hushway.geography.transit import BusLine, TransitNetwork
from hushway.transit.simulation import Buses, board, buses_from
from support.rider_scenes import placed

HOUR = 3600


def network_of(*lines: BusLine, hubs: int = 4) -> TransitNetwork:
    spots = [(1_000.0 * hub, 0.0, "a") for hub in range(hubs)]
    return TransitNetwork(locations=placed(*spots), hubs=tuple(range(hubs)), lines=lines)


def buses_of(network: TransitNetwork, *, seats: int, start_s: int, end_s: int) -> Buses:
    rides = bus_rides(network, change_s=0)
    return buses_from(network, rides, seats=seats, start_s=start_s, end_s=end_s)


LINE = BusLine(name="L", stops=(0, 1, 2, 3), ride_s=(100, 200, 300), headway_s=600)


@pytest.mark.parametrize(
    ("now_s", "ends", "rides"),
    [
        (7200, (0, 3), (7200, 7800)),  # a bus that leaves this very second is boarded
        (7201, (0, 1), (7800, 7900)),
        (7200, (1, 2), (7300, 7500)),
        (7301, (1, 2), (7900, 8100)),
        (7200, (2, 3), (7500, 7800)),
        (0, (2, 3), (300, 600)),
    ],
)
def test_the_next_bus_is_boarded(now_s: int, ends: tuple[int, int], rides: tuple[int, int]) -> None:
    buses = buses_of(network_of(LINE), seats=1, start_s=now_s, end_s=now_s)
    assert board(buses, *ends, now_s) == rides


def test_when_all_buses_are_full_there_is_none_any_more() -> None:
    buses = buses_of(network_of(LINE), seats=2, start_s=0, end_s=0)
    taken = [board(buses, 0, 3, 0).leaves_s for _ in range(80)]
    assert taken[:74] == [600 * run for run in range(37) for _ in range(2)]
    assert taken[74:] == [-1] * 6
    assert board(buses, 0, 3, 0) == (-1, -1)


def test_a_bus_that_left_before_the_first_trip_is_boarded_on_its_way() -> None:
    buses = buses_of(network_of(LINE), seats=1, start_s=250, end_s=250)
    # It left its first stop at midnight; and the one before, on the day before.
    assert board(buses, 2, 3, 250) == (300, 600)
    line = BusLine(name="L", stops=(0, 1), ride_s=(700,), headway_s=600)
    later = BusLine(name="M", stops=(0, 1, 2), ride_s=(700, 50), headway_s=600)
    buses = buses_of(network_of(line, later), seats=1, start_s=0, end_s=0)
    assert board(buses, 1, 2, 0) == (100, 150)


def test_a_full_bus_is_let_pass_only_where_it_is_full() -> None:
    buses = buses_of(network_of(LINE), seats=1, start_s=0, end_s=0)
    assert board(buses, 1, 2, 0).leaves_s == 100
    assert board(buses, 0, 1, 0).leaves_s == 0
    assert board(buses, 2, 3, 0).leaves_s == 300
    assert board(buses, 0, 3, 0).leaves_s == 600
    assert board(buses, 0, 1, 0).leaves_s == 1200


@pytest.mark.parametrize("seed", range(12))
def test_riders_board_the_first_bus_with_a_seat_all_the_way(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lines = []
    for number in range(3):
        stops = tuple(rng.permutation(4)[: rng.integers(2, 5)].tolist())
        ride_s = tuple(rng.integers(30, 900, len(stops) - 1).tolist())
        headway_s = int(rng.integers(100, 800))
        lines.append(BusLine(name=f"L{number}", stops=stops, ride_s=ride_s, headway_s=headway_s))
    network, seats = network_of(*lines), int(rng.integers(1, 4))
    rides = bus_rides(network, change_s=0)
    start_s = int(rng.integers(0, 4000))
    buses = buses_from(network, rides, seats=seats, start_s=start_s, end_s=start_s + HOUR)
    on_board: Counter[tuple[int, int, int]] = Counter()
    joined = np.argwhere(rides.line >= 0)
    for _ in range(50):
        start, end = (int(hub) for hub in rng.choice(joined))
        now_s = int(rng.integers(start_s, start_s + HOUR))
        number = int(rides.line[start, end])
        line = lines[number]
        first, last = line.stops.index(start), line.stops.index(end)
        leaves_s = sum(line.ride_s[:first])
        run = -20
        while run * line.headway_s + leaves_s < now_s or any(
            on_board[number, run, stop] == seats for stop in range(first, last)
        ):
            run += 1
        on_board.update((number, run, stop) for stop in range(first, last))
        left_s = run * line.headway_s + leaves_s
        arrives_s = left_s + sum(line.ride_s[first:last])
        assert board(buses, start, end, now_s) == (left_s, arrives_s)
    assert sorted(buses.load[buses.load > 0]) == sorted(on_board.values())
    assert buses.load.max() == seats


def test_a_network_without_lines_has_no_buses() -> None:
    for hubs in (0, 2):
        network = TransitNetwork(
            locations=placed((0.0, 0.0, "a"), (500.0, 0.0, "a")), hubs=tuple(range(hubs)), lines=()
        )
        buses = buses_of(network, seats=1, start_s=0, end_s=0)
        assert len(buses.line) == len(buses.load) == len(buses.clock) == 0
        assert buses.ride.shape == (hubs, hubs)
