"""Reads the public list of places of a plan."""

from hushway.geography.locations import Locations
from hushway.release.plans.sections import AnyPlan, PlaceListPlan
from hushway.tables.locations import LocationColumns, read_locations


def listed_places(
    plan: AnyPlan, places: PlaceListPlan, file: str, labels: tuple[str, ...] = ()
) -> Locations:
    """Returns the places of a list, with the further columns that are asked for.

    Raises:
        GeographyError: A file cannot be used; the message says where it is wrong.
    """
    return read_locations(
        plan.path(file),
        LocationColumns(**places.columns.model_dump(), labels=labels),
        gtfs_places=places.gtfs_places,
        aliases=None if places.aliases is None else plan.path(places.aliases),
    )
