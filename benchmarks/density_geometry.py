"""How long the geometry of a density takes, beside the overlays that no method can do without.

A city of the size of the paper's: 989 areas with borders of many corners and 1,303 towers. The
limit is the intersection of the pairs that do overlap, known beforehand: whoever cuts the city into
pieces has to compute at least these. Nothing is asserted: the bars stand beside the measurements.
"""

from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import shapely

from harness import print_figures, timed, whole_days
from hushway.families.density.public.cover import minimum_cover, overlap
from hushway.families.density.public.geometry import density_universe
from hushway.families.density.public.tower_geometry import tessellation, voronoi_cells
from hushway.geography.areas import Area, Areas
from hushway.geography.locations import Location, Locations

AREAS, TOWERS = 989, 1_303
RUNS = 5
# Corners on each side of an area; real borders follow streets.
CORNERS = 8
WEST, SOUTH, EAST, NORTH = 2.22, 48.81, 2.47, 48.91


def city(seed: int = 1) -> tuple[Areas, Locations]:
    """Areas with crooked borders that neighbours share, and towers crowded around the middle."""
    rng = np.random.default_rng(seed)
    ground = np.array([WEST, SOUTH, EAST, NORTH])
    low, high = ground[:2], ground[2:]
    cells = voronoi_cells(rng.uniform(low, high, (AREAS, 2)), ground)
    crooked = _crooked(shapely.intersection(cells, shapely.box(*ground)))
    areas = Areas(
        areas=tuple(Area(id=f"a{i}", name="", shape=shape) for i, shape in enumerate(crooked))
    )
    drawn = (low + high) / 2 + rng.normal(0, 0.28, (4 * TOWERS, 2)) * (high - low)
    inside = shapely.contains_xy(shapely.union_all(crooked), drawn)
    towers = Locations(
        tuple(
            Location(id=f"t{i}", name="", lon=float(lon), lat=float(lat), zone="")
            for i, (lon, lat) in enumerate(drawn[inside][:TOWERS])
        )
    )
    return areas, towers


def _crooked(shapes: Any) -> Any:
    """Bends every border by a wave of the place itself, so that neighbours bend alike."""

    def bent(xy: Any) -> Any:
        wave = np.column_stack([np.sin(9_000 * xy[:, 1]), np.sin(9_000 * xy[:, 0])])
        return xy + 5e-5 * wave

    side = 0.004 / CORNERS
    return shapely.transform(shapely.segmentize(shapes, side), bent)


def median_seconds(run: Any) -> float:
    return timed(run, RUNS)[0]


def main() -> dict[str, float]:
    """Measures, prints a table and returns the numbers."""
    areas, towers = city()
    shapes = tessellation(areas)
    points = areas.plane.to_metres(
        np.array([tower.lon for tower in towers.places]),
        np.array([tower.lat for tower in towers.places]),
    )
    ground = shapely.total_bounds(shapes)
    cells = voronoi_cells(points, ground)
    cut = overlap(cells, shapes)
    pieces = cut.pieces
    week = whole_days("Europe/Paris", date(2007, 9, 10), 7, minutes=60, cycle="window")
    figures = {
        "areas": float(len(areas)),
        "towers": float(len(towers)),
        "corners": float(shapely.get_num_coordinates(shapes).sum()),
        "pieces": float(len(pieces.site)),
        "cover_cells": float(len(minimum_cover(cut))),
        "tessellation_seconds": median_seconds(lambda: tessellation(areas)),
        "voronoi_seconds": median_seconds(lambda: voronoi_cells(points, ground)),
        "overlap_seconds": median_seconds(lambda: overlap(cells, shapes)),
        "cover_seconds": median_seconds(lambda: minimum_cover(cut)),
        "limit_seconds": median_seconds(
            lambda: shapely.intersection(cells[pieces.site], shapes[pieces.area])
        ),
        # A new list of areas each time: nothing may be left from the last run.
        "whole_seconds": median_seconds(
            lambda: density_universe(Areas(areas=areas.areas), week, towers)
        ),
    }
    with TemporaryDirectory() as folder:
        kept = Path(folder)
        density_universe(areas, week, towers, cache=kept)
        figures["cached_seconds"] = median_seconds(
            lambda: density_universe(Areas(areas=areas.areas), week, towers, cache=kept)
        )
    figures["overlap_over_limit"] = figures["overlap_seconds"] / figures["limit_seconds"]
    figures["whole_over_limit"] = figures["whole_seconds"] / figures["limit_seconds"]
    bars = {
        "whole_seconds": "below 2",
        "cached_seconds": "well below whole_seconds",
        "overlap_over_limit": "at most 3",
    }
    print_figures(figures, bars)
    return figures


if __name__ == "__main__":
    main()
