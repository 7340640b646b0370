"""Smallest covers against brute force, and where each piece goes."""

from itertools import combinations

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from hushway.families.density.public.cover import (
    Cover,
    Overlap,
    Pieces,
    identity_cover,
    matching,
    minimum_cover,
    smallest_ends,
)
from hushway.geography.areas import Area, Areas


def pieces_of(edges: set[tuple[int, int]], sites: int, areas: int, *, seed: int = 0) -> Pieces:
    """Pieces with a size of their own; sites and areas without an edge get one."""
    edges = set(edges)
    edges |= {(site, 0) for site in range(sites) if all(s != site for s, _ in edges)}
    edges |= {(0, area) for area in range(areas) if all(a != area for _, a in edges)}
    site, area = np.array(sorted(edges), dtype=np.int64).T
    size = np.random.default_rng(seed).uniform(1, 100, len(site))
    return Pieces(sites=sites, areas=areas, site=site, area=area, size=size)


def cover_of(pieces: Pieces) -> Cover:
    centres = np.column_stack([pieces.site, pieces.area]).astype(np.float64)
    return minimum_cover(Overlap(pieces=pieces, centres=centres))


def smallest_by_trying(pieces: Pieces) -> int:
    ends = [("site", i) for i in range(pieces.sites)] + [("area", i) for i in range(pieces.areas)]
    edges = list(zip(pieces.site.tolist(), pieces.area.tolist(), strict=True))
    for count in range(len(ends) + 1):
        for chosen in map(set, combinations(ends, count)):
            if all(("site", s) in chosen or ("area", a) in chosen for s, a in edges):
                return count
    raise AssertionError


def random_pieces(seed: int, most: int, edges_each: float) -> Pieces:
    rng = np.random.default_rng(seed)
    sites, areas = (int(n) for n in rng.integers(1, most + 1, 2))
    count = int(edges_each * max(sites, areas))
    drawn = zip(rng.integers(0, sites, count), rng.integers(0, areas, count), strict=True)
    return pieces_of({(int(s), int(a)) for s, a in drawn}, sites, areas, seed=seed)


@pytest.mark.parametrize("seed", range(60))
def test_no_smaller_cover_exists(seed: int) -> None:
    pieces = random_pieces(seed, 6, 1.0 + seed % 3)
    assert len(cover_of(pieces)) == smallest_by_trying(pieces)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10_000), most=st.integers(1, 150), edges_each=st.floats(0.5, 6))
def test_a_cover_has_as_many_cells_as_the_largest_matching_has_edges(
    seed: int, most: int, edges_each: float
) -> None:
    pieces = random_pieces(seed, most, edges_each)
    partners = matching(pieces)
    matched = partners[partners >= 0]
    assert len(np.unique(matched)) == len(matched)
    sites, areas = smallest_ends(pieces)
    assert sites.sum() + areas.sum() == len(matched)
    assert (sites[pieces.site] | areas[pieces.area]).all()
    # The cover checks that each piece is in its own cell and that none is empty.
    assert len(cover_of(pieces)) == len(matched)


@pytest.mark.parametrize("seed", range(20))
def test_of_all_smallest_covers_it_has_the_most_areas(seed: int) -> None:
    pieces = random_pieces(seed, 5, 1.5)
    size = smallest_by_trying(pieces)
    ends = [("site", i) for i in range(pieces.sites)] + [("area", i) for i in range(pieces.areas)]
    edges = list(zip(pieces.site.tolist(), pieces.area.tolist(), strict=True))
    covers = [
        chosen
        for chosen in map(set, combinations(ends, size))
        if all(("site", s) in chosen or ("area", a) in chosen for s, a in edges)
    ]
    most = max(sum(kind == "area" for kind, _ in chosen) for chosen in covers)
    assert int((~cover_of(pieces).is_site).sum()) == most


def test_the_same_pieces_always_give_the_same_cover() -> None:
    first, second = (cover_of(random_pieces(3, 120, 3.0)) for _ in range(2))
    assert np.array_equal(first.member, second.member)
    assert np.array_equal(first.is_site, second.is_site)
    assert np.array_equal(first.cell, second.cell)


def test_a_piece_in_two_cells_goes_to_the_smaller_one() -> None:
    # Sites 0 and 1 are held by area 0, areas 1 and 2 by site 2; the piece of site 2 in area 0 is
    # in both.
    edges = [(0, 0), (1, 0), (2, 0), (2, 1), (2, 2)]
    site, area = np.array(edges).T

    def with_sizes(*size: float) -> Cover:
        return cover_of(
            Pieces(sites=3, areas=3, site=site, area=area, size=np.array(size, dtype=np.float64))
        )

    small_site = with_sizes(9, 9, 1, 2, 2)
    assert small_site.is_site.tolist() == [True, False]
    assert small_site.member.tolist() == [2, 0]
    assert small_site.cell.tolist() == [1, 1, 0, 0, 0]
    small_area = with_sizes(2, 2, 1, 9, 9)
    assert small_area.cell.tolist() == [1, 1, 1, 0, 0]
    alike = with_sizes(2, 2, 1, 2, 2)
    assert alike.cell.tolist() == [1, 1, 1, 0, 0]


def test_the_centre_of_a_cell_is_that_of_the_ground_given_to_it() -> None:
    pieces = Pieces(
        sites=2, areas=1, site=np.array([0, 1]), area=np.array([0, 0]), size=np.array([1.0, 3.0])
    )
    centres = np.array([[0.0, 0.0], [4.0, 8.0]])
    cover = minimum_cover(Overlap(pieces=pieces, centres=centres))
    assert len(cover) == 1
    assert not cover.is_site[0]
    assert cover.centres.tolist() == [[3.0, 6.0]]
    assert cover.sizes.tolist() == [4.0]


def test_people_seen_at_positions_are_counted_in_areas() -> None:
    areas = Areas(
        areas=tuple(
            Area(id=f"a{i}", name="", shape=shapely.box(i / 100, 0, (i + 1) / 100, 0.01))
            for i in range(4)
        )
    )
    cover = identity_cover(areas)
    assert len(cover) == cover.pieces.sites == cover.pieces.areas == 4
    assert not cover.is_site.any()
    cell, site, parts = cover.quantised(16)
    assert (cell.tolist(), site.tolist()) == ([0, 1, 2, 3], [0, 1, 2, 3])
    assert parts.tolist() == [16] * 4
    assert np.array_equal(cover.centres, areas.centres)
    assert np.array_equal(cover.sizes, areas.sizes)
