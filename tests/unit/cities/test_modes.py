import numpy as np
import pytest

from hushway.cities.modes import MODES, modes_between
from hushway.cities.places import HUBS, lay_out
from hushway.geography.locations import Location, Locations
from hushway.geography.od import IntArray


@pytest.fixture(scope="module")
def mode_of() -> IntArray:
    return modes_between(lay_out(130))


def name_of(mode_of: IntArray, origin: int, destination: int) -> str:
    return MODES[mode_of[origin, destination]]


@pytest.mark.parametrize("places", [40, 130, 2_000])
def test_all_twelve_modes_occur_and_only_the_diagonal_has_none(places: int) -> None:
    mode_of = modes_between(lay_out(places))
    assert sorted(set(mode_of.ravel().tolist())) == [-1, *range(12)]
    assert ((mode_of == -1) == np.eye(places, dtype=bool)).all()


def test_the_names_say_the_legs_of_the_bus_modes(mode_of: IntArray) -> None:
    hub = np.arange(130) < len(HUBS)
    for number, name in enumerate(MODES):
        if "bus" not in name:
            continue
        origins, destinations = np.nonzero(mode_of == number)
        assert (hub[origins] == name.startswith("bus")).all()
        assert (hub[destinations] == name.endswith("bus")).all()


def test_the_way_back_has_the_legs_of_the_way_there_in_reverse(mode_of: IntArray) -> None:
    reverse = [MODES.index("-".join(reversed(name.split("-")))) for name in MODES]
    there, back = np.triu_indices(130, k=1)
    expected = np.array(reverse)[mode_of[there, back]]
    assert np.array_equal(mode_of[back, there], expected)


def test_hubs_are_joined_by_bus_with_a_change_where_no_line_is_shared(mode_of: IntArray) -> None:
    assert name_of(mode_of, 6, 4) == "bus"
    assert name_of(mode_of, 6, 5) == "bus-bus"


def test_a_shuttle_serves_its_own_zone(mode_of: IntArray) -> None:
    zones = np.array([place.zone for place in lay_out(130).places])
    same = (zones[:, None] == zones[None, :]) & ~np.eye(130, dtype=bool)
    same[: len(HUBS), : len(HUBS)] = False
    assert {MODES[number] for number in np.unique(mode_of[same])} == {"shuttle"}


def test_a_border_near_a_shared_hub_is_crossed_on_foot_or_with_a_second_shuttle() -> None:
    hubs = lay_out(40).places[: len(HUBS)]
    # About 490 m, 1,650 m and 1,650 m from the hub in the west, on three sides of a border there.
    near = Location(id="near", name="near", lon=-83.7820, lat=42.2828, zone="a")
    up = Location(id="up", name="up", lon=-83.7879, lat=42.2977, zone="b")
    down = Location(id="down", name="down", lon=-83.7879, lat=42.2680, zone="c")
    mode_of = modes_between(Locations((*hubs, near, up, down)))
    assert name_of(mode_of, 9, 8) == "shuttle-walk"
    assert name_of(mode_of, 8, 10) == "walk-shuttle"
    assert name_of(mode_of, 9, 10) == "shuttle-shuttle"
    assert name_of(mode_of, 9, 6) == "shuttle"
