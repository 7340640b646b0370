"""Areas from GeoJSON."""

import json
from pathlib import Path
from typing import Any

import shapely

from hushway.families.density.public.areas_record import (
    AreaColumns,
    AreaRecord,
    AreaRecords,
    check_columns,
    id_text,
)
from hushway.tables.geojson import Feature, damaged_feature, read_features

# What coordinates mean in GeoJSON that does not say: RFC 7946.
_DEGREES = "OGC:CRS84"


def geojson_areas(file: Path, columns: AreaColumns) -> AreaRecords:
    """Returns one record for each feature.

    Raises:
        GeographyError: The file is not a collection of features, or lacks a property.
        OSError: The file cannot be read.
        EOFError: The file is cut off.
        UnicodeDecodeError: The file is not UTF-8.
    """
    collection = read_features(file, "areas")
    features = collection.features
    if features:
        found = dict.fromkeys(key for feature in features for key in feature.properties)
        # The feature's own id is a member beside the properties.
        own = (
            [columns.id]
            if any(_own_id(feature, columns) is not None for feature in features)
            else []
        )
        check_columns(file, [*found, *own], columns)
    return AreaRecords(
        records=tuple(
            AreaRecord(
                where=feature.where,
                id=id_text(file, _id(feature, columns), feature.where),
                name=id_text(file, feature.properties.get(columns.name or ""), feature.where),
                shape=_shape(file, feature),
            )
            for feature in features
        ),
        crs=_DEGREES if collection.crs is None else collection.crs,
    )


def _id(feature: Feature, columns: AreaColumns) -> Any:
    return feature.properties.get(columns.id, _own_id(feature, columns))


def _own_id(feature: Feature, columns: AreaColumns) -> Any:
    return feature.own_id if columns.id == "id" else None


def _shape(file: Path, feature: Feature) -> shapely.Geometry | None:
    if feature.geometry is None:
        return None
    try:
        return shapely.from_geojson(json.dumps(feature.geometry))
    except (shapely.errors.GEOSException, ValueError, TypeError, RecursionError):
        raise damaged_feature(file, feature.where) from None
