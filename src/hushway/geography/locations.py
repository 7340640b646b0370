"""The public list of places that trips may start and end at, and public labels of anything."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np

from hushway.arrays import Int32Array
from hushway.errors import GeographyError
from hushway.privacy.public_facts import digest_of, public_facts

# What a release calls the facts that every location has.
LOCATION_FACTS: Final = ("id", "name", "lat", "lon", "zone")

# The place of everybody of whom nobody knows where they got on or off.
NOT_KNOWN: Final = "not known"


def transfer_at(place: str) -> str:
    """Returns what a place is called where people change from one ride to the next."""
    return f"transfer at {place}"


def line_at(line: str, place: str) -> str:
    """Returns what a place is called where people get on or off a line."""
    return f"line {line} at {place}"


def journey_at(place: str) -> str:
    """Returns what a place is called where journeys of several rides begin or end as a whole."""
    return f"journey at {place}"


# Labels of places of taps: which place each is at, for which line, and what begins and ends there.
TAP_LABELS: Final = ("place", "line", "kind")
RIDE: Final = "ride"
TRANSFER: Final = "transfer"
JOURNEY: Final = "journey"


# The label of a place that stands for several: the ids of these, as JSON.
MEMBERS: Final = "member_ids"


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
        values: The label of each place, in index order; "" where there is none.
    """

    column: str
    values: tuple[str, ...]


@public_facts
@dataclass(frozen=True)
class Locations:
    """The public list of places, in the order that gives every place its index.

    Attributes:
        labels: Further public columns, if features need them.
        aliases: Further names by which rows call places, each with the id of its place. A release
            does not tell them: some may have been found in rows.
        shapes: The shapes of places that are areas, of which a label has the digests.
    """

    places: tuple[Location, ...]
    labels: tuple[PlaceLabels, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
    shapes: tuple[Any, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.places:
            raise GeographyError(
                "The list of places is empty.",
                advice="Give a file with at least one place.",
            )
        repeated = [key for key, n in Counter(place.id for place in self.places).items() if n > 1]
        if repeated:
            raise GeographyError(
                f"These place ids appear more than once: {', '.join(sorted(repeated)[:5])}.",
                advice="Every place needs an id of its own.",
            )
        for place in self.places:
            _check_position(place)
        _check_labels(self)

    def __len__(self) -> int:
        return len(self.places)

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """West, south, east and north of all places."""
        lon, lat = [place.lon for place in self.places], [place.lat for place in self.places]
        return min(lon), min(lat), max(lon), max(lat)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Ids in index order."""
        return tuple(place.id for place in self.places)

    @cached_property
    def index(self) -> Mapping[str, int]:
        """The index of every id."""
        return {key: position for position, key in enumerate(self.ids)}

    @cached_property
    def places_of_ids(self) -> Mapping[str, int]:
        """The index of the place of every id that rows may name."""
        listed = [labels.values for labels in self.labels if labels.column == MEMBERS]
        named = self.index
        if listed:
            named = {key: place for place, ids in enumerate(listed[0]) for key in json.loads(ids)}
        return {**named, **{name: named[key] for name, key in self.aliases}}

    @cached_property
    def journeys(self) -> frozenset[int]:
        """The places of journeys that are counted besides their rides."""
        if NOT_KNOWN not in self.index:
            return frozenset()
        kinds = [labels.values for labels in self.labels if labels.column == TAP_LABELS[-1]]
        return frozenset(n for values in kinds for n, kind in enumerate(values) if kind == JOURNEY)

    @cached_property
    def zones(self) -> tuple[str, ...]:
        """The distinct zones, sorted."""
        return tuple(sorted({place.zone for place in self.places}))

    def labels_in(self, column: str) -> tuple[str, ...]:
        """Returns the label of every place in a column: "zone", or a further one."""
        known = {"zone": tuple(place.zone for place in self.places)}
        known |= {labels.column: labels.values for labels in self.labels}
        if column not in known:
            raise GeographyError(
                f"The places carry no labels {column!r}.",
                advice=f"Read that column with the places; known are: {', '.join(known)}.",
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
            f"Place {place.id!r} is not at a longitude and latitude in degrees.",
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
            "Two columns of labels of the places have the same name.",
            advice="Give every column a name of its own.",
        )
    uneven = [each.column for each in locations.labels if len(each.values) != len(locations)]
    if uneven:
        raise GeographyError(
            f"The labels {uneven[0]!r} are not one for each place.",
            advice="Give one label for every place, in their order.",
        )


# A table of all combinations up to this size is quicker than sorting the ones that occur.
_MOST_COMBINATIONS = 1 << 26


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class PairEnds:
    """How classes of pairs of places follow from classes of their ends.

    Attributes:
        origin: The class of every place as an origin.
        destination: The class of every place as a destination.
        between: The class of pairs for both of these; -1 if there is no such pair.
    """

    origin: Int32Array
    destination: Int32Array
    between: Int32Array


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class Labels:
    """A public partition of numbered things into named classes, none of them empty.

    Things are pairs of places, or periods, in the order of their numbers.

    Attributes:
        column: What the classes are called, such as "mode".
        codes: The class of each thing. The array cannot be written to.
        ends: If the things are pairs of places, and their classes follow from their ends, how.
    """

    column: str
    codes: Int32Array
    names: tuple[str, ...]
    ends: PairEnds | None = None

    def __post_init__(self) -> None:
        whole = self.codes.dtype == np.int32 and self.codes.ndim == 1 and len(self.codes) > 0
        if not whole or len(set(self.names)) != len(self.names):
            raise GeographyError(
                f"The labels {self.column!r} are not one class for each.",
                advice="Give every class a name of its own.",
            )
        used = np.bincount(self.codes, minlength=len(self.names)) if self.codes.min() >= 0 else ()
        if len(used) != len(self.names) or not np.all(used):
            raise GeographyError(
                f"The labels {self.column!r} have a class that nothing belongs to.",
                advice="Name the classes that occur, and no others.",
            )
        self.codes.flags.writeable = False

    def __len__(self) -> int:
        return len(self.names)


def labels_of_codes(column: str, codes: Int32Array, names: Sequence[str]) -> Labels:
    """Returns labels with the classes that occur, in the order of their names' list."""
    present, codes = renumbered(codes, len(names))
    return Labels(column=column, codes=codes, names=tuple(names[i] for i in present))


def joint_codes(parts: Sequence[tuple[Int32Array, int]], length: int) -> tuple[Int32Array, int]:
    """Returns the common refinement of several partitions of the same things, and its size.

    Args:
        parts: Codes and number of classes of each partition; none at all makes one class.
    """
    joint, size = np.zeros(length, dtype=np.int32), 1
    for codes, classes in parts:
        if size * classes <= _MOST_COMBINATIONS:
            combined = joint * np.int32(classes) + codes
            present = np.zeros(size * classes, dtype=np.bool_)
            present[combined] = True
            joint = (np.cumsum(present, dtype=np.int32) - np.int32(1))[combined]
            size = int(np.count_nonzero(present))
        else:
            wide = joint.astype(np.int64) * classes + codes
            seen, inverse = np.unique(wide, return_inverse=True)
            joint, size = inverse.astype(np.int32), len(seen)
    return joint, size


def renumbered(codes: Int32Array, classes: int) -> tuple[list[int], Int32Array]:
    """Returns the classes that occur, and the codes counted among these alone."""
    occurs = np.bincount(codes, minlength=classes) > 0
    among = (np.cumsum(occurs) - 1).astype(np.int32)
    return np.flatnonzero(occurs).tolist(), among[codes]


_ZONE = "zone"


def label_column(group: str) -> tuple[str, ...]:
    """Returns the further column to read with the places; zones are read with them anyway."""
    return () if group == _ZONE else (group,)


def grouped(locations: Locations, group: str) -> Locations:
    """Returns one place for each label of a column, in the middle of its members.

    Which places are its members is published with it: rows name these.
    """
    members: dict[str, list[Location]] = {}
    for place, label in zip(locations.places, locations.labels_in(group), strict=True):
        members.setdefault(label, []).append(place)
    if "" in members:
        raise GeographyError(
            f"{len(members['']):,} places have no label in {group!r}.",
            advice="Give every place a label, or take out places.group.",
        )
    places = tuple(_middle(label, members[label]) for label in sorted(members))
    ids = tuple(json.dumps([one.id for one in members[place.id]]) for place in places)
    return Locations(places, (PlaceLabels(column=MEMBERS, values=ids),), locations.aliases)


def _middle(label: str, members: list[Location]) -> Location:
    return Location(
        id=label,
        name=label,
        lon=round(sum(one.lon for one in members) / len(members), 6),
        lat=round(sum(one.lat for one in members) / len(members), 6),
        zone="",
    )
