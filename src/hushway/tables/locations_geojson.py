"""Locations from GeoJSON: points, or polygons at their centroids."""

import math
from pathlib import Path
from typing import Any

from hushway.errors import GeographyError
from hushway.tables.centroid import centroid
from hushway.tables.geojson import Feature, damaged_feature, read_features
from hushway.tables.place_record import LocationColumns, PlaceRecord

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
    return [_record(file, feature, columns) for feature in collection.features]


def _record(file: Path, feature: Feature, columns: LocationColumns) -> PlaceRecord:
    properties, where = feature.properties, feature.where
    missing = [column for column in columns.demanded_extras if column not in properties]
    if missing:
        raise GeographyError(
            f"The {where} of {file.name} has no property {', '.join(map(repr, missing))}.",
            advice=f"Its properties are: {', '.join(properties)}.",
        )
    # The feature's own id is a member beside the properties.
    own = feature.own_id if columns.id == "id" else None
    position = _position(file, feature.geometry, where)
    return PlaceRecord(
        where=where,
        id=_text(file, properties.get(columns.id, own), where),
        name=_text(file, properties.get(columns.name or ""), where),
        lon=position[0],
        lat=position[1],
        zone=_text(file, properties.get(columns.zone or ""), where),
        labels=tuple(_text(file, properties[column], where) for column in columns.labels),
    )


def _text(file: Path, value: Any, where: str) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise GeographyError(
        f"The {where} of {file.name} has an id, name, zone or label that is neither text nor a "
        "whole number.",
        advice='Write 7 or "7", not 7.0: ids are compared as text, and the trips would not match.',
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
                advice="Locations are Points, Polygons or MultiPolygons.",
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
            f"The locations file {file.name} is in the wrong CRS: {name or 'one without a name'}.",
            advice="Convert it to WGS84 (EPSG:4326) and leave the crs member out.",
        )
