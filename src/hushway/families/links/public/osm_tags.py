"""What the tags of a way in OpenStreetMap say about driving on it."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from hushway.families.links.public.classes import HIGHWAYS, Kind
from hushway.families.links.public.words import directions_of, lanes_of, per_direction, speed_of

# The most specific word about cars decides.
_ACCESS: Final = ("motorcar", "motor_vehicle", "vehicle", "access")
_BARRED: Final = frozenset({"no", "agricultural", "forestry", "agricultural;forestry"})
_ROUND: Final = frozenset({"roundabout", "circular"})

# A city has a handful of limits on tens of thousands of ways.
_speed = lru_cache(maxsize=1024)(speed_of)
_count = lru_cache(maxsize=1024)(lanes_of)


@dataclass(frozen=True, kw_only=True, slots=True)
class OSMWay:
    """A way that cars may use.

    Attributes:
        id: Its number.
        kind: What is assumed about its kind of road.
        directions: Whether it may be driven along, and back.
        speed: Speed in km/h along and back; NaN if not said.
        lanes: Lanes along and back; NaN if not said.
        name: Its name, or "".
    """

    id: int
    kind: Kind
    directions: tuple[bool, bool]
    speed: tuple[float, float]
    lanes: tuple[float, float]
    name: str


def way_of(number: int, tags: Any) -> OSMWay | None:
    """Returns what the tags of a way say; None if it is not for cars.

    Args:
        number: The id of the way.
        tags: Its tags, with `get`; `highway` is one of the known kinds.
    """
    highway = tags.get("highway")
    access = next((tags.get(key) for key in _ACCESS if tags.get(key) is not None), "yes")
    if access in _BARRED or tags.get("area") == "yes":
        return None
    implied = highway == "motorway" or tags.get("junction") in _ROUND
    directions = directions_of(tags.get("oneway"), (True, not implied))
    return OSMWay(
        id=number,
        kind=HIGHWAYS[highway],
        directions=directions,
        speed=_speeds(tags),
        lanes=_lanes(tags, directions),
        name=tags.get("name") or tags.get("ref") or "",
    )


def _speeds(tags: Any) -> tuple[float, float]:
    both = _speed(tags.get("maxspeed"))
    along, back = _speed(tags.get("maxspeed:forward")), _speed(tags.get("maxspeed:backward"))
    return (both if math.isnan(along) else along, both if math.isnan(back) else back)


def _lanes(tags: Any, directions: tuple[bool, bool]) -> tuple[float, float]:
    share = per_direction(_count(tags.get("lanes")), directions)
    along, back = _count(tags.get("lanes:forward")), _count(tags.get("lanes:backward"))
    return (share if math.isnan(along) else along, share if math.isnan(back) else back)
