"""The line of every station, from a public timetable: a taxonomy with one line for each."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import GeographyError
from hushway.families.sequences.public.gtfs import Timetable, read_timetable
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.families.sequences.public.taxonomy_columns import place_level
from hushway.geography.locations import Locations

_SHOWN = 5
_LEVEL = "line"


@dataclass(frozen=True, kw_only=True, eq=False)
class LineTaxonomy:
    """Stations by line.

    Attributes:
        taxonomy: The locations in groups by line.
        multi_line: Ids of the locations that several routes call at; each was given to one.
    """

    taxonomy: Taxonomy
    multi_line: tuple[str, ...]


def line_taxonomy(path: Path | str, locations: Locations) -> LineTaxonomy:
    """Groups locations by the route that calls there most often.

    A location is a stop of the feed, or a station, at which its platforms' calls are counted. Among
    routes that call equally often the one whose id comes first is chosen.

    Args:
        path: A GTFS feed: a .zip file, or a folder.
        locations: The public places, with the ids of the feed's stops or stations.

    Raises:
        GeographyError: The feed cannot be used, or no route calls at a location.
    """
    feed = Path(path)
    timetable = read_timetable(feed)
    calls = _calls_at(timetable, locations)
    lonely = [
        repr(key) for key, most in zip(locations.ids, calls.max(axis=0), strict=True) if not most
    ]
    if lonely:
        more = f" and {len(lonely) - _SHOWN:,} more" if len(lonely) > _SHOWN else ""
        raise GeographyError(
            f"No route of {feed.name} calls at some locations: {', '.join(lonely[:_SHOWN])}{more}.",
            advice="Leave them out of the list, use ids of the feed's stops or stations, or name a "
            "column of the locations as the line.",
        )
    names = [timetable.route_names.get(route, route) for route in timetable.routes]
    # Of equal calls the first is found, and routes are in the order of their ids.
    lines = [names[route] for route in calls.argmax(axis=0).tolist()]
    several = (calls > 0).sum(axis=0) > 1
    return LineTaxonomy(
        taxonomy=Taxonomy(locations=locations, levels=(place_level(locations, _LEVEL, lines),)),
        multi_line=tuple(key for key, many in zip(locations.ids, several, strict=True) if many),
    )


def _calls_at(timetable: Timetable, locations: Locations) -> IntArray:
    """Returns how often each route (row) calls at each location (column)."""
    calls = np.zeros((len(timetable.routes), len(locations)), dtype=np.int64)
    for column, stop in enumerate(timetable.stops):
        place = locations.index.get(stop)
        if place is None:
            place = locations.index.get(timetable.station_of.get(stop, ""))
        if place is not None:
            calls[:, place] += timetable.calls[:, column]
    return calls
