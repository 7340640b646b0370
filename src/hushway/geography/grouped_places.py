"""Places that are groups of listed ones, such as the zones that stations lie in."""

import json

from hushway.errors import GeographyError
from hushway.geography.locations import MEMBERS, Location, Locations, PlaceLabels

_ZONE = "zone"


def label_column(group: str) -> tuple[str, ...]:
    """Returns the further column to read with the places; zones are read with them anyway."""
    return () if group == _ZONE else (group,)


def grouped(locations: Locations, group: str) -> Locations:
    """Returns one place for each label of a column, in the middle of its members.

    Which places are its members is published with it: rows name these.

    Raises:
        GeographyError: A place has no label.
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
