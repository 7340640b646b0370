"""Groups made up from coordinates are even, near each other and the same every time."""

import numpy as np
import pytest

from hushway.errors import GeographyError
from hushway.families.sequences.public.taxonomy import generated_taxonomy
from hushway.geography.locations import Location, Locations


def scattered(count: int, seed: int = 1, *, lat: float = 50.0) -> Locations:
    spots = np.random.default_rng(seed).random((count, 2))
    return Locations(
        tuple(
            Location(id=f"s{i:04d}", name="", lon=float(x), lat=lat + float(y), zone="")
            for i, (x, y) in enumerate(spots)
        )
    )


@pytest.mark.parametrize(("count", "fan_out"), [(68, 17), (68, 8), (944, 30), (7, 2), (5, 3)])
def test_groups_are_as_even_as_the_fan_out_allows(count: int, fan_out: int) -> None:
    made = generated_taxonomy(scattered(count), fan_out)
    sizes = np.bincount(made.codes(0))
    assert len(sizes) == -(-count // fan_out)
    assert sizes.max() <= fan_out
    assert sizes.max() - sizes.min() <= np.log2(len(sizes)) + 1


def test_levels_lie_inside_each_other() -> None:
    made = generated_taxonomy(scattered(500), 6, levels=3)
    assert [made.size(grain) for grain in range(4)] == [3, 14, 84, 500]
    for grain in (1, 2):
        assert np.diff(made.first_child(grain)).max() <= 6


def test_groups_are_neighbours() -> None:
    where = scattered(400)
    made = generated_taxonomy(where, 25)
    spots = np.array([(place.lon, place.lat) for place in where.places])
    spread = np.array([np.ptp(spots[made.codes(0) == g], axis=0) for g in range(made.size(0))])
    # 16 groups of a unit square: chance would spread each over nearly all of it.
    assert spread.max() < 0.6
    assert spread.prod(axis=1).sum() < 1.0


def test_the_order_of_the_list_does_not_matter() -> None:
    where = scattered(60)
    turned = Locations(where.places[::-1])

    def groups(list_: Locations) -> set[frozenset[str]]:
        codes = generated_taxonomy(list_, 7).codes(0)
        ids = np.array(list_.ids)
        return {frozenset(ids[codes == code].tolist()) for code in range(codes.max() + 1)}

    assert groups(where) == groups(turned)


def test_places_at_one_spot_are_told_apart_by_id() -> None:
    spot = Locations(tuple(Location(id=key, name="", lon=1.0, lat=1.0, zone="") for key in "dacb"))
    codes = generated_taxonomy(spot, 2).codes(0).tolist()
    assert codes[1] == codes[3]
    assert codes[0] == codes[2]


def test_the_longer_side_is_cut_on_the_ground_and_not_in_degrees() -> None:
    # At 80 degrees north 3 degrees of longitude are shorter than 1 of latitude.
    corners = [(0.0, 80.0), (3.0, 80.0), (0.0, 81.0), (3.0, 81.0)]
    where = Locations(
        tuple(
            Location(id=str(i), name="", lon=lon, lat=lat, zone="")
            for i, (lon, lat) in enumerate(corners)
        )
    )
    codes = generated_taxonomy(where, 2).codes(0).tolist()
    assert codes[0] == codes[1] != codes[2] == codes[3]


@pytest.mark.parametrize(("fan_out", "levels"), [(1, 1), (10, 1), (3, 2), (4, 0)])
def test_useless_groups_are_refused(fan_out: int, levels: int) -> None:
    with pytest.raises(GeographyError):
        generated_taxonomy(scattered(9), fan_out, levels=levels)
