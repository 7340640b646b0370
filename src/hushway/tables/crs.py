"""From the coordinates of a file to WGS84 degrees."""

import json
import math
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import shapely
from numpy.typing import NDArray
from pyproj import CRS, Transformer, network
from pyproj.exceptions import CRSError, ProjError

from hushway.errors import GeographyError

# What coordinates mean in GeoJSON (RFC 7946) and GeoParquet that do not say.
DEGREES: Final = "OGC:CRS84"
_WGS84 = CRS.from_user_input(DEGREES)
_MOST_LON, _MOST_LAT = 180.0, 90.0
# Rounding may carry a corner at the end of the world over it.
_SLACK = 1.000001
# How far outside the region that a CRS was made for its coordinates may still lie, in degrees.
_MARGIN = 2.0


def geometry_column(file: Path, noun: str, schema: pa.Schema) -> tuple[str, Any]:
    """Returns the name of the column of geometries in GeoParquet, and what it says of their CRS.

    A CRS of null means that nobody knows.
    """
    try:
        facts = json.loads((schema.metadata or {})[b"geo"])
        column = facts["primary_column"]
        wkb = facts["columns"][column]["encoding"] == "WKB" and column in schema.names
        crs = facts["columns"][column].get("crs", DEGREES)
    except (KeyError, TypeError, ValueError, AttributeError):
        wkb = False
    if not wkb:
        raise GeographyError(
            f"The {noun} file {file.name} is Parquet without geometries in WKB.",
            advice="Write it as GeoParquet: its metadata must name the column of geometries.",
        )
    return column, crs


def known_crs(crs: Any, noun: str) -> CRS:
    """Returns the CRS of a name, a WKT or a PROJJSON."""
    try:
        known = CRS.from_user_input(crs)
    except (CRSError, TypeError, ValueError):
        raise GeographyError(
            f"The CRS of {noun} is unknown: {_short(crs)}.",
            advice="Name its CRS, for example EPSG:4326 or EPSG:2154.",
        ) from None
    usable = known.is_geographic or known.is_projected
    if not usable or any(axis.unit_conversion_factor <= 0 for axis in known.axis_info):
        raise GeographyError(
            f"The CRS of {noun} is not a map or degrees: {_short(known.name)}.",
            advice="Name its CRS, for example EPSG:4326 or EPSG:2154.",
        )
    return known


def to_degrees(shapes: NDArray[Any], crs: CRS, noun: str) -> NDArray[Any]:
    """Returns shapes in WGS84 degrees, longitude first, flat."""
    # Grids for shifts between datums are never fetched: a list of areas stays on its machine.
    network.set_network_enabled(active=False)
    flat = shapely.force_2d(shapes)
    if crs.is_geographic:
        # One unit of the axes in radians: some old maps count in grads.
        turn = math.pi / crs.axis_info[0].unit_conversion_factor
        _check_within(flat, (-turn, -turn / 2, turn, turn / 2), crs, noun)
    degrees = flat if crs.equals(_WGS84, ignore_axis_order=True) else _converted(flat, crs, noun)
    _check_within(degrees, (-_MOST_LON, -_MOST_LAT, _MOST_LON, _MOST_LAT), crs, noun)
    _check_region(degrees, crs, noun)
    return degrees


def _converted(shapes: NDArray[Any], crs: CRS, noun: str) -> NDArray[Any]:
    try:
        transformer = Transformer.from_crs(crs, _WGS84, always_xy=True)
        # What cannot be converted is infinite, and is refused by whoever looks next.
        with np.errstate(invalid="ignore"):
            return np.asarray(
                shapely.transform(
                    shapes, lambda xy: np.column_stack(transformer.transform(xy[:, 0], xy[:, 1]))
                )
            )
    except (ProjError, shapely.errors.GEOSException):
        raise _disagrees(crs, noun) from None


def _check_within(
    shapes: NDArray[Any], box: tuple[float, float, float, float], crs: CRS, noun: str
) -> None:
    corners = shapely.get_coordinates(shapes)
    low, high = np.array(box[:2]) * _SLACK, np.array(box[2:]) * _SLACK
    # Written so that NaN is outside.
    if ((corners >= low) & (corners <= high)).all():
        return
    turned = corners[:, ::-1]
    if crs.is_geographic and len(turned) and ((turned >= low) & (turned <= high)).all():
        raise GeographyError(
            f"Coordinates of {noun} have a latitude beyond 90 degrees: longitude and latitude look "
            "swapped.",
            advice="Give the longitude first, and then the latitude; or let the plan name their "
            "columns the other way round.",
        )
    raise _disagrees(crs, noun)


def _check_region(degrees: NDArray[Any], crs: CRS, noun: str) -> None:
    """Refuses shapes far from where the CRS is used, such as degrees that are said to be metres."""
    region = crs.area_of_use
    if region is None or region.west > region.east:
        return
    west, south, east, north = shapely.total_bounds(degrees)
    apart = (
        east < region.west - _MARGIN
        or west > region.east + _MARGIN
        or north < region.south - _MARGIN
        or south > region.north + _MARGIN
    )
    if apart:
        raise _disagrees(crs, noun)


def _disagrees(crs: CRS, noun: str) -> GeographyError:
    return GeographyError(
        f"The coordinates of {noun} cannot be in the CRS {_short(crs.name)}.",
        advice="Name the CRS that they are in, for example EPSG:4326 or EPSG:2154.",
    )


def _short(crs: Any) -> str:
    text = str(crs).strip()
    return (text if len(text) <= 60 else text[:60] + "...") or "one without a name"  # noqa: PLR2004
