"""Public areas: those of a density, or the places that trips go between; a local map in metres."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.polygon import orient

from hushway.arrays import FloatArray
from hushway.errors import GeographyError
from hushway.geography.locations import Location, Locations, PlaceLabels
from hushway.privacy.public_facts import digest_of, public_facts, public_facts_with


@public_facts
@dataclass(frozen=True, kw_only=True)
class Plane:
    """Lambert's equal-area map around a point: true sizes everywhere, true distances near it.

    Attributes:
        lon: Longitude of the point, WGS84 degrees.
        lat: Latitude of the point, WGS84 degrees.
    """

    lon: float
    lat: float

    def to_metres(self, lon: FloatArray, lat: FloatArray) -> FloatArray:
        """Returns positions (x, y) in metres, one row each."""
        return np.column_stack(_transformer(self.lon, self.lat).transform(lon, lat))

    def project(self, shapes: NDArray[Any]) -> NDArray[Any]:
        """Returns shapes given in degrees as shapes in metres."""
        return np.asarray(shapely.transform(shapes, lambda xy: self.to_metres(xy[:, 0], xy[:, 1])))


@cache
def _transformer(lon: float, lat: float) -> Any:
    # It takes a fifth of a second to load, and most commands never project.
    from pyproj import CRS, Transformer

    local = CRS.from_dict(
        {"proj": "laea", "lon_0": lon, "lat_0": lat, "datum": "WGS84", "units": "m"}
    )
    return Transformer.from_crs("EPSG:4326", local, always_xy=True)


@public_facts_with(shapely.Polygon, shapely.MultiPolygon)
@dataclass(frozen=True, kw_only=True, eq=False)
class Area:
    """One public area.

    Attributes:
        id: What rows and releases call it.
        shape: A polygon or several, in WGS84 degrees (longitude, latitude). Outer rings run
            against the clock and inner ones with it, as GeoJSON wants them, whoever drew them.
    """

    id: str
    name: str
    shape: shapely.Polygon | shapely.MultiPolygon

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", _by_the_right_hand(self.shape))


def _by_the_right_hand(
    shape: shapely.Polygon | shapely.MultiPolygon,
) -> shapely.Polygon | shapely.MultiPolygon:
    if isinstance(shape, shapely.MultiPolygon):
        return shapely.MultiPolygon([orient(polygon) for polygon in shape.geoms])
    return orient(shape)


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class Areas:
    """The public list of areas, in the order that gives every area its index.

    Attributes:
        areas: The areas; valid shapes with a size, which share borders but no ground.
    """

    areas: tuple[Area, ...]

    def __post_init__(self) -> None:
        if not self.areas:
            raise GeographyError(
                "The list of areas is empty.", advice="Give a file with at least one polygon."
            )
        repeated = [key for key, n in Counter(area.id for area in self.areas).items() if n > 1]
        if repeated:
            raise GeographyError(
                f"These area ids appear more than once: {', '.join(sorted(repeated)[:5])}.",
                advice="Every area needs an id of its own; merge the polygons of one area.",
            )

    def __len__(self) -> int:
        return len(self.areas)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Ids in index order."""
        return tuple(area.id for area in self.areas)

    @cached_property
    def index(self) -> Mapping[str, int]:
        """The index of every id."""
        return {key: position for position, key in enumerate(self.ids)}

    @cached_property
    def shapes(self) -> NDArray[Any]:
        """The shapes in degrees, in index order."""
        return np.array([area.shape for area in self.areas], dtype=object)

    @cached_property
    def bounds(self) -> tuple[float, float, float, float]:
        """West, south, east and north of all areas."""
        west, south, east, north = shapely.total_bounds(self.shapes).tolist()
        return west, south, east, north

    @cached_property
    def plane(self) -> Plane:
        """A map in metres around the middle of all areas."""
        west, south, east, north = self.bounds
        return Plane(lon=(west + east) / 2, lat=(south + north) / 2)

    @cached_property
    def projected(self) -> NDArray[Any]:
        """The shapes in metres."""
        return self.plane.project(self.shapes)

    @cached_property
    def sizes(self) -> FloatArray:
        """Sizes in square metres."""
        return np.asarray(shapely.area(self.projected), dtype=np.float64)

    @cached_property
    def centres(self) -> FloatArray:
        """Centres (x, y) in metres, one row for each area."""
        points = shapely.centroid(self.projected)
        return np.column_stack([shapely.get_x(points), shapely.get_y(points)])

    @cached_property
    def digest(self) -> str:
        """A digest of every public fact in the list."""
        rows = [
            [area.id, area.name, sha256(shapely.to_wkb(area.shape, byte_order=1)).hexdigest()]
            for area in self.areas
        ]
        return digest_of({"areas": rows})


SHAPE = "shape_sha256"


def places_of_areas(areas: Areas) -> Locations:
    """Returns one place for each area, at a point inside of it.

    The digest of every shape is a label of its place: a release says exactly which areas its trips
    were counted in, and is another one if a border moves.
    """
    points = shapely.point_on_surface(areas.shapes)
    return Locations(
        tuple(
            Location(id=area.id, name=area.name, lon=float(point.x), lat=float(point.y), zone="")
            for area, point in zip(areas.areas, points, strict=True)
        ),
        (
            PlaceLabels(
                column=SHAPE,
                values=tuple(
                    sha256(shapely.to_wkb(area.shape, byte_order=1)).hexdigest()
                    for area in areas.areas
                ),
            ),
        ),
        shapes=tuple(areas.shapes),
    )


def areas_of_places(places: Locations) -> Areas:
    """Returns the areas that places are: the inverse of `places_of_areas`."""
    named = zip(places.places, places.shapes, strict=True)
    return Areas(areas=tuple(Area(id=at.id, name=at.name, shape=shape) for at, shape in named))


def are_areas(places: Locations) -> bool:
    """Whether places are areas, as one of their labels says."""
    return any(labels.column == SHAPE for labels in places.labels)
