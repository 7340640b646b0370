"""Events name places or carry positions, never both."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from scipy.spatial import Voronoi

from hushway.errors import DataError
from hushway.families.density.rows.rows import AreaIndex, EventColumns, EventsSource
from hushway.geography.areas import Area, Areas
from hushway.tables.layout import layout_of

POSITIONS = EventColumns(location=None, lon="x", lat="y")


def test_columns_are_known_by_purpose() -> None:
    assert EventColumns().roles == {"person": "person", "location": "location", "time": "time"}
    assert POSITIONS.roles == {"person": "person", "lon": "x", "lat": "y", "time": "time"}


@pytest.mark.parametrize(
    "named",
    [
        {"lon": "x", "lat": "y"},
        {"lon": "x"},
        {"location": None},
        {"location": None, "lon": "x"},
        {"location": None, "lat": "y"},
    ],
)
def test_half_a_position_and_a_place_twice_are_refused(named: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="either a place, or a longitude and a latitude"):
        EventColumns(**named)


def test_a_column_cannot_have_two_purposes() -> None:
    with pytest.raises(DataError, match="named for two purposes"):
        EventColumns(location=None, lon="x", lat="x")


def positions(tmp_path: Path, kind: pa.DataType) -> EventsSource:
    table = pa.table(
        {
            "person": pa.array([1], pa.int64()),
            "x": pa.array([2.3]).cast(kind, safe=False),
            "y": pa.array([48.9]),
            "time": pa.array([0], pa.timestamp("us")),
        }
    )
    pq.write_table(table, tmp_path / "events.parquet")
    return EventsSource(tmp_path / "events.parquet", POSITIONS)


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
def test_positions_are_floating_point_in_parquet(tmp_path: Path, kind: pa.DataType) -> None:
    kinds = layout_of(positions(tmp_path, kind)).kinds
    assert kinds == {"person": "integer", "lon": "number", "lat": "number", "time": "naive time"}


@pytest.mark.parametrize("kind", [pa.int64(), pa.string()])
def test_other_positions_in_parquet_are_refused(tmp_path: Path, kind: pa.DataType) -> None:
    with pytest.raises(DataError, match=r"'x' \(lon\) does not hold floating-point numbers"):
        layout_of(positions(tmp_path, kind))


def test_positions_are_text_in_csv(tmp_path: Path) -> None:
    file = tmp_path / "events.csv"
    file.write_text("person,x,y,time\n1,2.3,48.9,2026-03-02T08:00:00\n", encoding="utf-8")
    assert set(layout_of(EventsSource(file, POSITIONS)).kinds.values()) == {"text"}


def areas_of(*shapes: shapely.Geometry) -> Areas:
    return Areas(areas=tuple(Area(id=str(i), name="", shape=s) for i, s in enumerate(shapes)))


def by_polygons(areas: Areas, lon: np.ndarray, lat: np.ndarray) -> list[int]:
    points = shapely.points(lon, lat)
    inside = np.array([shapely.intersects(shape, points) for shape in areas.shapes])
    lowest: list[int] = np.where(inside.any(axis=0), inside.argmax(axis=0), -1).tolist()
    return lowest


def crooked_town(seed: int) -> Areas:
    """Cells with shared borders and a hole, one in two parts, one reaching over another a bit."""
    seeds = np.random.default_rng(seed).uniform(0, 1, (60, 2)) * [0.4, 0.2] + [2.1, 48.8]
    diagram = Voronoi(seeds)
    cells = [
        shapely.Polygon(diagram.vertices[region]).intersection(shapely.box(2.0, 48.7, 2.6, 49.1))
        for region in diagram.regions
        if region and -1 not in region
    ]
    hole = shapely.Point(*cells[0].centroid.coords[0]).buffer(0.004)
    apart = shapely.union(cells[1], shapely.box(2.56, 49.06, 2.57, 49.07))
    over = shapely.union(cells[2], cells[3].intersection(cells[2].buffer(1e-5)))
    return areas_of(cells[0].difference(hole), apart, over, *cells[3:-2])


@pytest.mark.one_in(2)
@pytest.mark.parametrize("pixels", [1, 16, 300, 2048])
def test_a_raster_says_what_the_polygons_say(pixels: int) -> None:
    areas = crooked_town(1)
    rng = np.random.default_rng(2)
    west, south, east, north = shapely.total_bounds(areas.shapes)
    corners = shapely.get_coordinates(areas.shapes)
    middles = (corners[1:] + corners[:-1]) / 2
    near = corners + rng.normal(0, 1e-9, corners.shape)
    anywhere = rng.uniform([west - 0.01, south - 0.01], [east + 0.01, north + 0.01], (20_000, 2))
    lon, lat = np.concatenate([anywhere, corners, middles, near]).T.copy()
    found = AreaIndex(areas, pixels).locate(lon, lat)
    assert found.tolist() == by_polygons(areas, lon, lat)
    assert {-1, *range(len(areas))} == set(found.tolist())


@pytest.mark.parametrize("pixels", [1, 10, 64])
def test_borders_along_the_raster_and_overlaps_go_to_the_lowest_index(pixels: int) -> None:
    areas = areas_of(
        shapely.box(0, 0, 1, 1), shapely.box(1, 0, 2, 1), shapely.box(0.9375, 0.75, 2, 2)
    )
    lon, lat = (
        grid.ravel() for grid in np.meshgrid(np.arange(-2, 36) / 16, np.arange(-2, 36) / 16)
    )
    assert AreaIndex(areas, pixels).locate(lon, lat).tolist() == by_polygons(areas, lon, lat)


def test_no_position_on_earth_lies_in_no_area() -> None:
    index = AreaIndex(areas_of(shapely.box(-180, -90, 180, 90)))
    nan, inf = float("nan"), float("inf")
    lon = np.array([nan, 0.0, inf, 0.0, 181.0, 0.0, 180.0, -180.0])
    lat = np.array([0.0, nan, 0.0, -inf, 0.0, 90.5, 90.0, -90.0])
    assert index.locate(lon, lat).tolist() == [-1, -1, -1, -1, -1, -1, 0, 0]
    assert len(index.locate(np.empty(0), np.empty(0))) == 0
