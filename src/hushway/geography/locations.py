"""The public list of places that trips may start and end at."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from hushway.errors import GeographyError
from hushway.geography.digest import digest_of


@dataclass(frozen=True, kw_only=True)
class Location:
    """One public place: a stop, a station, the centre of a zone."""

    id: str
    name: str
    lon: float
    lat: float
    zone: str


@dataclass(frozen=True)
class Locations:
    """The public list of places, in the order that gives every place its index."""

    places: tuple[Location, ...]

    def __post_init__(self) -> None:
        if not self.places:
            raise GeographyError(
                "The list of locations is empty.",
                advice="Give a file with at least one location.",
            )
        repeated = [key for key, n in Counter(place.id for place in self.places).items() if n > 1]
        if repeated:
            raise GeographyError(
                f"These location ids appear more than once: {', '.join(sorted(repeated)[:5])}.",
                advice="Every location needs an id of its own.",
            )
        for place in self.places:
            _check_position(place)

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Ids in index order."""
        return tuple(place.id for place in self.places)

    @cached_property
    def index(self) -> Mapping[str, int]:
        """The index of every id."""
        return {key: position for position, key in enumerate(self.ids)}

    @cached_property
    def zones(self) -> tuple[str, ...]:
        """The distinct zones, sorted."""
        return tuple(sorted({place.zone for place in self.places}))

    @cached_property
    def digest(self) -> str:
        """A digest of every public fact in the list."""
        rows = [[p.id, p.name, repr(float(p.lon)), repr(float(p.lat)), p.zone] for p in self.places]
        return digest_of({"locations": rows})


def _check_position(place: Location) -> None:
    inside = math.isfinite(place.lon) and math.isfinite(place.lat)
    inside = inside and -180 <= place.lon <= 180 and -90 <= place.lat <= 90  # noqa: PLR2004
    if not inside:
        raise GeographyError(
            f"Location {place.id!r} is not at a longitude and latitude in degrees.",
            advice="Give WGS84 degrees (EPSG:4326): lon within ±180, lat within ±90.",
        )
