"""What is drawn under a map of vector tiles in one file (PMTiles)."""

import gzip
import io
import math
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import shapely

from hushway.arrays import FloatArray
from hushway.errors import GeographyError
from hushway.geography.ground import Bounds
from hushway.tables.crs import DEGREES
from hushway.tables.ground_osm import TAGS

# A page shows fewer steps across than this many tiles have.
_MOST_ACROSS: Final = 6
_MOST_TILE_BYTES: Final = 1 << 25
_LARGE_ROADS: Final = ("motorway", "trunk", "primary", "secondary", "highway", "major_road")
_RAILS: Final = ("rail", "transit", "subway", "light_rail", "tram")
# The layers of Protomaps, OpenMapTiles and Shortbread that are drawn, and what they hold.
_WATER: Final = frozenset({"water", "ocean", "water_polygons", "water_lines", "waterway"})
_WAYS: Final = frozenset({"roads", "transit", "transportation", "streets"})
_BORDERS: Final = frozenset({"boundary", "boundaries"})

_DAMAGED: Final = (ValueError, LookupError, EOFError, OSError, struct.error, shapely.GEOSException)

_Shapes = list[tuple[Mapping[str, Any], shapely.Geometry]]


def tile_shapes(file: Path, box: Bounds) -> tuple[_Shapes, str]:
    """Returns water, large roads, rails and borders of the tiles within a box, and the CRS.

    Raises:
        GeographyError: The file is damaged, holds pictures instead of vectors, or what reads tiles
            is not installed.
    """
    try:
        from google.protobuf.message import DecodeError
        from pmtiles.reader import MmapSource, Reader
        from pmtiles.tile import MagicNumberNotFound, SpecVersionUnsupported
    except ImportError:
        raise GeographyError(
            f"The ground file {file.name} needs the libraries that read tiles, which are not "
            "installed.",
            advice='Install them with: pip install "hushway[tiles]"',
        ) from None
    try:
        with file.open("rb") as opened:
            reader: Any = cast("Any", Reader)(cast("Any", MmapSource)(opened))
            return list(_shapes(reader, box)), DEGREES
    except (*_DAMAGED, DecodeError, MagicNumberNotFound, SpecVersionUnsupported):
        raise GeographyError(
            f"The ground file {file.name} is damaged, or does not hold vector tiles.",
            advice="Give a PMTiles file of version 3 with vector tiles (MVT).",
        ) from None


def _shapes(reader: Any, box: Bounds) -> Iterator[tuple[Mapping[str, Any], shapely.Geometry]]:
    import mapbox_vector_tile

    for zoom, across, down in _tiles(box, reader.header()["max_zoom"]):
        data = reader.get(zoom, across, down)
        if data is None:
            continue
        layers = mapbox_vector_tile.decode(_unpacked(data), default_options={"y_coord_down": True})
        for name, layer in layers.items():
            for feature in layer["features"]:
                tags = _tags(name, feature["properties"])
                if tags is not None:
                    shape = shapely.geometry.shape(feature["geometry"])
                    yield tags, _on_earth(shape, layer["extent"], zoom, across, down)


def _unpacked(data: bytes) -> bytes:
    if not data.startswith(b"\x1f\x8b"):
        return data
    with gzip.open(io.BytesIO(data)) as packed:
        unpacked = packed.read(_MOST_TILE_BYTES + 1)
    if len(unpacked) > _MOST_TILE_BYTES:
        raise ValueError("a tile is larger than tiles are")
    return unpacked


def _tags(layer: str, properties: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Returns the tags that OpenStreetMap would give; None for what is not drawn."""
    kind = next(
        (properties[key] for key in ("kind", "pmap:kind", "class") if key in properties), ""
    )
    if layer in _WATER:
        return {"natural": "water"}
    if layer in _BORDERS:
        return {}
    if layer in _WAYS and kind in _RAILS:
        return {"railway": kind}
    if layer in _WAYS:
        return {"highway": kind} if kind in _LARGE_ROADS else None
    known = {tag: properties[tag] for tag in TAGS if tag in properties}
    return known or None


def _tiles(box: Bounds, most_zoom: int) -> Iterator[tuple[int, int, int]]:
    """Yields the tiles over a box, at the finest zoom at which they are few."""
    corners = [_in_square(box[0], box[3]), _in_square(box[2], box[1])]
    for zoom in range(most_zoom, -1, -1):
        (west, north), (east, south) = ((int(x * 2**zoom), int(y * 2**zoom)) for x, y in corners)
        if max(east - west, south - north) < _MOST_ACROSS:
            break
    yield from ((zoom, x, y) for x in range(west, east + 1) for y in range(north, south + 1))


def _in_square(lon: float, lat: float) -> tuple[float, float]:
    """Returns a point in Web Mercator's square of side 1."""
    across = lon / 360 + 0.5
    down = 0.5 - math.asinh(math.tan(math.radians(np.clip(lat, -85, 85)))) / math.tau
    return min(max(across, 0.0), 1 - 1e-12), min(max(down, 0.0), 1 - 1e-12)


def _on_earth(
    shape: shapely.Geometry, extent: int, zoom: int, across: int, down: int
) -> shapely.Geometry:
    """Returns a shape of a tile in degrees, without what neighbouring tiles hold too."""
    valid = shape if shape.is_valid else shapely.make_valid(shape)
    inside = shapely.clip_by_rect(valid, 0, 0, extent, extent)

    def degrees(points: FloatArray) -> FloatArray:
        square = (points / extent + (across, down)) / 2**zoom
        lat = np.degrees(np.arctan(np.sinh(math.tau * (0.5 - square[:, 1]))))
        return np.stack([square[:, 0] * 360 - 180, lat], axis=1)

    return shapely.transform(inside, degrees)
