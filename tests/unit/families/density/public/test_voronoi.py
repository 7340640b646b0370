"""Voronoi cells against the obvious reading: the nearest point."""

import numpy as np
import pytest
import shapely

from hushway.arrays import FloatArray
from hushway.families.density.public.tower_geometry import voronoi_cells

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
