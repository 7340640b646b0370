from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hushway.errors import GeographyError
from hushway.geography.locations import Location, Locations
from hushway.geography.transit import BusLine, TransitNetwork, Travel


def places_at(*positions: tuple[float, float], zones: str = "") -> Locations:
    return Locations(
        tuple(
            Location(id=f"p{i}", name="", lon=lon, lat=lat, zone=zones[i] if zones else "z")
            for i, (lon, lat) in enumerate(positions)
        )
    )


def scattered(seed: int, count: int) -> Locations:
    rng = np.random.default_rng(seed)
    positions = rng.uniform(-0.03, 0.03, (count, 2)).tolist()
    # Two of them are at the same place, and three on one straight street.
    positions[1] = positions[0]
    positions[2:5] = [[0.0, 0.0], [0.0, 0.01], [0.0, 0.02]]
    return places_at(*positions)


LINE = BusLine(name="L", stops=(3, 0, 2), ride_s=(100, 70), headway_s=600)
PLACES = places_at((0.0, 0.0), (0.01, 0.0), (0.0, 0.01), (0.02, 0.0), zones="baba")


def test_a_line_back_calls_at_the_same_stops_in_reverse() -> None:
    assert LINE.back() == replace(LINE, stops=(2, 0, 3), ride_s=(70, 100))
    assert LINE.back().back() == LINE


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"stops": (3,), "ride_s": ()}, "ride between"),
        ({"ride_s": (100,)}, "ride between"),
        ({"stops": (3, 0, 3)}, "twice"),
        ({"ride_s": (100, 0)}, "no length"),
        ({"headway_s": 0}, "no length"),
    ],
)
def test_a_line_that_cannot_run_is_refused_by_name(change: dict[str, Any], said: str) -> None:
    with pytest.raises(GeographyError, match=said) as refusal:
        replace(LINE, **change)
    assert "'L'" in str(refusal.value)
    assert refusal.value.advice


@pytest.mark.parametrize(
    "change",
    [
        {"shuttle_m_per_s": 0.0},
        {"walk_m_per_s": -1.0},
        {"walk_m_per_s": float("nan")},
        {"shuttle_m_per_s": float("inf")},
        {"detour": 0.99},
        {"detour": float("nan")},
        {"stop_s": -1},
    ],
)
def test_travel_that_nobody_can_do_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(GeographyError) as refusal:
        Travel(**change)
    assert refusal.value.advice


@pytest.mark.parametrize(
    ("hubs", "lines", "said"),
    [
        ((2, 0, 3), (), "not in order"),
        ((0, 0, 3), (), "not in order"),
        ((0, 4), (), "not among"),
        ((-1, 0), (), "not among"),
        ((0, 3), (LINE,), "'L' calls at a place that is not a hub"),
    ],
)
def test_a_network_over_other_places_is_refused(
    hubs: tuple[int, ...], lines: tuple[BusLine, ...], said: str
) -> None:
    with pytest.raises(GeographyError, match=said) as refusal:
        TransitNetwork(locations=PLACES, hubs=hubs, lines=lines)
    assert refusal.value.advice


def test_places_have_numbers_of_zones_and_hubs() -> None:
    network = TransitNetwork(locations=PLACES, hubs=(0, 2, 3), lines=(LINE,))
    assert network.zone.tolist() == [1, 0, 1, 0]
    assert network.hub_number.tolist() == [0, -1, 1, 2]
    without = TransitNetwork(locations=PLACES, hubs=(), lines=())
    assert without.hub_number.tolist() == [-1] * 4


def test_distances_are_those_of_the_globe() -> None:
    network = TransitNetwork(locations=PLACES, hubs=(), lines=())
    # On the equator of WGS84 a hundredth of a degree is 1,113.2 m to the east, 1,105.7 m north.
    assert network.distance_m[0] == pytest.approx([0, 1_113.2, 1_105.7, 2_226.4], abs=0.1)
    assert np.array_equal(network.distance_m, network.distance_m.T)


def test_times_follow_from_distance_and_speed() -> None:
    travel = Travel(shuttle_m_per_s=10.0, detour=1.5, stop_s=25, walk_m_per_s=1.2)
    network = TransitNetwork(locations=PLACES, hubs=(), lines=(), travel=travel)
    # 1,113.2 m by air are 1,669.8 m along the streets.
    assert network.shuttle_s[0, 1] == 167 + 25
    assert network.walk_s[0, 1] == 1_392
    assert not np.diag(network.shuttle_s).any()
    assert not np.diag(network.walk_s).any()


def test_a_shuttle_stops_twice_for_two_stops_at_one_spot() -> None:
    network = TransitNetwork(locations=places_at((0.0, 0.0), (0.0, 0.0)), hubs=(), lines=())
    assert network.shuttle_s.tolist() == [[0, 20], [20, 0]]
    assert not network.walk_s.any()


@pytest.mark.parametrize("stop_s", [0, 20])
@pytest.mark.parametrize("seed", range(5))
def test_going_by_way_of_a_third_place_is_never_shorter(seed: int, stop_s: int) -> None:
    travel = Travel(stop_s=stop_s)
    network = TransitNetwork(locations=scattered(seed, 60), hubs=(), lines=(), travel=travel)
    shuttle_s = network.shuttle_s
    by_way = (shuttle_s[:, :, None] + shuttle_s[None, :, :]).min(axis=1)
    assert (shuttle_s <= by_way).all()


def test_equal_networks_are_equal() -> None:
    one = TransitNetwork(locations=PLACES, hubs=(0, 2, 3), lines=(LINE,))
    assert one == TransitNetwork(locations=PLACES, hubs=(0, 2, 3), lines=(LINE,))
    assert one != replace(one, lines=(LINE.back(),))
