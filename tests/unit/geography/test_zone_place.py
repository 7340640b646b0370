"""A time zone tells longitudes from latitudes."""

from zoneinfo import available_timezones

import pytest

from hushway.geography.clock import looks_swapped, place_of_zone


@pytest.mark.parametrize(
    ("zone", "lon", "lat"),
    [
        ("Europe/Lisbon", -9.133, 38.717),
        ("America/Detroit", -83.046, 42.331),
        ("Asia/Tokyo", 139.745, 35.654),
        ("Australia/Sydney", 151.217, -33.867),
    ],
)
def test_zones_are_where_their_cities_are(zone: str, lon: float, lat: float) -> None:
    assert place_of_zone(zone) == pytest.approx((lon, lat), abs=0.01)


def test_every_zone_of_a_city_has_a_place_on_earth() -> None:
    found = [place for zone in available_timezones() if (place := place_of_zone(zone))]
    assert len(found) > 300
    assert all(abs(lon) <= 180 and abs(lat) <= 90 for lon, lat in found)


@pytest.mark.parametrize(
    ("zone", "lon", "lat"),
    [
        ("America/Detroit", -83.74, 42.28),
        ("America/New_York", -83.74, 42.28),
        ("Europe/Lisbon", -8.6, 41.1),
        ("Asia/Shanghai", 87.6, 43.8),
    ],
)
def test_only_swapped_positions_look_swapped(zone: str, lon: float, lat: float) -> None:
    assert not looks_swapped(lon, lat, zone)
    assert looks_swapped(lat, lon, zone)


def test_where_no_city_is_known_or_no_latitude_is_possible_nothing_is_said() -> None:
    assert not looks_swapped(41.1, -8.6, "UTC")
    assert not looks_swapped(139.7, 35.7, "Europe/Lisbon")
    # Alexandria, either way round.
    assert not looks_swapped(29.9, 31.2, "Africa/Cairo")
    assert not looks_swapped(31.2, 29.9, "Africa/Cairo")
