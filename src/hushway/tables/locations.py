"""Reads the public list of locations. Public, so its errors may name ids and lines."""

import zlib
from pathlib import Path

from hushway.errors import GeographyError
from hushway.geography.locations import Location, Locations, PlaceLabels
from hushway.tables.locations_csv import csv_records
from hushway.tables.locations_geojson import geojson_records
from hushway.tables.place_record import LocationColumns, PlaceRecord
from hushway.tables.unpacking import refuse_unfit

__all__ = ["LocationColumns", "read_locations"]

_MOST_LON, _MOST_LAT = 180.0, 90.0
_SHOWN = 5


def read_locations(path: Path | str, columns: LocationColumns | None = None) -> Locations:
    """Reads locations from CSV, or from GeoJSON points or polygons (at their centroids).

    Args:
        path: A .csv, .csv.gz, .geojson or .json file in UTF-8.
        columns: Which column or property holds what; GeoJSON has no need for lon and lat.

    Raises:
        GeographyError: The file cannot be used; the message says where it is wrong.
    """
    file = Path(path)
    columns = LocationColumns() if columns is None else columns
    records = _records(file, columns)
    if not records:
        raise GeographyError(
            f"The locations file {file.name} is empty.",
            advice="Give a file with at least one location.",
        )
    _refuse_nameless(records, file)
    labels = tuple(
        PlaceLabels(column=column, values=tuple(record.labels[i] for record in records))
        for i, column in enumerate(columns.labels)
    )
    return Locations(tuple(_located(records, file)), labels)


def _records(file: Path, columns: LocationColumns) -> list[PlaceRecord]:
    is_csv = file.name.endswith((".csv", ".csv.gz"))
    if not is_csv and file.suffix not in {".geojson", ".json"}:
        raise GeographyError(
            f"The locations file {file.name} has an unknown format.",
            advice="Give a .csv, .csv.gz, .geojson or .json file.",
        )
    refuse_unfit(file)
    try:
        return csv_records(file, columns) if is_csv else geojson_records(file, columns)
    except FileNotFoundError:
        raise GeographyError(
            f"There is no locations file {file.name}.", advice="Check its path."
        ) from None
    except UnicodeDecodeError:
        raise GeographyError(
            f"The locations file {file.name} is not UTF-8.", advice="Save it as UTF-8."
        ) from None
    except (OSError, EOFError, zlib.error):
        raise GeographyError(
            f"The locations file {file.name} cannot be read.",
            advice="Check that it is a file, that it is whole and that you may read it.",
        ) from None


def _refuse_nameless(records: list[PlaceRecord], file: Path) -> None:
    nameless = [record.where for record in records if not record.id.strip()]
    if nameless:
        raise GeographyError(
            f"Locations in {file.name} have no id: {_some(nameless)}.",
            advice="Give every location an id.",
        )


def _located(records: list[PlaceRecord], file: Path) -> list[Location]:
    places, nowhere, outside = [], [], []
    for record in records:
        if record.lon is None or record.lat is None:
            nowhere.append(repr(record.id))
        elif abs(record.lon) > _MOST_LON or abs(record.lat) > _MOST_LAT:
            outside.append(repr(record.id))
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
            f"Locations in {file.name} have no longitude or latitude: {_some(nowhere)}.",
            advice="Give every location a position as two numbers, in decimal degrees.",
        )
    if outside:
        raise GeographyError(
            f"Locations in {file.name} are in the wrong CRS, not in degrees of longitude and "
            f"latitude: {_some(outside)}.",
            advice="Convert them to WGS84 (EPSG:4326): lon within ±180, lat within ±90.",
        )
    return places


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"
