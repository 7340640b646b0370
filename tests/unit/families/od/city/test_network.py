import numpy as np
import pytest

from hushway.families.od.city.places import BUS_LINES, HUBS, ann_arbor_network, lay_out
from hushway.geography.itineraries import (
    MODES,
    NO_CHANGE,
    NO_MODE,
    Access,
    Itineraries,
    itineraries,
)
from hushway.geography.locations import Location, Locations
from hushway.geography.transit import TransitNetwork


@pytest.fixture(scope="module")
def network() -> TransitNetwork:
    return ann_arbor_network(lay_out(130))


@pytest.fixture(scope="module")
def found(network: TransitNetwork) -> Itineraries:
    return itineraries(network)


def name_of(found: Itineraries, origin: int, destination: int) -> str:
    return MODES[found.mode[origin, destination]]


def test_buses_run_both_ways_along_the_named_lines_every_five_minutes(
    network: TransitNetwork,
) -> None:
    assert [line.name for line in network.lines[::2]] == list(BUS_LINES)
    assert [line.stops for line in network.lines[::2]] == list(BUS_LINES.values())
    assert [line.back() for line in network.lines[::2]] == list(network.lines[1::2])
    assert {line.headway_s for line in network.lines} == {300}
    assert network.hubs == tuple(range(len(HUBS)))


def test_a_ride_takes_its_streets_at_seven_metres_a_second_and_a_stop(
    network: TransitNetwork,
) -> None:
    # 950 m east and 250 m south are 982.3 m by air, 1,277 m along the streets: 182.4 s.
    crosstown = network.lines[0]
    assert crosstown.stops[1:3] == (0, 1)
    assert crosstown.ride_s[1] == 213


def test_the_lines_are_the_same_however_many_places_there_are(network: TransitNetwork) -> None:
    assert ann_arbor_network(lay_out(40)).lines == network.lines


def test_every_hub_is_reached_by_bus_and_some_only_with_a_change(found: Itineraries) -> None:
    assert np.isfinite(found.rides.cost_s).all()
    assert {hub for line in BUS_LINES.values() for hub in line} == set(range(len(HUBS)))
    assert (found.rides.change != NO_CHANGE).any()
    assert name_of(found, 6, 4) == "bus"
    assert name_of(found, 6, 5) == "bus-bus"


@pytest.mark.parametrize("places", [40, 41, 130, 2_000])
def test_all_twelve_modes_occur_and_only_the_diagonal_has_none(places: int) -> None:
    mode = itineraries(ann_arbor_network(lay_out(places))).mode
    assert sorted(set(mode.ravel().tolist())) == [NO_MODE, *range(12)]
    assert ((mode == NO_MODE) == np.eye(places, dtype=bool)).all()


def test_the_names_say_where_shuttles_go_to_the_bus_and_from_it(found: Itineraries) -> None:
    for number, name in enumerate(MODES):
        if "bus" not in name:
            continue
        of_mode = found.mode == number
        to_bus, from_bus = found.access[of_mode], found.egress[of_mode]
        assert ((to_bus == Access.SHUTTLE) == name.startswith("shuttle")).all()
        assert ((from_bus == Access.SHUTTLE) == name.endswith("shuttle")).all()


def test_the_way_back_has_the_legs_of_the_way_there_in_reverse(found: Itineraries) -> None:
    reverse = [MODES.index("-".join(reversed(name.split("-")))) for name in MODES]
    there, back = np.triu_indices(130, k=1)
    expected = np.array(reverse)[found.mode[there, back]]
    assert np.array_equal(found.mode[back, there], expected)


def test_within_a_zone_a_trip_is_one_shuttle_or_takes_a_bus(
    network: TransitNetwork, found: Itineraries
) -> None:
    same = (network.zone[:, None] == network.zone[None, :]) & ~np.eye(130, dtype=bool)
    names = np.array(MODES)[found.mode[same]]
    direct = names == "shuttle"
    assert all("bus" in name for name in names[~direct])
    assert direct.mean() > 0.85


def test_a_border_near_a_shared_hub_is_crossed_on_foot_or_with_a_second_shuttle() -> None:
    hubs = lay_out(40).places[: len(HUBS)]
    # About 490 m, 1,650 m and 1,650 m from the hub in the west, on three sides of a border there.
    near = Location(id="near", name="near", lon=-83.7820, lat=42.2828, zone="a")
    up = Location(id="up", name="up", lon=-83.7879, lat=42.2977, zone="b")
    down = Location(id="down", name="down", lon=-83.7879, lat=42.2680, zone="c")
    found = itineraries(ann_arbor_network(Locations((*hubs, near, up, down))))
    assert name_of(found, 9, 8) == "shuttle-walk"
    assert name_of(found, 8, 10) == "walk-shuttle"
    assert name_of(found, 9, 10) == "shuttle-shuttle"
    assert name_of(found, 9, 6) == "shuttle"
