"""One location as a file gives it, before anybody has checked it."""

from dataclasses import dataclass
from typing import Final

DEFAULT_NAME: Final = "name"
DEFAULT_ZONE: Final = "zone"


@dataclass(frozen=True, kw_only=True)
class LocationColumns:
    """Which column (CSV) or property (GeoJSON) holds what.

    `name` and `zone` may be None. A file without a column called `name` or `zone` is fine; any
    other name was chosen on purpose and must be there, and so must the columns of `labels`, which
    features are made of.
    """

    id: str = "id"
    name: str | None = DEFAULT_NAME
    lon: str = "lon"
    lat: str = "lat"
    zone: str | None = DEFAULT_ZONE
    labels: tuple[str, ...] = ()

    @property
    def demanded_extras(self) -> tuple[str, ...]:
        """The columns of names, zones and labels that must be there."""
        asked = (column for column in (self.name, self.zone) if column is not None)
        chosen = (column for column in asked if column not in {DEFAULT_NAME, DEFAULT_ZONE})
        return (*chosen, *self.labels)


@dataclass(frozen=True, kw_only=True)
class PlaceRecord:
    """One location as written, with its place in the file for messages."""

    where: str
    id: str
    name: str
    lon: float | None
    lat: float | None
    zone: str
    labels: tuple[str, ...]
