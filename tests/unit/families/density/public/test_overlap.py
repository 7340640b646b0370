"""Pieces: where cells of sites and areas overlap."""

from typing import Any

import numpy as np
import pytest
import shapely
from numpy.typing import NDArray

from hushway.arrays import FloatArray
from hushway.errors import GeographyError
from hushway.families.density.public.cover import overlap
from hushway.families.density.public.tower_geometry import tessellation, voronoi_cells
from hushway.geography.areas import Area, Areas


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


GROUND = np.array([-500.0, -500.0, 12_000.0, 12_000.0])
FAR = np.array([600_000.0, 6_800_000.0])


def points_of(kind: str) -> FloatArray:
    rng = np.random.default_rng(7)
    turns = np.arange(64) / 64 * 2 * np.pi
    steps = np.arange(20.0)
    pairs = np.repeat(rng.uniform(0, 1e4, (100, 2)), 2, axis=0)
    return {
        "anywhere": rng.uniform(0, 1e4, (400, 2)),
        "on a grid": np.stack(np.meshgrid(steps * 500, steps * 500), axis=-1).reshape(-1, 2),
        "on a circle": 3_000 * np.column_stack([np.cos(turns), np.sin(turns)]) + 4_000,
        "on a line": np.column_stack([steps * 10, steps * 10]),
        "crowded": np.concatenate([rng.uniform(0, 1e4, (50, 2)), rng.normal(5_000, 5, (300, 2))]),
        "a centimetre apart": pairs + np.tile([[0.0, 0.0], [0.01, 0.0]], (100, 1)),
        "alone": np.array([[5.0, 5.0]]),
        "two": np.array([[5.0, 5.0], [5.0, 6.0]]),
    }[kind]


KINDS = (
    "anywhere",
    "on a grid",
    "on a circle",
    "on a line",
    "crowded",
    "a centimetre apart",
    "alone",
    "two",
)


@pytest.mark.parametrize("kind", KINDS)
def test_the_cell_of_a_point_is_where_it_is_the_nearest(kind: str) -> None:
    points = points_of(kind)
    cells = voronoi_cells(points, GROUND)
    tries = np.random.default_rng(8).uniform(GROUND[:2], GROUND[2:], (1_000, 2))
    nearest = ((tries[:, None] - points[None]) ** 2).sum(axis=-1).argmin(axis=1)
    assert (shapely.distance(cells[nearest], shapely.points(tries)) < 1e-6).all()


@pytest.mark.parametrize("kind", KINDS)
def test_cells_hold_their_own_points_and_all_ground_once(kind: str) -> None:
    points = points_of(kind)
    cells = voronoi_cells(points, GROUND)
    ground = shapely.box(*GROUND)
    assert len(cells) == len(points)
    assert shapely.is_valid(cells).all()
    assert shapely.covers(cells, shapely.points(points)).all()
    clipped = shapely.area(shapely.intersection(cells, ground))
    assert clipped.sum() == pytest.approx(ground.area, rel=1e-9)


def test_cells_are_as_good_far_from_the_origin() -> None:
    points = points_of("anywhere")
    near = voronoi_cells(points, GROUND)
    moved = voronoi_cells(points + FAR, GROUND + np.tile(FAR, 2))
    sizes = shapely.area(shapely.intersection(near, shapely.box(*GROUND)))
    ground = shapely.box(*(GROUND + np.tile(FAR, 2)))
    assert shapely.area(shapely.intersection(moved, ground)) == pytest.approx(sizes, rel=1e-6)


def test_sites_far_outside_the_ground_do_not_leave_any_of_it_uncovered() -> None:
    points = np.array([[-1e5, -1e5], [-1e5 - 1, -1e5]])
    cells = voronoi_cells(points, GROUND)
    assert shapely.covers(shapely.union_all(cells), shapely.box(*GROUND))


STEP = 0.01


def areas_of(*shapes: shapely.Geometry) -> Areas:
    return Areas(
        areas=tuple(Area(id=f"a{i}", name="", shape=shape) for i, shape in enumerate(shapes))
    )


def block(
    column: float, row: float = 0.0, *, wide: float = 1.0, high: float = 1.0
) -> shapely.Polygon:
    return shapely.box(
        2.3 + column * STEP,
        48.8 + row * STEP,
        2.3 + (column + wide) * STEP,
        48.8 + (row + high) * STEP,
    )


def test_areas_that_only_share_borders_are_left_as_they_are() -> None:
    areas = areas_of(block(0), block(1), block(0, 1), block(1, 1))
    assert shapely.equals_exact(tessellation(areas), areas.projected).all()


def test_a_sliver_in_two_areas_is_given_to_the_first() -> None:
    areas = areas_of(block(0, wide=1 + 5e-5), block(1))
    shapes = tessellation(areas)
    sizes = shapely.area(shapes)
    assert sizes[0] == pytest.approx(areas.sizes[0], rel=1e-12)
    assert sizes[1] == pytest.approx(areas.sizes[1] * (1 - 5e-5), rel=1e-9)
    assert sizes.sum() == pytest.approx(shapely.union_all(areas.projected).area, rel=1e-9)


def test_a_sliver_in_three_areas_is_given_once() -> None:
    wide = 1 + 4e-5
    areas = areas_of(block(0, wide=wide), block(1), block(0, 0.99998, wide=2))
    shapes = tessellation(areas)
    whole = shapely.union_all(areas.projected).area
    assert shapely.area(shapes).sum() == pytest.approx(whole, rel=1e-9)
    assert areas.sizes.sum() > whole * (1 + 1e-6)


def test_areas_that_overlap_are_refused_with_the_worst_pairs_first() -> None:
    shapes = [block(2 * i, wide=1.0) for i in range(8)]
    extra = [block(2 * i + 0.5, wide=0.5 + 0.01 * i) for i in range(1, 8)]
    with pytest.raises(GeographyError) as caught:
        tessellation(areas_of(*shapes, block(0.9), *extra))
    message = str(caught.value)
    assert message.startswith("Areas overlap each other: 'a1' and 'a9' (98.04% of the smaller), ")
    assert message.index("'a2'") < message.index("'a3'") < message.index("'a5'")
    assert "'a6'" not in message
    assert "and 3 more pairs" in message
    assert caught.value.advice


@pytest.mark.parametrize("shared", [0.011, 0.02, 0.5])
def test_more_than_a_sliver_is_refused(shared: float) -> None:
    with pytest.raises(GeographyError, match="'a0' and 'a1'"):
        tessellation(areas_of(block(0, wide=1 + shared), block(1)))


def test_an_area_inside_another_one_is_refused() -> None:
    with pytest.raises(GeographyError, match=r"100\.00% of the smaller"):
        tessellation(areas_of(block(0), block(0.4, 0.4, wide=0.01, high=0.01)))


def test_an_area_in_the_hole_of_another_one_is_fine() -> None:
    hole = block(0.4, 0.4, wide=0.1, high=0.1)
    areas = areas_of(shapely.difference(block(0), hole), hole)
    assert shapely.area(tessellation(areas)) == pytest.approx(areas.sizes)


def test_the_list_of_areas_itself_is_not_changed() -> None:
    areas = areas_of(block(0, wide=1 + 5e-5), block(1))
    before = areas.projected.copy()
    tessellation(areas)
    assert all(one is other for one, other in zip(areas.projected, before, strict=True))
    assert np.isfinite(areas.sizes).all()
