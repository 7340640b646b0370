"""A day by hand, days at the edge of what there is, and figures added up rider by rider."""

import numpy as np
import pytest

from hushway.errors import PlanError
from hushway.geography.itineraries import Itineraries, RiderCosts, itineraries
from hushway.geography.transit import BusLine, TransitNetwork, Travel
from hushway.transit.legs import RiderTrips, in_order
from hushway.transit.operations import Operations, ServiceRules, operate
from support.rider_scenes import placed, random_scene

WINDOW_S = 0, 7200
# A hundred seconds by shuttle and a thousand on foot for each kilometre.
TRAVEL = Travel(shuttle_m_per_s=10.0, detour=1.0, stop_s=0, walk_m_per_s=1.0)


@pytest.fixture
def town() -> Itineraries:
    """Two hubs with a bus between them; a kilometre outside each a door, and one to walk to."""
    line = BusLine(name="L", stops=(0, 1), ride_s=(400,), headway_s=300)
    spots = ((0.0, 0.0, "a"), (5999.0, 0.0, "b"), (-999.0, 0.0, "a"), (6998.0, 0.0, "b"))
    network = TransitNetwork(
        locations=placed(*spots, (5999.0, 100.3, "b")),
        hubs=(0, 1),
        lines=(line, line.back()),
        travel=TRAVEL,
    )
    return itineraries(network, RiderCosts(change_s=0, most_walk_m=200.0))


def trips_of(*trips: tuple[int, int, int]) -> RiderTrips:
    return in_order(*np.array(trips, dtype=np.int64).reshape(-1, 3).T)


def figures_of(day: Operations) -> list[float]:
    return [
        day.mean_leg_wait_s,
        day.mean_shuttle_wait_s,
        day.mean_trip_wait_s,
        day.mean_in_vehicle_s,
        day.mean_trip_s,
        day.mean_idle_s,
        day.unserved_legs,
        day.unserved_trips,
    ]


def test_a_rider_goes_by_shuttle_bus_and_shuttle(town: Itineraries) -> None:
    # Shuttles wait where riders ask: the first is at the door, and at the hub after 100 s.
    # The bus leaves 280 s after the departure and arrives at 680; there a shuttle waits.
    day = operate(town, trips_of((1220, 2, 3)), (1, 1), rules=ServiceRules(), window_s=WINDOW_S)
    assert day.leg["zone"].tolist() == [0, 1]
    assert day.leg["request_s"].tolist() == [1220, 1900]
    assert day.leg["board_s"].tolist() == [1220, 1900]
    assert day.leg["leave_s"].tolist() == [1320, 2000]
    assert day.leg["shuttle"].tolist() == [0, 1]
    assert day.trip["arrival_s"].tolist() == [2000]
    waits_s = (0 + 180 + 0) / 3
    assert figures_of(day) == [waits_s, 0, 180, 600, 780, 7200 - 100, 0, 0]
    assert day.shuttle["driven_s"].tolist() == [100, 100]


def test_a_rider_walks_from_the_bus(town: Itineraries) -> None:
    day = operate(town, trips_of((300, 0, 4)), (0, 0), rules=ServiceRules(), window_s=WINDOW_S)
    assert day.trip["arrival_s"].tolist() == [300 + 400 + 100]
    assert figures_of(day) == [0, 0, 0, 400, 500, 0, 0, 0]


def test_a_rider_whom_no_shuttle_reaches_stays_where_she_is(town: Itineraries) -> None:
    # Zone b has no shuttle: who gets to its hub does not get on.
    trips = trips_of((1220, 2, 3), (1220, 2, 0))
    day = operate(town, trips, (2, 0), rules=ServiceRules(), window_s=WINDOW_S)
    assert (day.unserved_legs, day.unserved_trips) == (1, 1)
    assert day.leg["board_s"].tolist() == [1220, -1, 1220]
    assert day.leg["shuttle"][1] == -1
    assert day.trip["arrival_s"].tolist() == [-1, 1320]
    assert day.mean_trip_s == 100
    assert day.trip["buses"].tolist() == [1, 0]


@pytest.mark.parametrize("fleet", [(0, 0), (2, 3)])
def test_a_day_without_trips_passes(town: Itineraries, fleet: tuple[int, int]) -> None:
    day = operate(town, trips_of(), fleet, rules=ServiceRules(), window_s=WINDOW_S)
    idle_s = 7200 if sum(fleet) else 0
    assert figures_of(day) == [0, 0, 0, 0, 0, idle_s, 0, 0]
    assert len(day.trip) == len(day.leg) == 0
    assert len(day.shuttle) == sum(fleet)


def test_without_shuttles_nobody_gets_one(town: Itineraries) -> None:
    trips = trips_of((0, 2, 3), (0, 0, 2), (0, 2, 0))
    day = operate(town, trips, (0, 0), rules=ServiceRules(), window_s=WINDOW_S)
    assert figures_of(day) == [0, 0, 0, 0, 0, 0, 3, 3]


def test_a_zone_of_one_place_is_served() -> None:
    spots = ((0.0, 0.0, "a"), (999.0, 0.0, "b"), (1998.0, 0.0, "b"))
    network = TransitNetwork(locations=placed(*spots), hubs=(), lines=(), travel=TRAVEL)
    trips = trips_of((0, 0, 2), (0, 1, 0), (0, 2, 0))
    day = operate(itineraries(network), trips, (3, 1), rules=ServiceRules(), window_s=WINDOW_S)
    assert day.unserved_legs == 0
    assert day.leg["zone"].tolist() == [0, 1, 1]
    assert day.shuttle["stand"].tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("fleet", [(), (1,), (1, 1, 1), (1, -1)])
def test_a_fleet_that_is_not_one_number_a_zone_is_refused(
    town: Itineraries, fleet: tuple[int, ...]
) -> None:
    with pytest.raises(PlanError, match="A fleet for 2 zones was expected"):
        operate(town, trips_of((0, 2, 3)), fleet, rules=ServiceRules(), window_s=WINDOW_S)


def mean(values: list[int]) -> float:
    return sum(values) / len(values) if values else 0.0


@pytest.mark.parametrize("seed", range(15))
def test_figures_are_what_the_riders_add_up_to(seed: int) -> None:
    scene = random_scene(seed)
    day = scene.run()
    served = [leg for leg in day.leg if leg["leave_s"] >= 0]
    waits = [int(leg["board_s"] - leg["request_s"]) for leg in served]
    buses = sum(int(trip["buses"]) for trip in day.trip)
    all_waits = sum(waits) + sum(int(trip["bus_wait_s"]) for trip in day.trip)
    trip_waits, rides, lasts = [], [], []
    for number, trip in enumerate(day.trip):
        own = [leg for leg in served if leg["trip"] == number]
        if trip["arrival_s"] >= 0:
            wait_s = sum(leg["board_s"] - leg["request_s"] for leg in own)
            ride_s = sum(leg["leave_s"] - leg["board_s"] for leg in own)
            trip_waits.append(int(trip["bus_wait_s"] + wait_s))
            rides.append(int(trip["bus_ride_s"] + ride_s))
            lasts.append(int(trip["arrival_s"] - trip["depart_s"]))
    length_s = scene.window_s[1] - scene.window_s[0]
    idle = [length_s - int(busy_s) for busy_s in day.shuttle["busy_s"]]
    expected = [
        all_waits / max(1, len(waits) + buses),
        *(mean(values) for values in (waits, trip_waits, rides, lasts, idle)),
        len(day.leg) - len(served),
        len(day.trip) - len(lasts),
    ]
    assert figures_of(day) == pytest.approx(expected, rel=1e-12)
