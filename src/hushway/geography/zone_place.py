"""Where on Earth a time zone is: enough to tell longitudes from latitudes."""

import math
from functools import cache
from importlib.resources import files

# Radians: 1,700 km. A city may be as far from the one that its zone is named for, and still nearer
# to it with its numbers swapped.
_FAR = math.radians(15)


@cache
def place_of_zone(zone: str) -> tuple[float, float] | None:
    """Returns longitude and latitude of the city that a zone is named for; None if of no city."""
    listed = (files("tzdata") / "zoneinfo" / "zone.tab").read_text("utf-8").splitlines()
    for line in listed:
        if line.startswith("#"):
            continue
        _, position, name, *_ = line.split("\t")
        if name == zone:
            middle = max(position.rfind("+"), position.rfind("-"))
            return _degrees(position[middle:], whole=3), _degrees(position[:middle], whole=2)
    return None


def _degrees(text: str, *, whole: int) -> float:
    """Reads degrees, minutes and perhaps seconds with a sign, such as "+3845" or "-00908"."""
    sign, digits = (-1 if text[0] == "-" else 1), text[1:]
    parts = (digits[:whole], digits[whole : whole + 2], digits[whole + 2 :] or "0")
    degrees, minutes, seconds = (int(part) for part in parts)
    return sign * (degrees + minutes / 60 + seconds / 3600)


def looks_swapped(lon: float, lat: float, zone: str) -> bool:
    """Says whether a position is far from its time zone, and closer with its numbers swapped.

    Where longitude and latitude are nearly the same, as in Cairo, nobody can tell.

    Args:
        lon: What is said to be the longitude.
        lat: What is said to be the latitude.
        zone: The time zone of the place.
    """
    city = place_of_zone(zone)
    if city is None or abs(lon) > 90:  # noqa: PLR2004  no latitude is larger
        return False
    away = _apart((lon, lat), city)
    return away > _FAR and _apart((lat, lon), city) < away


def _apart(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Returns the angle between two positions, seen from the middle of the Earth."""
    (lon, lat), (lon_b, lat_b) = (map(math.radians, position) for position in (one, other))
    half = (
        math.sin((lat - lat_b) / 2) ** 2
        + math.cos(lat) * math.cos(lat_b) * math.sin((lon - lon_b) / 2) ** 2
    )
    return 2 * math.asin(math.sqrt(min(1.0, half)))
