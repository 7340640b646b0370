"""Layers as one GeoPackage (OGC 12-128), which every program for maps opens.

It is a SQLite database with a few tables of the standard. It is built in memory, where SQLite notes
neither its version nor a time, so the same layers give the same bytes. A verifier builds it again,
and never opens a stranger's.
"""

import itertools
import sqlite3
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
import shapely

from hushway.release.formats.csv import in_short
from hushway.release.formats.geoparquet import GEOMETRY
from hushway.release.formats.layers import Layer

_WGS84: Final = 4326
_WGS84_TEXT: Final = (
    'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],'
    'PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]'
)
# "GP", version 0, little endian without an envelope, and the reference system; then WKB.
_HEADER: Final = b"GP\x00\x01" + _WGS84.to_bytes(4, "little")
# As the file format of SQLite has it: pages of trees begin with their kind, and each kind with a
# header of so many bytes. No other page begins so while a file has less than 2^25 pages.
_PAGE: Final = 4096
_FILE_HEADER: Final = 100
_TREE_PAGES: Final = {2: 12, 5: 12, 10: 8, 13: 8}
_SETTINGS: Final = (
    "application_id = 0x47504B47",
    "user_version = 10300",
    f"page_size = {_PAGE}",
    "secure_delete = ON",
)
_TABLES: Final = """
CREATE TABLE gpkg_spatial_ref_sys (
  srs_name TEXT NOT NULL, srs_id INTEGER NOT NULL PRIMARY KEY, organization TEXT NOT NULL,
  organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT);
CREATE TABLE gpkg_contents (
  table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT UNIQUE,
  description TEXT DEFAULT '', last_change DATETIME NOT NULL, min_x DOUBLE, min_y DOUBLE,
  max_x DOUBLE, max_y DOUBLE, srs_id INTEGER REFERENCES gpkg_spatial_ref_sys(srs_id));
CREATE TABLE gpkg_geometry_columns (
  table_name TEXT NOT NULL UNIQUE REFERENCES gpkg_contents(table_name), column_name TEXT NOT NULL,
  geometry_type_name TEXT NOT NULL, srs_id INTEGER NOT NULL REFERENCES gpkg_spatial_ref_sys(srs_id),
  z TINYINT NOT NULL, m TINYINT NOT NULL, PRIMARY KEY (table_name, column_name));
"""
_SYSTEMS: Final = (
    ("Undefined cartesian", -1, "NONE", -1, "undefined", None),
    ("Undefined geographic", 0, "NONE", 0, "undefined", None),
    ("WGS 84", _WGS84, "EPSG", _WGS84, _WGS84_TEXT, "longitude and latitude in degrees"),
)
_KINDS: Final = {"integer": "INTEGER", "number": "DOUBLE"}


def geopackage(layers: Sequence[Layer], *, day: str) -> bytes:
    """Returns layers as a GeoPackage: the same bytes for the same layers.

    Args:
        layers: Those with shapes become features, the others attributes. Names of layers and
            columns are plain words, each once whatever its case.
        day: The day on which it was published.
    """
    database = sqlite3.connect(":memory:")
    try:
        for setting in _SETTINGS:
            database.execute(f"PRAGMA {setting}")
        database.executescript(_TABLES)
        _insert(database, "gpkg_spatial_ref_sys", 6, _SYSTEMS)
        for layer in layers:
            _add(database, layer, f"{day}T00:00:00.000Z")
        database.commit()
        return _tidied(database.serialize())
    finally:
        database.close()


def _tidied(data: bytes) -> bytes:
    """Returns a database with zeros where its pages hold nothing.

    Versions of SQLite leave different remains there of what they have moved.
    """
    pages = bytearray(data)
    for page in range(0, len(pages), _PAGE):
        at = page or _FILE_HEADER
        if pages[at] in _TREE_PAGES:
            cells, first = struct.unpack_from(">HH", pages, at + 3)
            free = at + _TREE_PAGES[pages[at]] + 2 * cells
            pages[free : page + first] = bytes(page + first - free)
    return bytes(pages)


def _add(database: sqlite3.Connection, layer: Layer, moment: str) -> None:
    bounds = _Bounds()
    database.execute(f"CREATE TABLE {layer.name} ({_declared(layer)})")
    rows = (row for batch in layer.batches() for row in _rows(batch, bounds))
    _insert(database, layer.name, 1 + len(layer.columns.names), rows)
    kind, system = ("attributes", None) if layer.shape is None else ("features", _WGS84)
    facts = (layer.name, kind, layer.name, layer.title, moment, *bounds.box, system)
    _insert(database, "gpkg_contents", len(facts), [facts])
    if layer.shape is not None:
        shapes = (layer.name, GEOMETRY, layer.shape, _WGS84, 0, 0)
        _insert(database, "gpkg_geometry_columns", len(shapes), [shapes])


def _insert(
    database: sqlite3.Connection, table: str, width: int, rows: Iterable[tuple[Any, ...]]
) -> None:
    slots = ", ".join(["?"] * width)
    # Tables are called by hushway alone, and values are no part of the words.
    database.executemany(f"INSERT INTO {table} VALUES ({slots})", rows)  # noqa: S608


class _Bounds:
    """West, south, east and north of the shapes that were added."""

    def __init__(self) -> None:
        self.box: tuple[float | None, ...] = (None,) * 4

    def add(self, shapes: Sequence[bytes]) -> None:
        if not len(shapes):
            return
        west, south, east, north = shapely.total_bounds(shapely.from_wkb(shapes)).tolist()
        old = [float(side) for side in self.box if side is not None] or [west, south, east, north]
        self.box = (
            min(west, old[0]),
            min(south, old[1]),
            max(east, old[2]),
            max(north, old[3]),
        )


def _rows(batch: pa.RecordBatch, bounds: _Bounds) -> Iterator[tuple[Any, ...]]:
    names, values = batch.schema.names, [in_short(one).to_pylist() for one in batch.columns]
    if names[-1] == GEOMETRY:
        bounds.add(values[-1])
        values[-1] = [_HEADER + shape for shape in values[-1]]
    return zip(itertools.repeat(None, len(batch)), *values, strict=True)


def _declared(layer: Layer) -> str:
    kinds = _KINDS | {"any": str(layer.shape)}
    own = (
        f'"{column.name}" {kinds.get(column.described["type"], "TEXT")}'
        for column in layer.columns.columns
    )
    return ", ".join(("fid INTEGER PRIMARY KEY", *own))
