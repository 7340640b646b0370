"""Public areas as GeoJSON that can be read back exactly.

Positions are written with as many digits as they have, so that the digest of the areas can be
computed again from the file.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import shapely

from hushway.errors import damaged
from hushway.geography.areas import Area, Areas, places_of_areas
from hushway.geography.locations import Locations
from hushway.privacy.certificate import parsed_json
from hushway.release.untrusted.limits import GEOMETRY_BYTES, refuse_large

AREAS: Final = "areas.geojson"

_BEGIN, _BETWEEN, _END = '{"type":"FeatureCollection","features":[\n', ",\n", "\n]}\n"


def areas_geojson(areas: Areas) -> bytes:
    """Returns the public areas as GeoJSON, one line an area, in index order."""
    return (_BEGIN + _BETWEEN.join(map(_feature, areas.areas)) + _END).encode()


def read_areas(data: bytes) -> Areas:
    """Reads the public areas back."""
    refuse_large("areas.geojson", len(data), GEOMETRY_BYTES)
    areas = Areas(
        areas=tuple(
            Area(
                id=feature["properties"]["id"],
                name=feature["properties"]["name"],
                shape=_shape(feature["geometry"]),
            )
            for feature in parsed_json(data)["features"]
        )
    )
    if areas_geojson(areas) != data:
        raise damaged("areas.geojson is not as hushway writes it, or is larger than it may be.")
    return areas


def with_shapes(places: Locations, data: bytes) -> Locations:
    """Returns public places that are areas with their shapes, which have the stated digests."""
    again = places_of_areas(read_areas(data))
    if (again.ids, again.labels) != (places.ids, places.labels):
        raise damaged(f"{AREAS} does not hold the areas of the places.")
    return replace(places, shapes=again.shapes)


def _feature(area: Area) -> str:
    shape = area.shape
    several = isinstance(shape, shapely.MultiPolygon)
    polygons = [_rings(polygon) for polygon in shapely.get_parts(shape)]
    facts = {
        "type": "Feature",
        "properties": {"id": area.id, "name": area.name},
        "geometry": {
            "type": "MultiPolygon" if several else "Polygon",
            "coordinates": polygons if several else polygons[0],
        },
    }
    return json.dumps(facts, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _rings(polygon: shapely.Polygon) -> list[Any]:
    return [
        shapely.get_coordinates(ring, include_z=bool(ring.has_z)).tolist()
        for ring in (polygon.exterior, *polygon.interiors)
    ]


def _shape(geometry: dict[str, Any]) -> shapely.Polygon | shapely.MultiPolygon:
    if geometry["type"] == "Polygon":
        return _polygon(geometry["coordinates"])
    return shapely.MultiPolygon([_polygon(rings) for rings in geometry["coordinates"]])


def _polygon(rings: Sequence[Any]) -> shapely.Polygon:
    return shapely.Polygon(rings[0], rings[1:])
