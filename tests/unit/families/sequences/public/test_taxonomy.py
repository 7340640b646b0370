"""A taxonomy numbers groups so that children are consecutive, and refuses what is no tree."""

from collections.abc import Callable

import numpy as np
import pytest

from hushway.errors import GeographyError
from hushway.families.sequences.public.taxonomy import Taxonomy, column_taxonomy, generated_taxonomy
from hushway.geography.locations import Labels, Location, Locations, PlaceLabels, labels_of_codes


def places(count: int, **columns: str) -> Locations:
    """Places with a letter for each in every column."""
    return Locations(
        tuple(Location(id=f"p{i}", name="", lon=i / 10, lat=0.0, zone="") for i in range(count)),
        tuple(PlaceLabels(column=name, values=tuple(text)) for name, text in columns.items()),
    )


@pytest.fixture
def town() -> Taxonomy:
    return column_taxonomy(places(7, area="babaabb", line="zxyxwyz"), ["area", "line"])


def level(codes: list[int], names: str, column: str = "line") -> Labels:
    return Labels(column=column, codes=np.array(codes, dtype=np.int32), names=tuple(names))


def test_every_location_lies_in_the_groups_of_its_columns(town: Taxonomy) -> None:
    assert [town.size(grain) for grain in range(town.grains)] == [2, 4, 7]
    for grain, text in enumerate(("babaabb", "zxyxwyz")):
        codes = town.codes(grain)
        alike = codes[:, None] == codes[None, :]
        same = np.array(list(text))[:, None] == np.array(list(text))[None, :]
        assert (alike == same).all()
        assert set(codes.tolist()) == set(range(town.size(grain)))


def test_children_of_a_group_have_consecutive_numbers(town: Taxonomy) -> None:
    assert town.first_child(0).tolist() == [0, 2]
    for grain in range(1, town.grains):
        first = town.first_child(grain)
        assert len(first) == town.size(grain - 1) + 1
        assert (np.diff(first) > 0).all()
        parent = np.repeat(np.arange(town.size(grain - 1)), np.diff(first))
        assert (parent[town.codes(grain)] == town.codes(grain - 1)).all()


def test_locations_are_found_again_by_their_number(town: Taxonomy) -> None:
    assert town.location_of(town.codes(2)).tolist() == list(range(7))


def test_a_taxonomy_without_levels_has_locations_only() -> None:
    simple = Taxonomy(locations=places(3))
    assert simple.grains == 1
    assert simple.size(0) == 3
    assert simple.codes(0).tolist() == [0, 1, 2]
    assert simple.first_child(0).tolist() == [0, 3]


def test_the_digest_tells_taxonomies_apart() -> None:
    where = places(4, one="aabb", two="abab")
    digests = {
        column_taxonomy(where, ["one"]).digest,
        column_taxonomy(where, ["two"]).digest,
        Taxonomy(locations=where).digest,
        Taxonomy(locations=places(4)).digest,
    }
    assert len(digests) == 4
    assert column_taxonomy(where, ["one"]).digest == column_taxonomy(where, ["one"]).digest


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: column_taxonomy(places(4, a="xxyy", b="zzzw"), ["a", "b"]), ["'p2'", "'b'"]),
        (lambda: column_taxonomy(places(3, a="xy "), ["a", "a"]), ["two levels"]),
        (lambda: column_taxonomy(places(3), ["line"]), ["'line'"]),
        (lambda: column_taxonomy(places(3), ["zone"]), ["no zone", "'p0', 'p1', 'p2'"]),
        (lambda: column_taxonomy(places(9), ["zone"]), ["'p4' and 4 more"]),
        (lambda: Taxonomy(locations=places(3), levels=(level([0, 1], "ab"),)), ["every place"]),
    ],
)
def test_what_is_no_partition_is_refused_by_name(
    build: Callable[[], Taxonomy], words: list[str]
) -> None:
    with pytest.raises(GeographyError) as caught:
        build()
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert caught.value.advice


@pytest.mark.parametrize("column", ["place", "line"])
def test_levels_need_names_of_their_own(column: str) -> None:
    line = labels_of_codes("line", np.array([0, 0, 1, 1]), ["a", "b"])
    other = labels_of_codes(column, np.array([0, 1, 2, 3]), ["c", "d", "e", "f"])
    with pytest.raises(GeographyError, match="names of their own"):
        Taxonomy(locations=places(4), levels=(line, other))


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
