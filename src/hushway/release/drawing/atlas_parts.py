"""What atlases of all release types are made of: periods in words, places, simpler courses."""

from collections.abc import Sequence
from datetime import date
from typing import Any, Final

import numpy as np
import shapely
from numpy.typing import NDArray

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.errors import damaged
from hushway.geography.areas import Areas
from hushway.geography.locations import Locations
from hushway.geography.period_words import MONTHS
from hushway.geography.periods import Periods
from hushway.geography.service_day import DAY_MINUTES, WEEKDAYS
from hushway.release.drawing.atlas import AtlasPeriod, AtlasPlaces, Rings

ALL_DAY: Final = "all day"

# More points than a map has pixels are drawn slowly and cannot be seen.
MOST_POINTS = 1 << 20
# The finest and the coarsest grid that points are moved to, in cells across the map.
_FINEST, _COARSEST = 1 << 16, 1 << 4
_NARROWEST = 1e-6


def shown_periods(periods: Periods) -> tuple[AtlasPeriod, ...]:
    """Returns periods as a slider shows them: 08:00 of Mon, or of Mon 2 Mar."""
    parts = [
        part.name if periods.named else _clock(part.clocks[0], part.minutes)
        for part in periods.day_parts
    ]
    groups: Sequence[str | None] = (None,)
    if periods.cycle == "week":
        groups = WEEKDAYS
    elif periods.cycle == "day_type":
        groups = [each.name for each in periods.day_types]
    elif periods.cycle == "window":
        groups = [_day(day) for day in periods.days]
    return tuple(AtlasPeriod(label=part, group=group) for group in groups for part in parts)


def _clock(starts: str, minutes: int) -> str:
    return ALL_DAY if minutes == DAY_MINUTES else starts


def _day(day: date) -> str:
    return f"{WEEKDAYS[day.weekday()]} {day.day} {MONTHS[day.month - 1][:3]}"


def located(locations: Locations) -> AtlasPlaces:
    """Returns public places as points."""
    places = locations.places
    return AtlasPlaces(
        ids=locations.ids,
        names=[place.name for place in places],
        lon=np.array([place.lon for place in places], dtype=np.float64),
        lat=np.array([place.lat for place in places], dtype=np.float64),
    )


def outlined(areas: Areas) -> AtlasPlaces:
    """Returns public areas with their outlines."""
    points = shapely.point_on_surface(areas.shapes)
    return AtlasPlaces(
        ids=areas.ids,
        names=[area.name for area in areas.areas],
        lon=np.asarray(shapely.get_x(points), dtype=np.float64),
        lat=np.asarray(shapely.get_y(points), dtype=np.float64),
        shapes=_rings(areas),
    )


def _rings(areas: Areas) -> Rings:
    parts, place = shapely.get_parts(areas.shapes, return_index=True)
    rings, part = shapely.get_rings(parts, return_index=True)
    positions = shapely.get_coordinates(rings)
    sizes = shapely.get_num_coordinates(rings)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    lon, lat = positions[:, 0], positions[:, 1]
    keep = thinned(lon, lat, starts)
    if keep is not None:
        lon, lat, starts = lon[keep], lat[keep], kept_starts(starts, keep)
    return Rings(lon=lon, lat=lat, starts=starts, place=place[part].astype(np.int64))


def starts_of_periods(period: NDArray[Any], periods: int) -> IntArray:
    """Returns where the rows of each period begin, and where the last one ends."""
    if np.any(np.diff(period) < 0):
        raise damaged("The rows of the release are not in the order of periods.")
    return np.searchsorted(period, np.arange(periods + 1)).astype(np.int64)


def thinned(lon: FloatArray, lat: FloatArray, starts: IntArray) -> BoolArray | None:
    """Marks the points to draw, where there are more than a page can draw; None if all are.

    Points are moved to a grid, and those that stand where the point before them stands are left
    out. Two courses along the same points keep the same ones, so no gap opens between areas. The
    first and the last point of every course stay.

    Args:
        lon: Longitudes of the points of all courses in a row.
        lat: Latitudes likewise.
        starts: Where each course begins; one entry more than courses.
    """
    if len(lon) <= MOST_POINTS:
        return None
    across = max(float(np.ptp(lon)), float(np.ptp(lat)), _NARROWEST)
    cells = _FINEST
    while cells >= _COARSEST:
        keep = _apart(lon, lat, starts, across / cells)
        if np.count_nonzero(keep) <= MOST_POINTS:
            return keep
        cells //= 2
    raise damaged(
        f"The outlines of the release are too many to be drawn: a map has room for {MOST_POINTS:,} "
        "points."
    )


def _apart(lon: FloatArray, lat: FloatArray, starts: IntArray, side: float) -> BoolArray:
    east, north = np.floor(lon / side), np.floor(lat / side)
    keep = np.ones(len(lon), dtype=np.bool_)
    keep[1:] = (np.diff(east) != 0) | (np.diff(north) != 0)
    filled = starts[1:] > starts[:-1]
    keep[starts[:-1][filled]] = True
    keep[starts[1:][filled] - 1] = True
    return keep


def kept_starts(starts: IntArray, keep: BoolArray) -> IntArray:
    """Returns where courses begin once some of their points are left out."""
    before = np.concatenate([[0], np.cumsum(keep)]).astype(np.int64)
    return before[starts]
