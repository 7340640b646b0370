import math

import pytest

from hushway.errors import GeographyError
from hushway.geography.locations import Location, Locations


def place(key: str, *, lon: float = 2.3, lat: float = 48.8, zone: str = "Z") -> Location:
    return Location(id=key, name=f"Stop {key}", lon=lon, lat=lat, zone=zone)


def test_every_place_has_the_index_of_its_position() -> None:
    places = Locations((place("b"), place("a"), place("c", zone="Y")))
    assert len(places) == 3
    assert places.ids == ("b", "a", "c")
    assert places.index == {"b": 0, "a": 1, "c": 2}
    assert places.zones == ("Y", "Z")


def test_an_empty_list_is_refused() -> None:
    with pytest.raises(GeographyError, match="empty"):
        Locations(())


def test_repeated_ids_are_refused_by_name() -> None:
    with pytest.raises(GeographyError, match=r"more than once: a\."):
        Locations((place("a"), place("b"), place("a")))


@pytest.mark.parametrize(
    ("lon", "lat"),
    [(180.1, 0), (0, -90.1), (math.nan, 0), (0, math.inf), (500_000, 4_600_000)],
)
def test_a_position_that_is_not_in_degrees_is_refused(lon: float, lat: float) -> None:
    with pytest.raises(GeographyError, match="degrees"):
        Locations((place("a", lon=lon, lat=lat),))


def test_the_edges_of_the_world_are_in_it() -> None:
    assert len(Locations((place("a", lon=-180, lat=90), place("b", lon=180, lat=-90)))) == 2


def test_the_digest_sees_order_and_every_fact() -> None:
    one = Locations((place("a"), place("b")))
    others = [
        Locations((place("b"), place("a"))),
        Locations((place("a"), place("b", zone="Y"))),
        Locations((place("a"), place("b", lat=48.9))),
    ]
    assert len({one.digest, *(other.digest for other in others)}) == 4
