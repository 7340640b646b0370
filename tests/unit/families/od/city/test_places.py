import numpy as np
import pytest

from hushway.families.od.city.places import HUBS, lay_out, positions_m
from hushway.geography.locations import Locations
from hushway.numerics.chance import distances_m


@pytest.fixture(scope="module")
def locations() -> Locations:
    return lay_out(130)


def test_places_lie_within_six_kilometres_of_the_centre(locations: Locations) -> None:
    centre_m = np.zeros((1, 2))
    assert distances_m(positions_m(locations), centre_m).max() < 6_000
    assert all(
        42.2 < place.lat < 42.35 and -83.85 < place.lon < -83.65 for place in locations.places
    )


def test_no_two_places_share_a_position_or_a_name(locations: Locations) -> None:
    apart = distances_m(positions_m(locations), positions_m(locations))
    np.fill_diagonal(apart, np.inf)
    assert apart.min() > 50
    assert len({place.name for place in lay_out(2_000).places}) == 2_000


def test_every_zone_holds_a_fair_share_of_the_places(locations: Locations) -> None:
    zones = [place.zone for place in locations.places]
    assert min(zones.count(zone) for zone in locations.zones) >= 20


def test_a_larger_city_begins_with_the_smaller_one(locations: Locations) -> None:
    assert lay_out(500).places[:130] == locations.places


def test_positions_in_metres_agree_with_the_hubs(locations: Locations) -> None:
    expected = [(hub.east_m, hub.north_m) for hub in HUBS]
    assert positions_m(locations)[: len(HUBS)] == pytest.approx(np.array(expected), abs=0.2)
