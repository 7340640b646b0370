"""What is drawn under a map of an OpenStreetMap extract: water, large roads and rails."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, cast

import shapely

from hushway.errors import GeographyError
from hushway.tables.crs import DEGREES

# What tells the kind of a shape, in files of other formats too.
TAGS: Final = ("natural", "waterway", "railway", "highway")

_DRAWN: Final = (
    *(("highway", kind) for kind in ("motorway", "trunk", "primary", "secondary")),
    *(("railway", kind) for kind in ("rail", "subway", "light_rail", "tram")),
    *(("waterway", kind) for kind in ("river", "canal", "riverbank")),
    *(("natural", kind) for kind in ("coastline", "water")),
)
_WATER: Final = frozenset({"water", "bay", "strait", "riverbank"})


def kind_of(tags: Mapping[str, Any]) -> str:
    """Returns how a shape is drawn, by the tags of OpenStreetMap if it has any."""
    if tags.get("natural") in _WATER or tags.get("waterway") in _WATER:
        return "water"
    for tag, kind in (("waterway", "river"), ("railway", "transit"), ("highway", "road")):
        if tags.get(tag):
            return kind
    return "line"


def osm_shapes(file: Path) -> tuple[list[tuple[Mapping[str, Any], shapely.Geometry]], str]:
    """Returns water, large roads, rails and coasts, and the CRS.

    Raises:
        GeographyError: The file is damaged.
    """
    # Reading anything else does not need this library.
    import osmium

    try:
        found = (
            osmium.FileProcessor(str(file))
            .with_areas(osmium.filter.TagFilter(*_DRAWN))
            .with_filter(osmium.filter.EntityFilter(osmium.osm.WAY | osmium.osm.AREA))
            .with_filter(osmium.filter.TagFilter(*_DRAWN))
        )
        return [
            (tags, shape)
            for each in cast("Iterable[Any]", found)
            if (shape := _shape(each, tags := dict(each.tags))) is not None
        ], DEGREES
    except (RuntimeError, ValueError):
        raise GeographyError(
            f"The ground file {file.name} is damaged, or not an OpenStreetMap extract.",
            advice="Fetch it again, or cut it anew with osmium extract.",
        ) from None


def _shape(each: Any, tags: Mapping[str, str]) -> shapely.Geometry | None:
    """Returns an area of water, or the line of anything else; None for the other form of either."""
    import osmium

    if (kind_of(tags) == "water") != each.is_area():
        return None
    if each.is_area():
        return shapely.from_wkb(osmium.geom.WKBFactory().create_multipolygon(each))
    points = [(node.lon, node.lat) for node in each.nodes if node.location.valid()]
    return shapely.LineString(points) if len(points) > 1 else None
