"""Ground under a map: public lines and water, in no more bytes than a page can well carry.

It is an input like the list of places: nothing in it is learnt from rows.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import shapely
from numpy.typing import NDArray

from hushway.errors import damaged

MOST_GROUND_BYTES: Final = 300_000

# From the bottom up. Water has polygons, everything else has lines.
WATER: Final = "water"
KINDS: Final = (WATER, "river", "line", "road", "transit")

# West, south, east and north in degrees.
Bounds = tuple[float, float, float, float]

# About a metre.
_DIGITS = 5
_FINEST = 1e-5
# A screen shows about so many pixels; readers look closer than that at a part only.
_STEPS_ACROSS = 4096
_COARSER = 1.5
# Lines that are shorter than so many steps are specks.
_SHORTEST = 6
# What is kept around the places, as a share of their extent: a page lets readers look so far.
_AROUND = 0.4
_NARROWEST = 0.005


@dataclass(frozen=True, kw_only=True, eq=False)
class Ground:
    """Ground as it is drawn.

    Attributes:
        shapes: A MultiPolygon for water and a MultiLineString for every other kind that there is,
            in WGS84 degrees.
    """

    shapes: Mapping[str, shapely.MultiPolygon | shapely.MultiLineString]

    def to_json(self) -> bytes:
        """Returns GeoJSON: the same bytes for the same ground."""
        features = [
            {
                "type": "Feature",
                "properties": {"kind": kind},
                "geometry": {
                    "type": self.shapes[kind].geom_type,
                    "coordinates": _coordinates(self.shapes[kind]),
                },
            }
            for kind in KINDS
            if kind in self.shapes
        ]
        facts = {"type": "FeatureCollection", "features": features}
        return (json.dumps(facts, separators=(",", ":")) + "\n").encode()

    @classmethod
    def from_json(cls, data: bytes) -> "Ground":
        """Reads what `to_json` wrote.

        Raises:
            ReleaseError: It is anything else.
        """
        try:
            shapes = {
                feature["properties"]["kind"]: shapely.from_geojson(json.dumps(feature["geometry"]))
                for feature in json.loads(data)["features"]
            }
            ground = cls(shapes=shapes)
            same = all(map(_is_drawable, shapes.items())) and ground.to_json() == data
        except (ValueError, TypeError, LookupError, RecursionError, shapely.GEOSException):
            same = False
        if not same or len(data) > MOST_GROUND_BYTES:
            raise damaged("The ground under the map is not as hushway writes it.")
        return ground


def around(bounds: Bounds) -> Bounds:
    """Returns the part of the world that is drawn under places within some bounds."""
    west, south, east, north = bounds
    margin = _AROUND * max(east - west, north - south, _NARROWEST)
    return west - margin, south - margin, east + margin, north + margin


def ground_of(shapes: Mapping[str, Sequence[shapely.Geometry]], box: Bounds) -> Ground:
    """Returns shapes as ground: each line once, and coarser where there is much.

    Args:
        shapes: Polygons of water and lines of other kinds, in WGS84 degrees, within the box.
        box: What is drawn.
    """
    step = max((box[2] - box[0]) / _STEPS_ACROSS, _FINEST)
    joined = {kind: _joined(kind, shapes[kind], step) for kind in KINDS if shapes.get(kind)}
    while True:
        ground = Ground(shapes=dict(_simpler(joined, step)))
        if len(ground.to_json()) <= MOST_GROUND_BYTES:
            return ground
        step *= _COARSER


def _joined(kind: str, shapes: Sequence[shapely.Geometry], step: float) -> NDArray[Any]:
    """Returns the parts of all shapes together, on a grid that is finer than what is drawn."""
    # Vehicles of many lines run on the same rails, and timetables draw each line by itself.
    known = {shapely.to_wkb(shape): shape for shape in shapely.simplify(shapes, step / 2)}
    whole = shapely.union_all([*known.values()], grid_size=step / 2)
    return np.asarray(shapely.get_parts(whole if kind == WATER else shapely.line_merge(whole)))


def _simpler(
    joined: Mapping[str, NDArray[Any]], step: float
) -> Iterator[tuple[str, shapely.Geometry]]:
    """Yields each kind of which something can be seen at a step."""
    for kind, parts in joined.items():
        water = kind == WATER
        size = shapely.area(parts) if water else shapely.length(parts)
        kept = parts[size >= (_SHORTEST * step) ** (2 if water else 1)]
        drawn = shapely.simplify(kept, step)
        rounded = shapely.transform(drawn, lambda points: np.round(points, _DIGITS) + 0.0)
        if len(rounded):
            yield kind, (shapely.multipolygons if water else shapely.multilinestrings)(rounded)


def _coordinates(shape: shapely.Geometry) -> list[Any]:
    if isinstance(shape, shapely.MultiPolygon):
        return [[_points(ring) for ring in (one.exterior, *one.interiors)] for one in shape.geoms]
    return [_points(line) for line in shape.geoms]


def _points(line: shapely.Geometry) -> list[list[float]]:
    points: list[list[float]] = shapely.get_coordinates(line).tolist()
    return points


def _is_drawable(found: tuple[str, Any]) -> bool:
    """Whether a kind has shapes of its own sort, all of them on the earth."""
    kind, shape = found
    sort = shapely.MultiPolygon if kind == WATER else shapely.MultiLineString
    if kind not in KINDS or not isinstance(shape, sort):
        return False
    points = shapely.get_coordinates(shape)
    return bool(len(points)) and bool(np.all(np.abs(points) <= (180.0, 90.0)))
