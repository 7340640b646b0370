"""Tables for programs that people have already: sheets of a workbook, layers of a map."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import shapely

from hushway.geography.locations import Locations
from hushway.release.formats.columns import TEXT, WKB, Column, Columns
from hushway.release.formats.geoparquet import GEOMETRY, shape_array
from hushway.release.formats.places import text_array

# More rows are slow to open for everybody; Parquet holds the same numbers.
MOST_ROWS: Final = 1 << 18


@dataclass(frozen=True, kw_only=True, eq=False)
class Layer:
    """One table.

    Attributes:
        name: What it is called in a file.
        title: What it is, in a few words.
        columns: Its columns; shapes, if it has any, are the last one.
        rows: How many rows it has.
        batches: Returns them, some at a time.
        shape: What its shapes are, in the words of GeoPackage; None if it has none.
    """

    name: str
    title: str
    columns: Columns
    rows: int
    batches: Callable[[], Iterable[pa.RecordBatch]]
    shape: str | None = None


def are_few(layers: Sequence[Layer]) -> bool:
    """Whether there are tables, and rows of all together are few enough."""
    return bool(layers) and sum(layer.rows for layer in layers) <= MOST_ROWS


def shape_column(words: str) -> Column:
    """Returns the column of shapes."""
    return Column(GEOMETRY, WKB, f"{words}, in longitudes and latitudes (WGS84).")


def outlines_array(shapes: Iterable[shapely.Geometry]) -> pa.Array:
    """Returns shapes of areas, each as several polygons, which one layer can hold all of."""
    parts = [shapely.multipolygons(shapely.get_parts(shapely.force_2d(each))) for each in shapes]
    return shape_array(shapely.to_wkb(parts, byte_order=1).tolist())


def places_layer(locations: Locations) -> Layer:
    """Returns public places as points, or as polygons where they are areas."""
    # Further labels may be called anything, in a layer also what another column is called.
    named = ("id", "name", "zone")
    columns = Columns(
        (*(Column(name, TEXT, "As in places.csv.") for name in named), shape_column("Where it is"))
    )

    def batch() -> pa.RecordBatch:
        places = locations.places
        facts = ([getattr(place, name) for place in places] for name in named)
        points = shapely.points([(float(place.lon), float(place.lat)) for place in places])
        shapes = shape_array(shapely.to_wkb(points, byte_order=1).tolist())
        if locations.shapes:
            shapes = outlines_array(locations.shapes)
        arrays = [*map(text_array, facts), shapes]
        return pa.RecordBatch.from_arrays(arrays, schema=columns.schema)

    return Layer(
        name="places",
        title="Public places",
        columns=columns,
        rows=len(locations),
        batches=lambda: [batch()],
        shape="MULTIPOLYGON" if locations.shapes else "POINT",
    )
