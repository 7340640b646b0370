"""Shapes that are not as they should be: mended if nothing is lost, refused by name otherwise."""

from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from hushway.arrays import BoolArray
from hushway.errors import GeographyError

# Mending may change the size of an area by this part of it.
_MOST_CHANGED = 1e-3
_SHOWN = 5
_POLYGONAL = (shapely.GeometryType.POLYGON, shapely.GeometryType.MULTIPOLYGON)


def refuse_missing(shapes: NDArray[Any], names: list[str]) -> None:
    """Refuses shapes that are missing, empty, or no polygons.

    Args:
        shapes: The shapes; None where a file has none.
        names: What messages call them.

    Raises:
        GeographyError: Some are; the message names them.
    """
    empty = shapely.is_missing(shapes) | shapely.is_empty(shapes)
    _refuse(empty, names, "Areas have no shape", "Give every area a polygon.")
    other = ~np.isin(shapely.get_type_id(shapes), _POLYGONAL)
    _refuse(other, names, "Areas are not polygons", "Give every area as Polygon or MultiPolygon.")


def mended(shapes: NDArray[Any], names: list[str]) -> NDArray[Any]:
    """Returns polygons that do not cross themselves.

    Args:
        shapes: Polygons.
        names: What messages call them.

    Raises:
        GeographyError: A shape has no size, or cannot be mended without changing it.
    """
    crossed = ~shapely.is_valid(shapes)
    whole = shapes.copy()
    whole[crossed] = [_polygonal(shape) for shape in shapely.make_valid(shapes[crossed])]
    before, after = shapely.area(shapes), shapely.area(whole)
    changed = abs(after - before) > _MOST_CHANGED * np.maximum(before, after)
    _refuse(
        changed,
        names,
        "The borders of areas cross themselves",
        "Repair the polygons, for example with make_valid, and check what they look like.",
    )
    _refuse(after <= 0, names, "Areas have no size", "Give every area a polygon with a size.")
    return whole


def _polygonal(shape: shapely.Geometry) -> shapely.Geometry:
    """Returns the polygons of a mended shape; lines and points have no size."""
    if shapely.get_type_id(shape) in _POLYGONAL:
        return shape
    # Twice: a collection may hold a multipolygon.
    parts = shapely.get_parts(shapely.get_parts(shape))
    return shapely.union_all(parts[shapely.get_type_id(parts) == shapely.GeometryType.POLYGON])


def _refuse(wrong: BoolArray, names: list[str], what: str, advice: str) -> None:
    if not wrong.any():
        return
    named = [names[at] for at in np.flatnonzero(wrong)]
    more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
    raise GeographyError(f"{what}: {', '.join(named[:_SHOWN])}{more}.", advice=advice)
