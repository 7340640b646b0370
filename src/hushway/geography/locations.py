"""The public list of places that trips may start and end at."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from hushway.errors import GeographyError
from hushway.privacy.public_facts import digest_of, public_facts

# What a release calls the facts that every location has.
LOCATION_FACTS: Final = ("id", "name", "lat", "lon", "zone")


@public_facts
@dataclass(frozen=True, kw_only=True)
class Location:
    """One public place: a stop, a station, the centre of a zone."""

    id: str
    name: str
    lon: float
    lat: float
    zone: str


@public_facts
@dataclass(frozen=True, kw_only=True)
class PlaceLabels:
    """A further public column of the places, such as the county of each.

    Attributes:
        column: What it is called.
        values: The label of each place, in index order; "" where there is none.
    """

    column: str
    values: tuple[str, ...]


@public_facts
@dataclass(frozen=True)
class Locations:
    """The public list of places, in the order that gives every place its index.

    Attributes:
        places: The places.
        labels: Further public columns, if features need them.
    """

    places: tuple[Location, ...]
    labels: tuple[PlaceLabels, ...] = ()

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
        _check_labels(self)

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

    def labels_in(self, column: str) -> tuple[str, ...]:
        """Returns the label of every place in a column: "zone", or a further one.

        Raises:
            GeographyError: There is no such column.
        """
        known = {"zone": tuple(place.zone for place in self.places)}
        known |= {labels.column: labels.values for labels in self.labels}
        if column not in known:
            raise GeographyError(
                f"The locations carry no labels {column!r}.",
                advice=f"Read that column with the locations; known are: {', '.join(known)}.",
            )
        return known[column]

    @cached_property
    def digest(self) -> str:
        """A digest of every public fact in the list."""
        rows = [[p.id, p.name, repr(float(p.lon)), repr(float(p.lat)), p.zone] for p in self.places]
        facts: dict[str, object] = {"locations": rows}
        # Releases without further columns are older than these and must keep their digest.
        if self.labels:
            facts["labels"] = [[labels.column, list(labels.values)] for labels in self.labels]
        return digest_of(facts)


def _check_position(place: Location) -> None:
    inside = math.isfinite(place.lon) and math.isfinite(place.lat)
    inside = inside and -180 <= place.lon <= 180 and -90 <= place.lat <= 90  # noqa: PLR2004
    if not inside:
        raise GeographyError(
            f"Location {place.id!r} is not at a longitude and latitude in degrees.",
            advice="Give WGS84 degrees (EPSG:4326): lon within ±180, lat within ±90.",
        )


def _check_labels(locations: Locations) -> None:
    columns = [labels.column for labels in locations.labels]
    # A release writes them beside the facts, under their own names.
    taken = sorted(column for column in columns if column in LOCATION_FACTS or not column)
    if taken:
        raise GeographyError(
            f"A column of labels cannot be called {taken[0]!r}.",
            advice=f"Rename it: {', '.join(LOCATION_FACTS)} mean something else.",
        )
    if len(set(columns)) != len(columns):
        raise GeographyError(
            "Two columns of labels of the locations have the same name.",
            advice="Give every column a name of its own.",
        )
    uneven = [each.column for each in locations.labels if len(each.values) != len(locations)]
    if uneven:
        raise GeographyError(
            f"The labels {uneven[0]!r} are not one for each location.",
            advice="Give one label for every location, in their order.",
        )
