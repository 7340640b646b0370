"""The cover as a way to share visits: nothing is lost, and nothing is made up."""

from itertools import combinations

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from hushway.arrays import FloatArray, IntArray
from hushway.errors import GeographyError
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

SEEDS = st.integers(0, 100_000)
Shares = tuple[IntArray, IntArray, FloatArray]


def random_cover(seed: int) -> Cover:
    """Pieces of very different sizes, every site and area with at least one."""
    rng = np.random.default_rng(seed)
    sites, areas = (int(n) for n in rng.integers(1, 30, 2))
    meets = rng.random((sites, areas)) < 3 / max(sites, areas)
    meets[np.arange(sites), rng.integers(0, areas, sites)] = True
    meets[rng.integers(0, sites, areas), np.arange(areas)] = True
    site, area = np.nonzero(meets)
    size = 10 ** rng.uniform(-2, 6, len(site))
    pieces = Pieces(sites=sites, areas=areas, site=site, area=area, size=size)
    return minimum_cover(Overlap(pieces=pieces, centres=np.zeros((len(site), 2))))


def applied(shares: Shares, values: FloatArray, size: int) -> FloatArray:
    to, source, share = shares
    return np.bincount(to, weights=share * values[source], minlength=size).astype(np.float64)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(seed=SEEDS, quanta=st.integers(1, 1 << 20))
def test_the_parts_of_a_visit_add_up_to_the_quanta_exactly(seed: int, quanta: int) -> None:
    cover = random_cover(seed)
    cell, site, parts = cover.quantised(quanta)
    assert parts.dtype == np.int64
    assert (parts > 0).all()
    sums = np.zeros(cover.pieces.sites, dtype=np.int64)
    np.add.at(sums, site, parts)
    assert (sums == quanta).all()
    assert len(np.unique(site * len(cover) + cell)) == len(site)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(seed=SEEDS, quanta=st.integers(1, 1 << 20))
def test_no_part_is_off_by_a_whole_quantum(seed: int, quanta: int) -> None:
    cover = random_cover(seed)
    pieces = cover.pieces
    wanted = np.zeros((pieces.sites, len(cover)))
    np.add.at(wanted, (pieces.site, cover.cell), pieces.size / pieces.site_sizes[pieces.site])
    found = np.zeros_like(wanted)
    cell, site, parts = cover.quantised(quanta)
    found[site, cell] = parts
    assert (abs(found - wanted * quanta) < 1 + 1e-6).all()


@settings(max_examples=100, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_shares_of_every_cell_and_of_every_site_add_up_to_one(seed: int) -> None:
    cover = random_cover(seed)
    _, cell, share = cover.area_shares()
    assert np.bincount(cell, weights=share) == pytest.approx(np.ones(len(cover)))
    _, site, share = cover.site_shares()
    assert np.bincount(site, weights=share) == pytest.approx(np.ones(cover.pieces.sites))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_visits_through_the_cover_are_those_of_the_areas(seed: int) -> None:
    """Not only the total is kept: within a site ground is uniform, so every area is the same."""
    cover = random_cover(seed)
    pieces = cover.pieces
    visits = np.random.default_rng(seed).integers(0, 1_000, pieces.sites).astype(np.float64)
    in_cells = np.bincount(
        cover.cell,
        weights=visits[pieces.site] * pieces.size / pieces.site_sizes[pieces.site],
        minlength=len(cover),
    )
    by_cover = applied(cover.area_shares(), in_cells, pieces.areas)
    direct = applied(cover.site_shares(), visits, pieces.areas)
    assert by_cover.sum() == pytest.approx(visits.sum())
    assert by_cover == pytest.approx(direct, rel=1e-9, abs=1e-6)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_a_uniform_density_comes_back_uniform(seed: int) -> None:
    cover = random_cover(seed)
    pieces = cover.pieces
    areas = np.bincount(pieces.area, weights=pieces.size)
    quanta = 1 << 20
    cell, site, parts = cover.quantised(quanta)
    in_cells = np.bincount(cell, weights=parts / quanta * pieces.site_sizes[site])
    found = applied(cover.area_shares(), in_cells, pieces.areas)
    assert found == pytest.approx(areas, abs=pieces.size.sum() * len(site) / quanta)
    exact = applied(cover.area_shares(), cover.sizes, pieces.areas)
    assert exact == pytest.approx(areas)


def test_a_single_part_goes_to_the_largest_piece() -> None:
    pieces = Pieces(
        sites=1,
        areas=3,
        site=np.zeros(3, dtype=np.int64),
        area=np.arange(3),
        size=np.array([2.0, 5.0, 3.0]),
    )
    cover = Cover(
        pieces=pieces,
        is_site=np.zeros(3, dtype=np.bool_),
        member=np.arange(3),
        cell=np.arange(3),
        centres=np.zeros((3, 2)),
    )
    cell, _, parts = cover.quantised(1)
    assert (cell.tolist(), parts.tolist()) == ([1], [1])
    assert cover.quantised(10)[2].tolist() == [2, 5, 3]


@pytest.mark.parametrize("quanta", [0, -1, (1 << 20) + 1])
def test_too_few_or_too_many_quanta_are_refused(quanta: int) -> None:
    with pytest.raises(GeographyError, match="1 to 1,048,576 parts") as caught:
        random_cover(1).quantised(quanta)
    assert caught.value.advice


@pytest.mark.parametrize(
    ("member", "cell"),
    [([0, 1], [0, 0]), ([0, 1], [1, 0]), ([0, 0], [0, 0])],
    ids=["an empty cell", "a piece in a cell that does not hold it", "both"],
)
def test_a_wrong_cover_is_refused(member: list[int], cell: list[int]) -> None:
    pieces = Pieces(
        sites=1, areas=2, site=np.zeros(2, dtype=np.int64), area=np.arange(2), size=np.ones(2)
    )
    with pytest.raises(GeographyError, match="A cover gives a piece"):
        Cover(
            pieces=pieces,
            is_site=np.zeros(2, dtype=np.bool_),
            member=np.array(member),
            cell=np.array(cell),
            centres=np.zeros((2, 2)),
        )


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
