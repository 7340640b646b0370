"""Areas as the places that trips go between. Apart from the cells, for plans load no geometry."""

from hashlib import sha256

import shapely

from hushway.geography.areas import Areas
from hushway.geography.locations import Location, Locations, PlaceLabels

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
    )
