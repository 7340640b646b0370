from typing import Any

import numpy as np
import pytest

from hushway.errors import PlanError
from hushway.families.od.city.ann_arbor import ann_arbor
from hushway.geography.itineraries import RiderCosts, itineraries
from hushway.geography.locations import Location, Locations
from hushway.geography.transit import BusLine, TransitNetwork
from hushway.transit.design.design import design
from hushway.transit.design.problem import DesignSettings, design_problem
from hushway.transit.network_design import lines_of

# Places along the equator, about 1.1 km from one to the next, all in one zone.
_PLACES = Locations(
    tuple(Location(id=f"P{i}", name=f"P{i}", lon=i / 100, lat=0.0, zone="z") for i in range(6))
)
_NETWORK = TransitNetwork(locations=_PLACES, hubs=(1, 4), lines=())


def _demand(*rows: tuple[int, int, float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    origin, destination, riders = zip(*rows, strict=True)
    return np.array(origin), np.array(destination), np.array(riders)


def test_riders_pay_for_waits_drives_kilometres_and_changes() -> None:
    problem = design_problem(_NETWORK, _demand((0, 5, 3.0), (1, 4, 2.0)))
    metres = _NETWORK.distance_m[0, 1] * 1.3
    a_kilometre = RiderCosts().shuttle_km_s
    one_step = 180 + np.ceil(metres / 8) + 20 + a_kilometre * metres / 1000
    np.testing.assert_allclose(problem.to_hub[0, 0], one_step + 60)
    np.testing.assert_allclose(problem.from_hub[0, 1], one_step + 60)
    # Whoever starts or ends at a hub needs no shuttle to it.
    assert problem.to_hub[1, 0] == 0
    assert problem.from_hub[1, 1] == 0
    far = _NETWORK.distance_m[0, 5] * 1.3
    directly = 180 + np.ceil(far / 8) + 20 + a_kilometre * far / 1000
    np.testing.assert_allclose(problem.direct[0], directly)
    ride_s = np.ceil(_NETWORK.distance_m[1, 4] * 1.3 / 7 + 30)
    assert problem.arc_cost[0, 1] == ride_s + 225
    # A ride of so many headways keeps so many buses busy, for two hours each.
    assert problem.open_cost[0, 1] == pytest.approx(ride_s / 450 * 2 * 24_000)


def test_riders_pay_what_their_itinerary_costs_once_the_arcs_are_lines() -> None:
    settings = DesignSettings(costs=RiderCosts(most_walk_m=0.0))
    pairs = [(i, j, 1.0) for i in range(6) for j in range(6) if i != j]
    problem = design_problem(_NETWORK, _demand(*pairs), settings)
    ride_s = int(settings.ride_s(_NETWORK)[0, 1])
    line = BusLine(name="A", stops=(1, 4), ride_s=(ride_s,), headway_s=450)
    served = TransitNetwork(locations=_PLACES, hubs=(1, 4), lines=(line, line.back()))
    origin, destination, _ = _demand(*pairs)
    expected = itineraries(served, settings.costs).cost_s[origin, destination]
    paid = problem.rider_costs(~np.eye(2, dtype=bool))
    np.testing.assert_allclose(paid, expected)
    assert (paid < problem.direct).any()


def test_many_riders_open_a_line_there_and_back_and_few_do_not() -> None:
    for riders, lines in [(1.0, 0), (500.0, 2)]:
        problem = design_problem(_NETWORK, _demand((0, 5, riders), (5, 0, riders)))
        network = lines_of(design(problem), _NETWORK)
        assert len(network.lines) == lines
        assert network.hubs == ((1, 4) if lines else ())


def test_buses_pay_in_the_rush_hour_of_the_synthetic_city() -> None:
    city = ann_arbor(seed=2018)
    trips, places = city.trips, len(city.cells.locations)
    morning = (trips.departure_s >= 8 * 3600) & (trips.departure_s < 10 * 3600)
    pair, riders = np.unique(
        trips.origin[morning] * places + trips.destination[morning], return_counts=True
    )
    origin, destination = pair // places, pair % places
    ends = np.bincount(np.concatenate([origin, destination]), np.tile(riders, 2), minlength=places)
    busiest = tuple(sorted(np.argsort(-ends, kind="stable")[:12].tolist()))
    network = TransitNetwork(locations=city.cells.locations, hubs=busiest, lines=())
    problem = design_problem(network, (origin, destination, riders.astype(float)))
    found = design(problem)
    assert found.opened.sum() >= 4
    assert found.cost < problem.riders @ problem.direct
    assert found.bound == pytest.approx(found.cost, rel=1e-8)


def test_riders_who_stay_where_they_are_are_refused() -> None:
    with pytest.raises(PlanError, match="end where they began"):
        design_problem(_NETWORK, _demand((2, 2, 1.0)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"bus_m_per_s": 0.0},
        {"bus_detour": 0.9},
        {"bus_stop_s": 0},
        {"headway_s": 0},
        {"window_s": 0},
        {"bus_hour_s": -1.0},
        {"bus_hour_s": float("nan")},
    ],
)
def test_buses_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(PlanError, match="Buses"):
        DesignSettings(**wrong)
