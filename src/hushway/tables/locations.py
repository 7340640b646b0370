"""Reads the public list of locations. Public, so its errors may name ids and lines."""

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from pathlib import Path
from typing import Any, Final

from hushway.errors import GeographyError
from hushway.escaping import some_of
from hushway.geography.locations import Location, Locations, PlaceLabels
from hushway.tables.aliases import with_aliases
from hushway.tables.encodings import encoding_of_public
from hushway.tables.first_lines import open_text, read_header
from hushway.tables.geojson import Feature, damaged_feature, id_text, read_features
from hushway.tables.gtfs_feed import is_feed, stops_file
from hushway.tables.gtfs_stops import COLUMNS, GtfsPlaces, names_of_places, places_of_stops
from hushway.tables.unpacking import public_file

DEFAULT_NAME: Final = "name"
DEFAULT_ZONE: Final = "zone"


@dataclass(frozen=True, kw_only=True)
class LocationColumns:
    """Which column (CSV) or property (GeoJSON) holds what.

    `name` and `zone` may be None. A file without a column called `name` or `zone` is fine; any
    other name was chosen on purpose and must be there, and so must the columns of `labels`, which
    features are made of.
    """

    id: str = "id"
    name: str | None = DEFAULT_NAME
    lon: str = "lon"
    lat: str = "lat"
    zone: str | None = DEFAULT_ZONE
    labels: tuple[str, ...] = ()

    @property
    def demanded_extras(self) -> tuple[str, ...]:
        """The columns of names, zones and labels that must be there."""
        asked = (column for column in (self.name, self.zone) if column is not None)
        chosen = (column for column in asked if column not in {DEFAULT_NAME, DEFAULT_ZONE})
        return (*chosen, *self.labels)


@dataclass(frozen=True, kw_only=True)
class PlaceRecord:
    """One location as written, with its place in the file for messages."""

    where: str
    id: str
    name: str
    lon: float | None
    lat: float | None
    zone: str
    labels: tuple[str, ...]


__all__ = ["LocationColumns", "read_locations"]

_MOST_LON, _MOST_LAT = 180.0, 90.0
_SHOWN = 5


def read_locations(
    path: Path | str,
    columns: LocationColumns | None = None,
    *,
    gtfs_places: GtfsPlaces = "stations",
    aliases: Path | str | None = None,
) -> Locations:
    """Reads locations from CSV, from GeoJSON points or polygons (at their centroids), or from GTFS.

    Args:
        path: A .csv, .csv.gz, .geojson or .json file in UTF-8, or a GTFS feed: its folder, its .zip
            archive or its stops.txt.
        columns: Which column or property holds what; GeoJSON has no need for lon and lat.
        gtfs_places: Whether places of a feed are its stations, by whose stops rows may name them,
            or its stops.
        aliases: A file of further names of places that rows use.

    Raises:
        GeographyError: The file cannot be used; the message says where it is wrong.
    """
    file = Path(path)
    columns = LocationColumns() if columns is None else columns
    records, names = _records(file, columns, gtfs_places)
    if not records:
        raise GeographyError(
            f"The places file {file.name} is empty.",
            advice="Give a file with at least one place.",
        )
    _refuse_nameless(records, file)
    labels = tuple(
        PlaceLabels(column=column, values=tuple(record.labels[i] for record in records))
        for i, column in enumerate(columns.labels)
    )
    found = Locations(tuple(_located(records, file)), labels, names)
    return found if aliases is None else with_aliases(found, Path(aliases))


def _records(
    file: Path, columns: LocationColumns, level: GtfsPlaces
) -> tuple[list[PlaceRecord], tuple[tuple[str, str], ...]]:
    """Returns places, and further names of them, each with the id of its place."""
    if is_feed(file):
        with stops_file(file) as stops, public_file(stops, "places"):
            return _stop_records(stops, columns, level)
    is_csv = file.name.endswith((".csv", ".csv.gz", ".txt"))
    if not is_csv and file.suffix not in {".geojson", ".json"}:
        raise GeographyError(
            f"The places file {file.name} has an unknown format.",
            advice="Give a .csv, .csv.gz, .geojson or .json file, or a GTFS feed: its .zip file, "
            "its folder or its stops.txt.",
        )
    with public_file(file, "places"):
        return (csv_records(file, columns) if is_csv else geojson_records(file, columns)), ()


def _stop_records(
    file: Path, columns: LocationColumns, level: GtfsPlaces
) -> tuple[list[PlaceRecord], tuple[tuple[str, str], ...]]:
    header, rows = _table(file)
    usual = LocationColumns()
    standard: dict[str, Any] = {
        role: name
        for role, name in COLUMNS.items()
        if name in header and getattr(columns, role) == getattr(usual, role)
    }
    columns = replace(columns, **standard)
    _check_header(file, header, columns)
    lines = {id(row): f"line {line}" for line, row in rows}
    stops = places_of_stops([row for _, row in rows], level)
    places = [place for stop, place in stops if stop is place]
    records = [_record(place, columns, lines[id(place)]) for place in places]
    named = [(stop[columns.id], place[columns.id]) for stop, place in stops]
    return records, names_of_places(named)


def _refuse_nameless(records: list[PlaceRecord], file: Path) -> None:
    nameless = [record.where for record in records if not record.id.strip()]
    if nameless:
        raise GeographyError(
            f"Places in {file.name} have no id: {some_of(nameless, _SHOWN)}.",
            advice="Give every place an id.",
        )


def _located(records: list[PlaceRecord], file: Path) -> list[Location]:
    places, nowhere, outside, turned = [], [], [], []
    for record in records:
        if record.lon is None or record.lat is None:
            nowhere.append(repr(record.id))
        elif abs(record.lon) > _MOST_LON or abs(record.lat) > _MOST_LAT:
            outside.append(repr(record.id))
            turned.append(abs(record.lat) <= _MOST_LON and abs(record.lon) <= _MOST_LAT)
        else:
            places.append(
                Location(
                    id=record.id,
                    name=record.name or record.id,
                    lon=record.lon,
                    lat=record.lat,
                    zone=record.zone,
                )
            )
    if nowhere:
        raise GeographyError(
            f"Places in {file.name} have no longitude or latitude: {some_of(nowhere, _SHOWN)}.",
            advice="Give every place a position as two numbers, in decimal degrees.",
        )
    if outside and all(turned):
        raise GeographyError(
            f"Places in {file.name} have a latitude beyond 90 degrees: {some_of(outside, _SHOWN)}. "
            "Longitude and latitude look swapped.",
            advice="Let lon name the column of longitudes and lat that of latitudes; in GeoJSON "
            "the longitude comes first.",
        )
    if outside:
        raise GeographyError(
            f"Places in {file.name} are in the wrong CRS, not in degrees of longitude and "
            f"latitude: {some_of(outside, _SHOWN)}.",
            advice="Convert them to WGS84 (EPSG:4326): lon within ±180, lat within ±90.",
        )
    return places


Ring = Sequence[Sequence[float]]


def centroid(polygons: Sequence[Sequence[Ring]]) -> tuple[float, float]:
    """Returns the centroid of polygons with holes, in the plane of their coordinates.

    Each polygon is an outer ring followed by its holes. The difference between degrees in the plane
    and the sphere does not matter at the size of a zone. A polygon without area is at the mean of
    its corners.

    Raises:
        ValueError: There is no ring, or a ring has no corner.
    """
    parts = []
    for polygon in polygons:
        for hole, ring in enumerate(polygon):
            area, lon, lat = _ring(ring)
            parts.append((-abs(area) if hole else abs(area), lon, lat))
    if not parts:
        raise ValueError
    whole = fsum(area for area, _, _ in parts)
    if whole <= 0:
        corners = [corner for polygon in polygons for corner in polygon[0]]
        return _mean(corners)
    return (
        fsum(area * lon for area, lon, _ in parts) / whole,
        fsum(area * lat for area, _, lat in parts) / whole,
    )


def _ring(ring: Ring) -> tuple[float, float, float]:
    """Returns (signed area, lon, lat) of a ring by the shoelace formula."""
    corners = [(float(corner[0]), float(corner[1])) for corner in ring]
    if not corners:
        raise ValueError
    # Measured from the first corner: far from 0 the products would cancel digits.
    at_lon, at_lat = corners[0]
    local = [(lon - at_lon, lat - at_lat) for lon, lat in corners]
    crosses = [
        (ax * by - bx * ay, ax + bx, ay + by)
        for (ax, ay), (bx, by) in zip(local, [*local[1:], local[0]], strict=True)
    ]
    twice = fsum(cross for cross, _, _ in crosses)
    if twice == 0:
        return 0.0, *_mean(corners)
    return (
        twice / 2,
        at_lon + fsum(cross * lon for cross, lon, _ in crosses) / (3 * twice),
        at_lat + fsum(cross * lat for cross, _, lat in crosses) / (3 * twice),
    )


def _mean(corners: Sequence[Sequence[float]]) -> tuple[float, float]:
    count = len(corners)
    return (
        fsum(float(corner[0]) for corner in corners) / count,
        fsum(float(corner[1]) for corner in corners) / count,
    )


def csv_records(file: Path, columns: LocationColumns) -> list[PlaceRecord]:
    """Returns one record for each row.

    Raises:
        GeographyError: A column is missing, or a row has the wrong number of fields.
        OSError: The file cannot be read.
        UnicodeDecodeError: The file is not UTF-8.
    """
    header, rows = _table(file)
    if not header:
        return []
    _check_header(file, header, columns)
    return [_record(row, columns, f"line {line}") for line, row in rows]


def _table(file: Path) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """Returns the names of the columns, and the number and the fields of each line."""
    encoding = encoding_of_public(file)
    try:
        delimiter, header = read_header(file, encoding)
    except csv.Error:
        raise _damaged(file, 1) from None
    rows = []
    with open_text(file, encoding) as text:
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        try:
            next(reader, None)
            for row in reader:
                if not row:
                    continue
                if len(row) != len(header):
                    raise _damaged(file, reader.line_num)
                rows.append((reader.line_num, dict(zip(header, row, strict=True))))
        except csv.Error:
            raise _damaged(file, reader.line_num) from None
    return header, rows


def _record(values: Mapping[str, str], columns: LocationColumns, where: str) -> PlaceRecord:
    return PlaceRecord(
        where=where,
        id=values[columns.id],
        name=values.get(columns.name or "", ""),
        lon=_number(values[columns.lon]),
        lat=_number(values[columns.lat]),
        zone=values.get(columns.zone or "", ""),
        labels=tuple(values[column] for column in columns.labels),
    )


def _number(text: str) -> float | None:
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _check_header(file: Path, header: list[str], columns: LocationColumns) -> None:
    wanted = (columns.id, columns.lon, columns.lat, *columns.demanded_extras)
    missing = [column for column in wanted if column not in header]
    if missing:
        raise GeographyError(
            f"The places file {file.name} has no column {', '.join(map(repr, missing))}.",
            advice=f"Its columns are: {some_of(header)}.",
        )
    twice = [column for column in wanted if header.count(column) > 1]
    if twice:
        raise GeographyError(
            f"The places file {file.name} has two columns {some_of(map(repr, twice))}.",
            advice="Give every column a name of its own.",
        )


def _damaged(file: Path, line: int) -> GeographyError:
    return GeographyError(
        f"Line {line} of the places file {file.name} does not have the fields of the first "
        "line, or a quote in it is not closed.",
        advice="Write one place per line, and put texts that hold the delimiter in quotes.",
    )


_DEGREES = {"CRS84", "4326"}


def geojson_records(file: Path, columns: LocationColumns) -> list[PlaceRecord]:
    """Returns one record for each feature.

    Raises:
        GeographyError: The file is not a collection of points and polygons in degrees.
        OSError: The file cannot be read.
        UnicodeDecodeError: The file is not UTF-8.
    """
    collection = read_features(file, "locations")
    _check_crs(file, collection.crs)
    return [_record_of_feature(file, feature, columns) for feature in collection.features]


def _record_of_feature(file: Path, feature: Feature, columns: LocationColumns) -> PlaceRecord:
    properties, where = feature.properties, feature.where
    missing = [column for column in columns.demanded_extras if column not in properties]
    if missing:
        raise GeographyError(
            f"The {where} of {file.name} has no property {', '.join(map(repr, missing))}.",
            advice=f"Its properties are: {some_of(properties)}.",
        )
    # The feature's own id is a member beside the properties.
    own = feature.own_id if columns.id == "id" else None
    position = _position(file, feature.geometry, where)
    return PlaceRecord(
        where=where,
        id=id_text(file, properties.get(columns.id, own), where),
        name=id_text(file, properties.get(columns.name or ""), where),
        lon=position[0],
        lat=position[1],
        zone=id_text(file, properties.get(columns.zone or ""), where),
        labels=tuple(id_text(file, properties[column], where) for column in columns.labels),
    )


def _position(file: Path, geometry: Any, where: str) -> tuple[float | None, float | None]:
    if geometry is None:
        return None, None
    try:
        kind, coordinates = geometry["type"], geometry["coordinates"]
        if kind == "Point":
            lon, lat = float(coordinates[0]), float(coordinates[1])
        elif kind == "Polygon":
            lon, lat = centroid([coordinates])
        elif kind == "MultiPolygon":
            lon, lat = centroid(coordinates)
        else:
            raise GeographyError(
                f"The {where} of {file.name} is a {kind}.",
                advice="Places are Points, Polygons or MultiPolygons.",
            )
    except (KeyError, IndexError, TypeError, ValueError, OverflowError):
        raise damaged_feature(file, where) from None
    if not (math.isfinite(lon) and math.isfinite(lat)):
        return None, None
    return lon, lat


def _check_crs(file: Path, name: str | None) -> None:
    """Refuses the `crs` member of old GeoJSON unless it means WGS84 degrees."""
    if name is not None and name.rpartition(":")[2] not in _DEGREES:
        raise GeographyError(
            f"The places file {file.name} is in the wrong CRS: {name or 'one without a name'}.",
            advice="Convert it to WGS84 (EPSG:4326) and leave the crs member out.",
        )
