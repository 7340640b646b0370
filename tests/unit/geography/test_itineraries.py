import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from hushway.errors import GeographyError
from hushway.geography.itineraries import (
    DIRECT,
    MODES,
    NO_MODE,
    Access,
    Itineraries,
    RiderCosts,
    itineraries,
)
from hushway.geography.locations import Location, Locations
from hushway.geography.transit import BusLine, TransitNetwork, Travel

# On the equator, this many degrees are a metre.
DEGREE = 1 / 111_320


def placed(*spots: tuple[float, float, str]) -> Locations:
    """Returns places at metres east and north, and their zones."""
    return Locations(
        tuple(
            Location(id=f"p{i}", name="", lon=east * DEGREE, lat=north * DEGREE, zone=zone)
            for i, (east, north, zone) in enumerate(spots)
        )
    )


def random_network(seed: int) -> TransitNetwork:
    rng = np.random.default_rng(seed)
    count, hubs = int(rng.integers(4, 10)), int(rng.integers(0, 5))
    spots = [
        (float(east), float(north), "abc"[int(rng.integers(3))])
        for east, north in rng.uniform(-2_500, 2_500, (count, 2))
    ]
    # The last place lies where the first is, which may be a hub, and is often in another zone.
    spots[-1] = (*spots[0][:2], "d")
    lines = []
    for _ in range(rng.integers(0, 5) if hubs > 1 else 0):
        stops = tuple(rng.permutation(hubs)[: rng.integers(2, hubs + 1)].tolist())
        rides = tuple(rng.integers(30, 400, len(stops) - 1).tolist())
        lines.append(
            BusLine(name="L", stops=stops, ride_s=rides, headway_s=int(rng.integers(1, 600)))
        )
    return TransitNetwork(
        locations=placed(*spots),
        hubs=tuple(range(hubs)),
        lines=tuple(lines),
        travel=Travel(stop_s=int(rng.integers(0, 30))),
    )


def random_costs(seed: int) -> RiderCosts:
    rng = np.random.default_rng([seed, 1])
    return RiderCosts(
        shuttle_wait_s=int(rng.integers(0, 300)),
        shuttle_km_s=int(rng.integers(0, 400)),
        change_s=int(rng.integers(0, 200)),
        most_walk_m=float(rng.uniform(0, 2_500)),
        most_across_m=float(rng.uniform(0, 2_000)),
    )


def by_shuttle(network: TransitNetwork, costs: RiderCosts, start: int, end: int) -> float:
    street_m = float(network.distance_m[start, end]) * network.travel.detour
    drive_s = math.ceil(street_m / network.travel.shuttle_m_per_s) + network.travel.stop_s
    return costs.shuttle_wait_s + drive_s + costs.shuttle_km_s * street_m / 1000


def ways_to(
    network: TransitNetwork, costs: RiderCosts, place: int, hub: int
) -> Iterator[tuple[Access, float]]:
    """Yields every way between a place and a hub, and what it costs without a change."""
    if place == hub:
        yield Access.THERE, 0.0
        return
    yield Access.SHUTTLE, by_shuttle(network, costs, place, hub)
    if (by_air_m := float(network.distance_m[place, hub])) <= costs.most_walk_m:
        street_m = by_air_m * network.travel.detour
        yield Access.WALK, float(math.ceil(street_m / network.travel.walk_m_per_s))


def bus_legs(network: TransitNetwork, start: int, end: int) -> Iterator[float]:
    """Yields what every ride on one line between two hubs costs."""
    for line in network.lines:
        if start in line.stops and end in line.stops:
            first, last = line.stops.index(start), line.stops.index(end)
            if first < last:
                yield line.headway_s / 2 + sum(line.ride_s[first:last])


def all_ways(
    network: TransitNetwork, costs: RiderCosts, start: int, end: int
) -> Iterator[tuple[float, str]]:
    """Yields the cost and the mode of every way between two places."""
    zones = [network.locations.places[place].zone for place in (start, end)]
    a_hub = start in network.hubs or end in network.hubs
    near = network.distance_m[start, end] <= costs.most_across_m
    if zones[0] == zones[1] or near or a_hub or not network.hubs:
        yield by_shuttle(network, costs, start, end), "shuttle"
    for first in network.hubs:
        for last in network.hubs:
            rides = [([cost], "bus") for cost in bus_legs(network, first, last)]
            rides += [
                ([one, other], "bus-bus")
                for middle in network.hubs
                for one in bus_legs(network, first, middle)
                for other in bus_legs(network, middle, last)
            ]
            for access, to_first in ways_to(network, costs, start, first):
                for egress, from_last in ways_to(network, costs, end, last):
                    shuttles = [access, egress].count(Access.SHUTTLE)
                    walked = to_first + from_last
                    for legs, name in rides if first != last else ():
                        changes = shuttles + len(legs) - 1
                        mode = "shuttle-" * (access == Access.SHUTTLE) + name
                        mode += "-shuttle" * (egress == Access.SHUTTLE)
                        yield walked + sum(legs) + changes * costs.change_s, mode
                    if first == last and shuttles and Access.THERE not in (access, egress):
                        words = [how.name.lower() for how in (access, egress)]
                        yield walked + (shuttles - 1) * costs.change_s, "-".join(words)


def cost_of_legs(found: Itineraries, costs: RiderCosts, start: int, end: int) -> float:
    """Adds up the legs that were reported for a pair."""
    network, rides = found.network, found.rides
    first, last = int(found.first[start, end]), int(found.last[start, end])
    if first == DIRECT:
        assert last == DIRECT
        assert found.access[start, end] == found.egress[start, end] == Access.THERE
        return by_shuttle(network, costs, start, end)
    access = dict(ways_to(network, costs, start, network.hubs[first]))
    egress = dict(ways_to(network, costs, end, network.hubs[last]))
    access_kind, egress_kind = Access(found.access[start, end]), Access(found.egress[start, end])
    vehicles = [access_kind, egress_kind].count(Access.SHUTTLE)
    cost = access[access_kind] + egress[egress_kind]
    if first != last:
        middle = int(rides.change[first, last])
        for legs in pairwise([first, last] if middle == -1 else [first, middle, last]):
            cost += network.lines[rides.line[legs]].headway_s / 2 + float(rides.ride_s[legs])
            vehicles += 1
    return cost + (vehicles - 1) * costs.change_s


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", range(60))
def test_no_way_of_all_is_cheaper_and_the_legs_cost_what_is_said(seed: int) -> None:
    network, costs = random_network(seed), random_costs(seed)
    found = itineraries(network, costs)
    places = range(len(network.locations))
    for start, end in ((i, j) for i in places for j in places if i != j):
        ways = list(all_ways(network, costs, start, end))
        cost = float(found.cost_s[start, end])
        assert cost == pytest.approx(min(cost for cost, _ in ways), rel=1e-12)
        assert cost == pytest.approx(cost_of_legs(found, costs, start, end), rel=1e-12)
        cheapest = {mode for other, mode in ways if other == pytest.approx(cost, rel=1e-12)}
        assert MODES[found.mode[start, end]] in cheapest


def test_the_random_networks_use_every_mode() -> None:
    used = {
        int(mode)
        for seed in range(60)
        for mode in np.unique(itineraries(random_network(seed), random_costs(seed)).mode)
    }
    assert used == {NO_MODE, *range(len(MODES))}


@pytest.mark.parametrize("seed", range(10))
def test_nobody_goes_from_a_place_to_itself(seed: int) -> None:
    found = itineraries(random_network(seed), random_costs(seed))
    assert (np.diag(found.mode) == NO_MODE).all()
    assert (np.diag(found.first) == DIRECT).all()
    assert (np.diag(found.last) == DIRECT).all()
    assert not np.diag(found.cost_s).any()
    assert not np.diag(found.access).any()


def test_without_hubs_shuttles_go_everywhere() -> None:
    network = TransitNetwork(
        locations=placed((0, 0, "a"), (9_000, 0, "b"), (0, 9_000, "c")), hubs=(), lines=()
    )
    found = itineraries(network)
    assert np.isfinite(found.cost_s).all()
    assert np.array_equal(found.mode, np.eye(3) * NO_MODE)


def test_hubs_without_lines_are_where_riders_change_shuttles() -> None:
    spots = (0, 0, "a"), (3_000, 0, "b"), (-3_000, 0, "c")
    network = TransitNetwork(locations=placed(*spots), hubs=(0,), lines=())
    mode = itineraries(network).mode
    assert MODES[mode[1, 2]] == MODES[mode[2, 1]] == "shuttle-shuttle"
    assert MODES[mode[1, 0]] == MODES[mode[0, 1]] == "shuttle"


def test_hubs_that_no_bus_joins_are_joined_by_shuttle() -> None:
    network = TransitNetwork(locations=placed((0, 0, "a"), (5_000, 0, "b")), hubs=(0, 1), lines=())
    found = itineraries(network)
    assert found.cost_s[0, 1] == pytest.approx(by_shuttle(network, RiderCosts(), 0, 1))
    assert MODES[found.mode[0, 1]] == "shuttle"


def test_the_only_place_of_a_zone_is_reached_over_a_hub_from_all_others() -> None:
    spots = (0, 0, "a"), (1_500, 0, "a"), (0, 1_500, "a"), (-2_000, 0, "alone")
    mode = itineraries(TransitNetwork(locations=placed(*spots), hubs=(0,), lines=())).mode
    assert [MODES[mode[start, 3]] for start in (0, 1, 2)] == ["shuttle"] + ["shuttle-shuttle"] * 2
    assert MODES[mode[1, 2]] == "shuttle"


BUS = BusLine(name="L", stops=(0, 1), ride_s=(500,), headway_s=400)


def test_a_place_where_a_hub_is_has_its_buses_and_shuttles_without_a_walk() -> None:
    # Places 2 and 3 are where the hubs 0 and 1 are, in zones of their own; 4 is far from all.
    spots = (0, 0, "a"), (6_000, 0, "b"), (0, 0, "c"), (6_000, 0, "d"), (0, 4_000, "e")
    found = itineraries(TransitNetwork(locations=placed(*spots), hubs=(0, 1), lines=(BUS,)))
    assert MODES[found.mode[2, 3]] == "bus"
    assert found.cost_s[2, 3] == found.cost_s[0, 1] == 200 + 500
    assert (found.access[2, 3], found.egress[2, 3]) == (Access.WALK, Access.WALK)
    assert MODES[found.mode[4, 2]] == "shuttle-walk"
    assert MODES[found.mode[2, 4]] == "walk-shuttle"
    assert found.cost_s[4, 2] == found.cost_s[2, 4] == found.cost_s[4, 0]


def test_a_rider_walks_to_the_bus_where_a_shuttle_would_cost_a_change() -> None:
    # 550 s on foot; 505 s by shuttle, to which the change adds 60.
    spots = (0, 0, "a"), (6_000, 0, "b"), (-550, 0, "a")
    network = TransitNetwork(locations=placed(*spots), hubs=(0, 1), lines=(BUS,))
    costs = RiderCosts(shuttle_km_s=300)
    found = itineraries(network, costs)
    assert by_shuttle(network, costs, 2, 0) < found.network.walk_s[2, 0]
    assert found.access[2, 1] == Access.WALK
    assert MODES[found.mode[2, 1]] == "bus"
    assert found.cost_s[2, 1] == found.network.walk_s[2, 0] + 700


def test_limits_of_walking_and_crossing_hold_to_the_metre() -> None:
    spots = (0, 0, "a"), (6_000, 0, "b"), (-500, 0, "a"), (-500, 1_000, "b")
    network = TransitNetwork(locations=placed(*spots), hubs=(0, 1), lines=(BUS,))
    walk_m, across_m = float(network.distance_m[2, 0]), float(network.distance_m[2, 3])
    at = itineraries(network, RiderCosts(most_walk_m=walk_m, most_across_m=across_m))
    assert at.access[2, 1] == Access.WALK
    assert at.first[2, 3] == DIRECT
    under = itineraries(
        network, RiderCosts(most_walk_m=walk_m - 1e-6, most_across_m=across_m - 1e-6)
    )
    assert under.access[2, 1] == Access.SHUTTLE
    assert under.first[2, 3] != DIRECT


# Where nothing but driving costs anything, many ways cost the same.
ONLY_DRIVING = RiderCosts(shuttle_wait_s=0, shuttle_km_s=0, change_s=0)
NO_STOPS = Travel(stop_s=0)


def test_a_direct_shuttle_is_preferred_to_one_that_costs_as_much_over_a_hub() -> None:
    # The hub is where the second place is.
    spots = (2_000, 0, "a"), (0, 0, "a"), (2_000, 0, "a")
    network = TransitNetwork(locations=placed(*spots), hubs=(2,), lines=(), travel=NO_STOPS)
    found = itineraries(network, ONLY_DRIVING)
    assert found.first[1, 0] == DIRECT
    assert found.cost_s[1, 0] == found.cost_s[1, 2]


@pytest.mark.parametrize(("ride_s", "ridden"), [(975, True), (976, False)])
def test_a_bus_is_preferred_to_a_shuttle_that_costs_as_much_over_a_hub(
    ride_s: int, ridden: bool
) -> None:
    spots = (0, 0, "a"), (6_004, 0, "b"), (0, 0, "c"), (6_004, 0, "d")
    bus = BusLine(name="L", stops=(0, 1), ride_s=(ride_s,), headway_s=2)
    network = TransitNetwork(locations=placed(*spots), hubs=(0, 1), lines=(bus,), travel=NO_STOPS)
    found = itineraries(network, ONLY_DRIVING)
    assert found.cost_s[2, 3] == network.shuttle_s[2, 1] == 976
    assert ("bus" in MODES[found.mode[2, 3]]) == ridden
    # To the hub itself a shuttle goes directly, and that comes before both.
    assert MODES[found.mode[2, 1]] == "shuttle"


def test_of_two_hubs_at_one_spot_the_smaller_is_taken() -> None:
    spots = (0, 0, "a"), (0, 0, "a"), (3_000, 0, "b"), (-3_000, 0, "c")
    network = TransitNetwork(locations=placed(*spots), hubs=(0, 1), lines=())
    found = itineraries(network)
    assert (found.first[2, 3], found.last[2, 3]) == (0, 0)
    assert MODES[found.mode[2, 3]] == "shuttle-shuttle"


@pytest.mark.parametrize(
    "change",
    [
        {"shuttle_wait_s": -1},
        {"shuttle_km_s": -1},
        {"change_s": -1},
        {"change_s": float("inf")},
        {"most_walk_m": -0.1},
        {"most_across_m": float("nan")},
    ],
)
def test_costs_below_nothing_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(GeographyError) as refusal:
        RiderCosts(**change)
    assert refusal.value.advice
