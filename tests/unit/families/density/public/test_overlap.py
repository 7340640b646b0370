"""Pieces: where cells of sites and areas overlap."""

from typing import Any

import numpy as np
import pytest
import shapely
from numpy.typing import NDArray

from hushway.errors import GeographyError
from hushway.families.density.public.cover import overlap
from hushway.families.density.public.tower_geometry import voronoi_cells


def shapes_of(*boxes: tuple[float, float, float, float]) -> NDArray[Any]:
    return np.array([shapely.box(*box) for box in boxes], dtype=object)


def city(seed: int, areas: int, sites: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Areas that are Voronoi cells of other points, and cells of sites."""
    rng = np.random.default_rng(seed)
    ground = np.array([0.0, 0.0, 10_000.0, 10_000.0])
    square = shapely.box(*ground)
    blocks = voronoi_cells(rng.uniform(0, 1e4, (areas, 2)), ground)
    cells = voronoi_cells(rng.uniform(0, 1e4, (sites, 2)), ground)
    return cells, np.asarray(shapely.intersection(blocks, square))


def test_pieces_have_the_sizes_and_centres_of_what_is_in_both() -> None:
    cells = shapes_of((0, 0, 4, 10), (4, 0, 10, 10))
    areas = shapes_of((0, 0, 10, 5), (0, 5, 10, 10))
    found = overlap(cells, areas)
    assert found.pieces.site.tolist() == [0, 0, 1, 1]
    assert found.pieces.area.tolist() == [0, 1, 0, 1]
    assert found.pieces.size.tolist() == [20, 20, 30, 30]
    assert found.centres.tolist() == [[2, 2.5], [2, 7.5], [7, 2.5], [7, 7.5]]


def test_cells_that_only_touch_an_area_have_no_piece_of_it() -> None:
    blocks = shapes_of((0, 0, 5, 5), (5, 0, 10, 5))
    found = overlap(blocks, blocks)
    assert found.pieces.site.tolist() == [0, 1]
    assert found.pieces.area.tolist() == [0, 1]


def test_the_ground_outside_all_areas_belongs_to_nobody() -> None:
    found = overlap(shapes_of((-50, -50, 50, 50)), shapes_of((0, 0, 1, 1), (2, 0, 3, 1)))
    assert found.pieces.size.tolist() == [1, 1]
    assert found.pieces.site_sizes.tolist() == [2]


@pytest.mark.parametrize("seed", range(5))
def test_all_ground_is_kept(seed: int) -> None:
    cells, areas = city(seed, 60, 90)
    pieces = overlap(cells, areas).pieces
    assert pieces.size.sum() == pytest.approx(1e8, rel=1e-6)
    by_area = np.bincount(pieces.area, weights=pieces.size)
    assert by_area == pytest.approx(shapely.area(areas), rel=1e-6)
    assert (pieces.size > 0).all()
    assert len(np.unique(pieces.site * 60 + pieces.area)) == len(pieces.site)


@pytest.mark.parametrize("seed", range(3))
def test_pieces_are_those_that_every_pair_has(seed: int) -> None:
    cells, areas = city(seed, 12, 15)
    sizes = shapely.area(shapely.intersection(cells[:, None], areas[None, :]))
    pieces = overlap(cells, areas).pieces
    found = np.zeros_like(sizes)
    found[pieces.site, pieces.area] = pieces.size
    assert found == pytest.approx(sizes, abs=1e-6 * sizes.sum() / sizes.size)


def test_slivers_are_dropped() -> None:
    edge = 5 + 1e-9
    cells = shapes_of((0, 0, edge, 10), (edge, 0, 10, 10))
    pieces = overlap(cells, shapes_of((0, 0, 5, 10), (5, 0, 10, 10))).pieces
    assert pieces.site.tolist() == [0, 1]
    assert pieces.area.tolist() == [0, 1]


def test_a_small_piece_of_two_cells_is_no_sliver() -> None:
    edge = 5 + 1e-5
    cells = shapes_of((0, 0, edge, 10), (edge, 0, 10, 10))
    pieces = overlap(cells, shapes_of((0, 0, 5, 10), (5, 0, 10, 10))).pieces
    assert len(pieces.site) == 3


def test_a_tiny_site_or_area_keeps_its_largest_piece() -> None:
    tiny = 1e-5
    cells = shapes_of((0, 0, 1_000, tiny), (0, tiny, 1_000, 1_000))
    areas = shapes_of(
        (0, 0, 400, 1_000), (400, 0, 1_000, 1_000 - tiny), (400, 1_000 - tiny, 1_000, 1_000)
    )
    pieces = overlap(cells, areas).pieces
    assert set(pieces.site.tolist()) == {0, 1}
    assert set(pieces.area.tolist()) == {0, 1, 2}


def test_cells_that_do_not_hold_all_areas_are_refused() -> None:
    with pytest.raises(GeographyError, match="do not hold all ground") as caught:
        overlap(shapes_of((0, 0, 5, 10)), shapes_of((0, 0, 10, 10)))
    assert caught.value.advice


def test_a_site_without_ground_is_refused() -> None:
    cells = shapes_of((0, 0, 10, 10), (20, 0, 30, 10))
    with pytest.raises(GeographyError, match="no ground of its own") as caught:
        overlap(cells, shapes_of((0, 0, 10, 10)))
    assert caught.value.advice


def test_lines_that_two_shapes_share_besides_ground_do_not_matter() -> None:
    comb = shapely.union(shapely.box(0, 0, 10, 1), shapely.box(0, 2, 10, 3))
    comb = shapely.union(comb, shapely.box(0, 1, 1, 2))
    cells = shapes_of((0, -1, 10, 2), (0, 2, 10, 4))
    pieces = overlap(cells, np.array([comb], dtype=object)).pieces
    assert pieces.size.tolist() == [11, 10]
