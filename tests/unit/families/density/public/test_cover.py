"""The cover as a way to share visits: nothing is lost, and nothing is made up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushway.arrays import FloatArray, IntArray
from hushway.errors import GeographyError
from hushway.families.density.public.cover import Cover, Overlap, Pieces, minimum_cover

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
