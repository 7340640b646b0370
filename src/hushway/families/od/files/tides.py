"""Entries by stop and period as open standards have them: a data package of TIDES, and GTFS-ride.

TIDES tells days apart, so only tables that do have one: those of a single day, and those that count
every day of the window by itself. Exits are left empty: a trip is counted in the period in which it
starts, and the period in which it ends is not known. GTFS-ride demands alightings beside boardings,
so rides of taps are given with the alightings of what was boarded in the period.
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
from hushway.geography.locations import NOT_KNOWN, transfer_at
from hushway.geography.service_day import DayPart
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


_WEEK: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# All columns of ridership.txt of GTFS-ride.
RIDERSHIP_COLUMNS: Final = Columns(
    (
        Column("total_boardings", WHOLE, "Published number of rides that begin there and then."),
        Column(
            "total_alightings",
            WHOLE,
            "Published number of rides that end there, of those that begin in the period.",
        ),
        Column("ridership_start_date", TEXT, "Day of service, as YYYYMMDD."),
        Column("ridership_end_date", TEXT, "The same day."),
        Column("ridership_start_time", TEXT, "Start of the period; hours go on after midnight."),
        Column("ridership_end_time", TEXT, "End of the period."),
        *(
            Column(name, TEXT, "Of all: empty.")
            for name in ("service_id", *_WEEK, "agency_id", "route_id", "direction_id", "trip_id")
        ),
        Column("stop_id", TEXT, "Id of the place; empty for all rides, also of unknown places."),
    ),
    key=("ridership_start_date", "ridership_start_time", "stop_id"),
)


def has_ridership(view: ODView) -> bool:
    """Whether a table is of rides or journeys that were made of taps, with entries of days."""
    return NOT_KNOWN in view.universe.locations.index and has_entries(view)


def has_entries(view: ODView) -> bool:
    """Whether a table gives entries of single days, and every cell has a published count."""
    periods = view.universe.periods
    daily = periods.cycle == "window" or periods.first_day == periods.last_day
    few = len(view.universe.locations) * len(periods) <= MOST_ENTRIES
    return daily and few and view.threshold is None


def stops_of(universe: ODCells) -> tuple[list[str], IntArray]:
    """Returns the stops, and the number of the stop of each place: where people change is one."""
    index = universe.locations.index
    changes = {transfer_at(key): key for key in index} if NOT_KNOWN in index else {}
    stops = [key for key in universe.locations.ids if key not in changes]
    number = {key: position for position, key in enumerate(stops)}
    return stops, np.array([number[changes.get(key, key)] for key in universe.locations.ids])


def entries_of(universe: ODCells, batches: Iterable[Rows]) -> tuple[IntArray, IntArray]:
    """Returns the trips that start in each period at each stop, and those of them that end there.

    Where people change counts as the stop that it is.
    """
    stops, of_place = stops_of(universe)
    ends = np.zeros((2, len(universe.periods), len(stops)), dtype=np.int64)
    for rows in batches:
        period, origin, destination = universe.decode(rows.cells)
        np.add.at(ends[0], (period, of_place[origin]), rows.counts)
        np.add.at(ends[1], (period, of_place[destination]), rows.counts)
    return ends[0], ends[1]


def entries_csv(universe: ODCells, batches: Iterable[Rows]) -> Iterator[bytes]:
    """Yields the table of station activities, some rows at a time."""
    return csv_parts(ACTIVITIES.names, _rows(universe, entries_of(universe, batches)[0]))


def ridership_csv(universe: ODCells, batches: Iterable[Rows]) -> Iterator[bytes]:
    """Yields ridership.txt of GTFS-ride, some rows at a time."""
    return csv_parts(RIDERSHIP_COLUMNS.names, _ridership(universe, *entries_of(universe, batches)))


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
    stops, nothing = stops_of(universe)[0], [""] * len(_UNKNOWN)
    for period, day, part in _periods(universe):
        start, end = (_moment(day, minute) for minute in (part.starts, part.ends))
        for stop, count in zip(stops, entries[period], strict=True):
            yield (day.isoformat(), stop, start, end, part.name, str(count), *nothing)


def _ridership(
    universe: ODCells, boardings: IntArray, alightings: IntArray
) -> Iterator[tuple[str, ...]]:
    stops, nothing = stops_of(universe)[0], [""] * 12
    unknown = stops.index(NOT_KNOWN)
    for period, day, part in _periods(universe):
        when = (f"{day:%Y%m%d}",) * 2 + tuple(_hours(at) for at in (part.starts, part.ends))
        on, off = boardings[period], alightings[period]
        yield (str(on.sum()), str(off.sum() - off[unknown]), *when, *nothing, "")
        for stop, begun, ended in zip(stops, on, off, strict=True):
            if stop != NOT_KNOWN:
                yield (str(begun), str(ended), *when, *nothing, stop)


def _periods(universe: ODCells) -> Iterator[tuple[int, date, DayPart]]:
    """Yields every period of single days with its number."""
    for day in universe.periods.days:
        first = universe.periods.first_period(day)
        if first is not None:
            for number, part in enumerate(universe.periods.day_parts):
                yield first + number, day, part


def _hours(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}:00"


def _moment(day: date, minute: int) -> str:
    return (datetime.combine(day, time()) + timedelta(minutes=minute)).isoformat()
