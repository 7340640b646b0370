"""Entries by stop and period as a data package of TIDES, the open standard for transit ridership.

TIDES tells days apart, so only tables that do have one: those of a single day, and those that count
every day of the window by itself. Exits are left empty: a trip is counted in the period in which it
starts, and the period in which it ends is not known.
"""

from collections.abc import Iterable, Iterator
from datetime import date, datetime, time, timedelta
from typing import Final

import numpy as np
import pyarrow as pa

from hushway.arrays import IntArray
from hushway.families.od.files.rows import Rows
from hushway.families.od.files.view import ODView
from hushway.families.od.public.cells import ODCells
from hushway.privacy.certificate import canonical_json
from hushway.release.formats.columns import MOMENT, TEXT, WHOLE, Column, Columns
from hushway.release.formats.places import csv_parts

# Stops times periods: text of a few hundred megabytes.
MOST_ENTRIES: Final = 1 << 22
_VERSION: Final = "v1.0"
_SPEC: Final = f"https://raw.githubusercontent.com/TIDES-transit/TIDES/{_VERSION}/spec"
_UNKNOWN: Final = (
    *("total_exits", "number_of_transactions"),
    *("bike_entries", "bike_exits", "ramp_entries", "ramp_exits"),
)
# All columns of the standard's table of station activities, in its order.
ACTIVITIES: Final = Columns(
    (
        Column("service_date", pa.date32(), "Day of service."),
        Column("stop_id", TEXT, "Id of the place, as in places.csv."),
        Column("time_period_start", MOMENT, "Start of the period on the wall clock."),
        Column("time_period_end", MOMENT, "End of the period on the wall clock."),
        Column("time_period_category", TEXT, "Name of the part of the day."),
        Column("total_entries", WHOLE, "Published number of trips that start there and then."),
        *(Column(name, WHOLE, "Not known: empty.") for name in _UNKNOWN),
    ),
    key=("service_date", "stop_id", "time_period_start", "time_period_end"),
)


def has_entries(view: ODView) -> bool:
    """Whether a table gives entries of single days, and every cell has a published count."""
    periods = view.universe.periods
    daily = periods.cycle == "window" or periods.first_day == periods.last_day
    few = len(view.universe.locations) * len(periods) <= MOST_ENTRIES
    return daily and few and view.threshold is None


def entries_of(universe: ODCells, batches: Iterable[Rows]) -> IntArray:
    """Returns the trips that start in each period at each place."""
    places = len(universe.locations)
    entries = np.zeros(len(universe.periods) * places, dtype=np.int64)
    for rows in batches:
        period, origin, _ = universe.decode(rows.cells)
        np.add.at(entries, period * places + origin, rows.counts)
    return entries.reshape(-1, places)


def entries_csv(universe: ODCells, batches: Iterable[Rows]) -> Iterator[bytes]:
    """Yields the table of station activities, some rows at a time."""
    return csv_parts(ACTIVITIES.names, _rows(universe, entries_of(universe, batches)))


def tides_package() -> bytes:
    """Returns the description of the data package, by the standard's own profile."""
    return canonical_json(
        {
            "profile": f"{_SPEC}/tides-datapackage-profile.json",
            "name": "hushway-entries",
            "title": "Differentially private entries by stop and period",
            "description": "Counts carry noise on purpose. Exits are not known, nor is anything "
            "else that is empty.",
            "resources": [
                {
                    "name": "station_activities",
                    "tides-table": "station_activities",
                    "profile": "tabular-data-resource",
                    "path": "station_activities.csv",
                    "schema": f"{_SPEC}/station_activities.schema.json",
                }
            ],
        }
    )


def _rows(universe: ODCells, entries: IntArray) -> Iterator[tuple[str, ...]]:
    periods, nothing = universe.periods, [""] * len(_UNKNOWN)
    for day in periods.days:
        first = periods.first_period(day)
        if first is None:
            continue
        for i, part in enumerate(periods.day_parts):
            start, end = (_moment(day, minute) for minute in (part.starts, part.ends))
            for stop, count in zip(universe.locations.ids, entries[first + i], strict=True):
                yield (day.isoformat(), stop, start, end, part.name, str(count), *nothing)


def _moment(day: date, minute: int) -> str:
    return (datetime.combine(day, time()) + timedelta(minutes=minute)).isoformat()
