import math

import pytest

from hushway.errors import GeographyError
from hushway.geography.locations import Location, Locations, PlaceLabels


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


def labels(column: str, *values: str) -> PlaceLabels:
    return PlaceLabels(column=column, values=values)


def test_further_columns_are_found_by_name_beside_the_zone() -> None:
    places = Locations((place("a"), place("b", zone="Y")), (labels("county", "north", ""),))
    assert places.labels_in("zone") == ("Z", "Y")
    assert places.labels_in("county") == ("north", "")
    with pytest.raises(GeographyError, match="'state'") as caught:
        places.labels_in("state")
    assert "zone, county" in caught.value.advice


def test_without_further_columns_the_digest_is_that_of_old_releases() -> None:
    places = (place("a"), place("b"))
    known = "fe3ee5b89cc67a9a0a5d677ff3ba6e612bda2994a0f77752486cf3d04946d592"
    assert Locations(places).digest == f"sha256:{known}"
    digests = {
        Locations(places).digest,
        Locations(places, (labels("county", "x", "y"),)).digest,
        Locations(places, (labels("county", "y", "x"),)).digest,
        Locations(places, (labels("state", "x", "y"),)).digest,
    }
    assert len(digests) == 4


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ((labels("zone", "x", "y"),), "cannot be called 'zone'"),
        ((labels("id", "x", "y"),), "cannot be called 'id'"),
        ((labels("", "x", "y"),), "cannot be called ''"),
        ((labels("c", "x", "y"), labels("c", "x", "y")), "same name"),
        ((labels("c", "x"),), "'c' are not one for each"),
    ],
)
def test_columns_that_a_release_could_not_hold_are_refused(
    wrong: tuple[PlaceLabels, ...], word: str
) -> None:
    with pytest.raises(GeographyError, match=word) as caught:
        Locations((place("a"), place("b")), wrong)
    assert caught.value.advice
