"""What holds on every day of operations, whatever the city, the riders and the fleet."""

from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hushway.geography.itineraries import Access, RiderCosts, itineraries
from hushway.geography.transit import BusLine, TransitNetwork, Travel
from hushway.transit import operations
from hushway.transit.legs import in_order
from hushway.transit.operations import Operations, ServiceRules
from hushway.transit.simulation import Buses, buses_from
from support.rider_scenes import Scene, placed

EXAMPLES = settings(
    max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


@st.composite
def networks(draw: st.DrawFn) -> TransitNetwork:
    coordinate = st.integers(-2_000, 2_000)
    spots = draw(st.lists(st.tuples(coordinate, coordinate), min_size=3, max_size=9))
    zones = ["a", *draw(st.lists(st.sampled_from("abc"), min_size=len(spots), max_size=9))]
    hubs = draw(st.integers(0, min(4, len(spots))))
    lines = []
    for number in range(draw(st.integers(0, 4)) if hubs > 1 else 0):
        stops = draw(st.permutations(range(hubs)))[: draw(st.integers(2, hubs))]
        rides = [draw(st.integers(20, 400)) for _ in stops[1:]]
        headway_s = draw(st.integers(30, 900))
        lines.append(
            BusLine(name=f"L{number}", stops=tuple(stops), ride_s=tuple(rides), headway_s=headway_s)
        )
    return TransitNetwork(
        locations=placed(*((*spot, zone) for spot, zone in zip(spots, zones, strict=False))),
        hubs=tuple(range(hubs)),
        lines=tuple(lines),
        travel=Travel(stop_s=draw(st.integers(0, 40))),
    )


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    network = draw(networks())
    costs = RiderCosts(
        shuttle_km_s=draw(st.integers(0, 900)), most_walk_m=draw(st.integers(0, 1_500))
    )
    # Riders are drawn by a seed: lists of hundreds are slow to draw one by one.
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    count, span_s = draw(st.integers(0, 150)), draw(st.integers(1, 5_000))
    origin = rng.integers(0, len(network.locations), count)
    destination = (origin + rng.integers(1, len(network.locations), count)) % len(network.locations)
    zones = len(network.locations.zones)
    return Scene(
        routes=itineraries(network, costs),
        trips=in_order(rng.integers(1_000, 1_000 + span_s, count), origin, destination),
        fleet=tuple(draw(st.lists(st.integers(0, 6), min_size=zones, max_size=zones))),
        rules=ServiceRules(
            seats=draw(st.integers(1, 8)),
            bus_seats=draw(st.integers(1, 10)),
            most_wait_s=draw(st.integers(0, 1_500)),
            detour=draw(st.floats(1.0, 3.0)),
            detour_s=draw(st.integers(0, 600)),
        ),
        window_s=(draw(st.integers(0, 3_000)), draw(st.integers(3_001, 9_000))),
    )


def served_legs(day: Operations) -> Any:
    return day.leg[day.leg["shuttle"] >= 0]


@EXAMPLES
@given(scene=scenes())
def test_every_promise_is_kept(scene: Scene) -> None:
    day = scene.run()
    legs, rules = served_legs(day), scene.rules
    assert (legs["request_s"] >= day.trip["depart_s"][legs["trip"]]).all()
    assert (legs["board_s"] >= legs["request_s"]).all()
    assert (legs["board_s"] - legs["request_s"] <= rules.most_wait_s).all()
    direct_s = scene.routes.network.shuttle_s[legs["pickup"], legs["dropoff"]]
    rides_s = legs["leave_s"] - legs["board_s"]
    assert (rides_s >= direct_s).all()
    assert (rides_s <= direct_s * rules.detour + rules.detour_s).all()


@EXAMPLES
@given(scene=scenes())
def test_no_shuttle_is_overfull_or_in_a_foreign_zone(scene: Scene) -> None:
    day = scene.run()
    zone_of = np.repeat(np.arange(len(scene.fleet)), scene.fleet)
    for number, shuttle in enumerate(day.shuttle):
        legs = day.leg[day.leg["shuttle"] == number]
        assert (legs["zone"] == zone_of[number]).all()
        # Who leaves makes room for who boards at the same second.
        changes = sorted(
            [(int(time), 1) for time in legs["board_s"]]
            + [(int(time), -1) for time in legs["leave_s"]]
        )
        load = np.cumsum([0, *(change for _, change in changes)])
        assert load.max() <= scene.rules.seats
        assert load[-1] == shuttle["riders"] == shuttle["stops"] == 0


@EXAMPLES
@given(scene=scenes())
def test_a_shuttle_is_busy_while_somebody_is_on_board(scene: Scene) -> None:
    day = scene.run()
    start_s, end_s = scene.window_s
    for number, shuttle in enumerate(day.shuttle):
        legs = day.leg[day.leg["shuttle"] == number]
        with_rider = np.zeros(end_s, dtype=bool)
        for leg in legs:
            with_rider[leg["board_s"] : leg["leave_s"]] = True
        assert shuttle["busy_s"] == with_rider[start_s:].sum() <= end_s - start_s
        assert shuttle["driven_s"] >= shuttle["busy_s"]


@EXAMPLES
@given(scene=scenes())
def test_no_shuttle_is_in_two_places_at_once(scene: Scene) -> None:
    day = scene.run()
    drive_s = scene.routes.network.shuttle_s
    for number, shuttle in enumerate(day.shuttle):
        legs = day.leg[day.leg["shuttle"] == number]
        ends = [(int(leg["board_s"]), int(leg["pickup"])) for leg in legs]
        ends += [(int(leg["leave_s"]), int(leg["dropoff"])) for leg in legs]
        for one_s, one in ends:
            for other_s, other in ends:
                assert abs(one_s - other_s) >= drive_s[one, other]
        if len(legs):
            first = legs[np.argmin(legs["board_s"])]
            away_s = drive_s[shuttle["stand"], first["pickup"]]
            assert first["board_s"] >= legs["request_s"].min() + away_s


@EXAMPLES
@given(scene=scenes())
def test_the_parts_of_a_trip_add_up_to_it(scene: Scene) -> None:
    day, routes, network = scene.run(), scene.routes, scene.routes.network
    for number, trip in enumerate(day.trip):
        ends = trip["origin"], trip["destination"]
        own = day.leg[day.leg["trip"] == number]
        turns = int(routes.first[ends]), int(routes.last[ends])
        hubs = [network.hubs[turn] for turn in turns if turn >= 0]
        planned = int(routes.access[ends] == Access.SHUTTLE)
        planned += int(routes.egress[ends] == Access.SHUTTLE) + (not hubs)
        if trip["arrival_s"] < 0:
            unserved = (own["board_s"] < 0).sum()
            assert unserved <= 1
            # Without a leg that was not served it is the buses that had no room.
            assert unserved or trip["buses"] < 2
            continue
        assert len(own) == planned
        assert (own["board_s"] >= 0).all()
        walk_s = 0
        if routes.access[ends] == Access.WALK:
            walk_s += network.walk_s[trip["origin"], hubs[0]]
        if routes.egress[ends] == Access.WALK:
            walk_s += network.walk_s[hubs[1], trip["destination"]]
        shuttles_s = (own["leave_s"] - own["request_s"]).sum()
        total_s = shuttles_s + trip["bus_wait_s"] + trip["bus_ride_s"] + walk_s
        assert trip["arrival_s"] == trip["depart_s"] + total_s


@EXAMPLES
@given(scene=scenes())
def test_legs_asked_for_are_served_or_not_and_nothing_else(scene: Scene) -> None:
    day = scene.run()
    legs = served_legs(day)
    assert len(day.leg) == len(legs) + day.unserved_legs
    others = day.leg[day.leg["shuttle"] < 0]
    assert (others["board_s"] == -1).all()
    assert (others["leave_s"] == -1).all()
    assert len(day.leg_wait_s) == len(day.leg_ride_s) == len(legs)
    # A rider is left behind by a shuttle once at the most, and arrives never after.
    left_behind = np.unique(others["trip"])
    assert len(left_behind) == len(others)
    assert (day.trip["arrival_s"][left_behind] == -1).all()


@EXAMPLES
@given(scene=scenes())
def test_no_bus_is_overfull_and_all_seats_taken_are_those_of_riders(scene: Scene) -> None:
    kept: list[Buses] = []

    def keep(*args: Any, **kwargs: Any) -> Buses:
        kept.append(buses_from(*args, **kwargs))
        return kept[-1]

    with patch.object(operations, "buses_from", keep):
        day = scene.run()
    (buses,) = kept
    assert buses.load.max(initial=0) <= scene.rules.bus_seats
    seconds = 0
    for line, row in zip(scene.routes.network.lines, buses.line, strict=True):
        load = buses.load[row["load"] :][: row["runs"] * row["stops"]]
        seconds += int((load.reshape(-1, row["stops"])[:, :-1] @ line.ride_s).sum())
        assert not load.reshape(-1, row["stops"])[:, -1].any()
    assert seconds == day.trip["bus_ride_s"].sum()


@EXAMPLES
@given(scene=scenes())
def test_the_same_day_comes_out_every_time(scene: Scene) -> None:
    one, other = scene.run(), scene.run()
    assert np.array_equal(one.trip, other.trip)
    assert np.array_equal(one.leg, other.leg)
    assert np.array_equal(one.shuttle, other.shuttle)


@EXAMPLES
@given(scene=scenes(), later_s=st.integers(1, 20))
def test_a_day_that_begins_later_is_the_same_day_later(scene: Scene, later_s: int) -> None:
    # Buses run by the clock: the day moves by what all headways divide.
    headways = [line.headway_s for line in scene.routes.network.lines]
    later_s *= int(np.lcm.reduce([1, *headways]))
    trips = scene.trips
    moved = replace(
        scene,
        trips=in_order(trips.depart_s + later_s, trips.origin, trips.destination),
        window_s=(scene.window_s[0] + later_s, scene.window_s[1] + later_s),
    )
    one, other = scene.run(), moved.run()
    assert np.array_equal(one.leg_wait_s, other.leg_wait_s)
    assert np.array_equal(one.leg["shuttle"], other.leg["shuttle"])
    arrived = one.trip["arrival_s"] >= 0
    shifted = np.where(arrived, one.trip["arrival_s"] + later_s, -1)
    assert np.array_equal(shifted, other.trip["arrival_s"])
    assert np.array_equal(one.shuttle["busy_s"], other.shuttle["busy_s"])


@EXAMPLES
@given(scene=scenes())
def test_without_buses_no_zone_feels_another(scene: Scene) -> None:
    alone = replace(scene, routes=itineraries(replace(scene.routes.network, hubs=(), lines=())))
    day, trips = alone.run(), scene.trips
    for zone in range(len(scene.fleet)):
        own = alone.routes.network.zone[trips.origin] == zone
        few = in_order(trips.depart_s[own], trips.origin[own], trips.destination[own])
        fleet = tuple(count * (number == zone) for number, count in enumerate(scene.fleet))
        by_itself = replace(alone, trips=few, fleet=fleet).run()
        assert np.array_equal(by_itself.trip, day.trip[own])
        asked = day.leg[day.leg["zone"] == zone]
        for fact in ("request_s", "board_s", "leave_s", "pickup", "dropoff"):
            assert np.array_equal(by_itself.leg[fact], asked[fact])
