"""What data packages say about the public lists that several families publish."""

from collections.abc import Mapping, Sequence
from typing import Any

from hushway.geography.locations import LOCATION_FACTS
from hushway.geography.periods import Cycle, Periods
from hushway.release.formats.places import period_columns
from hushway.release.resource import Resource, table_schema

_LOCATION_WORDS = (
    ("string", "Id of the place."),
    ("string", "Name of the place."),
    ("number", "Latitude in degrees (WGS84)."),
    ("number", "Longitude in degrees (WGS84)."),
    ("string", "Zone that the place belongs to."),
)
_PERIOD_WORDS = {
    "period": ("string", "Label of the period."),
    "weekday": ("string", "Day of the week."),
    "day": ("date", "Day of the period."),
    "starts": ("string", "Start on the wall clock."),
    "ends": ("string", "End on the wall clock; 24:00 is midnight."),
    "first_day": ("date", "First day of the window."),
    "last_day": ("date", "Last day of the window, included."),
    "time_zone": ("string", "IANA name of the time zone."),
}
_COUNTED: Mapping[Cycle, str] = {
    "day": "counted over all days of the window",
    "week": "counted over all days of the window with the weekday of the period",
    "window": "each counted by itself: every part of every day of the window",
}


def locations_schema(columns: Sequence[str]) -> dict[str, Any]:
    """Returns the schema of locations.csv, given its columns."""
    facts = zip(LOCATION_FACTS, _LOCATION_WORDS, strict=True)
    return table_schema(
        *((name, *words) for name, words in facts),
        *(
            (name, "string", "A further public label of the place.")
            for name in columns[len(LOCATION_FACTS) :]
        ),
        key=["id"],
    )


def periods_resource(periods: Periods, *, path: str) -> Resource:
    """Returns what a data package says about the public periods."""
    columns = ((name, *_PERIOD_WORDS[name]) for name in period_columns(periods))
    return Resource(
        path=path,
        title="Public periods",
        description=f"Periods of the agency's wall clock, {_COUNTED[periods.cycle]}.",
        mediatype="text/csv",
        schema=table_schema(*columns, key=["period"]),
    )
