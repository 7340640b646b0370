"""Reads public files that are drawn under a map.

Public, so errors may name them and what is in them.
"""

import json
import sqlite3
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np
import shapely

from hushway.errors import GeographyError
from hushway.geography.ground import WATER, Bounds, Ground, around, ground_of
from hushway.tables.areas_shapefile import shapefile_shapes
from hushway.tables.crs import DEGREES, known_crs, to_degrees
from hushway.tables.geojson import damaged_feature, read_features
from hushway.tables.ground_networks import SHAPES, gmns_lines, gtfs_lines
from hushway.tables.ground_osm import TAGS, kind_of, osm_shapes
from hushway.tables.ground_tiles import tile_shapes
from hushway.tables.unpacking import public_file

# What a file draws, each with its tags, and the CRS; None if the file does not say.
Drawn = tuple[Sequence[tuple[Mapping[str, Any], shapely.Geometry]], Any]

_FORMATS = (
    "GeoJSON, a GeoPackage, a shapefile (.shp or .zip), an OpenStreetMap extract (.osm.pbf or "
    ".osm), vector tiles (.pmtiles), a GTFS feed with shapes.txt, or a folder with link.csv and "
    "node.csv (GMNS)"
)


def read_ground(files: Iterable[Path], bounds: Bounds) -> Ground:
    """Returns what public files draw under places within some bounds.

    Raises:
        GeographyError: A file cannot be used, or has nothing where the places are; the message says
            why, and what to do.
    """
    box = around(bounds)
    shapes: dict[str, list[shapely.Geometry]] = {}
    for file in files:
        for kind, shape in _within(file, box):
            shapes.setdefault(kind, []).append(shape)
    return ground_of(shapes, box)


def _within(file: Path, box: Bounds) -> Iterator[tuple[str, shapely.Geometry]]:
    with public_file(file, "ground"), np.errstate(invalid="ignore"):
        drawn, crs = _reader(file, box)(file)
    if crs is None:
        raise GeographyError(
            f"The ground file {file.name} does not say in which CRS its coordinates are.",
            advice="Add the .prj part of the shapefile, or give it as GeoJSON in degrees.",
        )
    noun = f"the ground file {file.name}"
    tags, shapes = [tag for tag, _ in drawn], np.empty(len(drawn), dtype=object)
    shapes[:] = [shape for _, shape in drawn]
    degrees = to_degrees(shapes, known_crs(crs, noun), noun) if len(shapes) else shapes
    found = [*_clipped(tags, degrees, box)]
    if not found:
        raise GeographyError(
            f"The ground file {file.name} has no line and no polygon near the places of the "
            "release.",
            advice="Check that it is of the same city, and that its CRS is the one it says.",
        )
    yield from found


def _clipped(
    tags: Sequence[Mapping[str, Any]], shapes: Any, box: Bounds
) -> Iterator[tuple[str, shapely.Geometry]]:
    """Yields lines and polygons within a box; of polygons that are no water, the borders."""
    near = shapely.intersects(shapes, shapely.box(*box))
    for at in np.flatnonzero(near).tolist():
        kind, shape = kind_of(tags[at]), shapes[at]
        area = shapely.get_dimensions(shape) == 2  # noqa: PLR2004  points have 0, lines 1
        if area and kind != WATER:
            kind, shape = "line", shapely.boundary(shape)
        elif kind == WATER and not area:
            kind = "river"
        water = kind == WATER
        inside = shapely.clip_by_rect(shapely.make_valid(shape) if water else shape, *box)
        size = 2 if water else 1
        parts = shapely.get_parts(shapely.get_parts(inside))
        yield from ((kind, part) for part in parts if shapely.get_dimensions(part) == size)


def _reader(file: Path, box: Bounds) -> Callable[[Path], Drawn]:
    name = file.name.lower()
    if not file.exists():
        raise FileNotFoundError(file.name)
    if file.is_dir():
        return gmns_lines if (file / "link.csv").exists() else gtfs_lines
    if name.endswith(".zip"):
        try:
            with ZipFile(file) as archive:
                names = set(archive.namelist())
        except BadZipFile:
            raise _unknown(file) from None
        return gtfs_lines if {SHAPES, "stops.txt"} & names else _shapefile
    if name.endswith(".pmtiles"):
        return partial(tile_shapes, box=box)
    for endings, reader in _READERS.items():
        if name.endswith(endings):
            return reader
    raise _unknown(file)


def _unknown(file: Path) -> GeographyError:
    return GeographyError(
        f"The ground file {file.name} has an unknown format, or is damaged.",
        advice=f"Give {_FORMATS}.",
    )


def _geojson(file: Path) -> Drawn:
    collection = read_features(file, "ground")
    drawn = []
    for feature in collection.features:
        try:
            shape = shapely.from_geojson(json.dumps(feature.geometry))
        except (shapely.GEOSException, ValueError, TypeError, RecursionError):
            raise damaged_feature(file, feature.where) from None
        if shape is not None:
            drawn.append((feature.properties, shape))
    return drawn, DEGREES if collection.crs is None else collection.crs


def _shapefile(file: Path) -> Drawn:
    return shapefile_shapes(file)


# Bytes of the envelope in front of a geometry, by the number that the flags give it.
_ENVELOPES = (0, 32, 48, 48, 64)
_GEOPACKAGE_HEAD = struct.Struct("<2sBBi")


def _geopackage(file: Path) -> Drawn:
    """Returns what all layers of a GeoPackage draw; they must be in one CRS."""
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as opened:
            layers = opened.execute(
                "SELECT table_name, column_name, organization, organization_coordsys_id "
                "FROM gpkg_geometry_columns JOIN gpkg_spatial_ref_sys USING (srs_id)"
            ).fetchall()
            drawn = [one for table, column, *_ in layers for one in _layer(opened, table, column)]
    except (sqlite3.Error, struct.error, shapely.GEOSException, IndexError, TypeError):
        raise _unknown(file) from None
    systems = {f"{organization}:{number}" for *_, organization, number in layers}
    if len(systems) > 1:
        raise GeographyError(
            f"The layers of the ground file {file.name} are in several CRS.",
            advice="Give a GeoPackage whose layers share one.",
        )
    return drawn, systems.pop() if systems else DEGREES


def _layer(
    opened: sqlite3.Connection, table: str, column: str
) -> Iterator[tuple[Mapping[str, Any], shapely.Geometry]]:
    quoted = [f'"{name.replace(chr(34), chr(34) * 2)}"' for name in (table, column)]
    found = [row[1] for row in opened.execute(f"PRAGMA table_info({quoted[0]})")]
    tags = [tag for tag in TAGS if tag in found]
    wanted = ", ".join([quoted[1], *tags])
    # Names of a public file, quoted; the tags are ours.
    for blob, *values in opened.execute(f"SELECT {wanted} FROM {quoted[0]}"):  # noqa: S608
        if blob is not None:
            _, _, flags, _ = _GEOPACKAGE_HEAD.unpack_from(blob)
            begins = _GEOPACKAGE_HEAD.size + _ENVELOPES[flags >> 1 & 7]
            yield dict(zip(tags, values, strict=True)), shapely.from_wkb(blob[begins:])


_READERS: Mapping[tuple[str, ...], Callable[[Path], Drawn]] = {
    (".geojson", ".json", ".geojson.gz", ".json.gz"): _geojson,
    (".gpkg",): _geopackage,
    (".shp",): _shapefile,
    (".pbf", ".osm", ".osm.gz", ".osm.bz2"): osm_shapes,
}
