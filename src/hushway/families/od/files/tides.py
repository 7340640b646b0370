"""Entries by stop and period as open standards have them: a data package of TIDES, and GTFS-ride.

TIDES tells days apart, so only tables that do have one: those of a single day, and those that count
every day of the window by itself. A trip is counted in the period in which it starts, and the
period in which it ends is not known: rides of taps are given with the exits of what was boarded in
the period, and exits of other trips are left empty.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Final

import numpy as np
import pyarrow as pa

from hushway.arrays import IntArray
from hushway.families.od.files.rows import Rows
from hushway.families.od.files.view import ODView
from hushway.families.od.public.cells import ODCells
from hushway.geography.locations import NOT_KNOWN, TAP_LABELS
from hushway.geography.service_day import DayPart
from hushway.privacy.certificate import canonical_json
from hushway.release.formats.columns import MOMENT, TEXT, WHOLE, Column, Columns
from hushway.release.formats.places import csv_parts

# Stops times periods: text of a few hundred megabytes.
MOST_ENTRIES: Final = 1 << 22
_VERSION: Final = "v1.0"
_SPEC: Final = f"https://raw.githubusercontent.com/TIDES-transit/TIDES/{_VERSION}/spec"
_UNKNOWN: Final = (
    "number_of_transactions",
    *("bike_entries", "bike_exits", "ramp_entries", "ramp_exits"),
)
_ENTRIES: Final = (
    Column("service_date", pa.date32(), "Day of service."),
    Column("stop_id", TEXT, "Id of the place, as in places.csv."),
    Column("time_period_start", MOMENT, "Start of the period on the wall clock."),
    Column("time_period_end", MOMENT, "End of the period on the wall clock."),
    Column("time_period_category", TEXT, "Name of the part of the day."),
    Column("total_entries", WHOLE, "Published number of trips that start there and then."),
)


def activities(universe: ODCells) -> Columns:
    """Returns all columns of the standard's table of station activities, in its order."""
    exits = "Not known: empty."
    if _is_ridden(universe):
        exits = "Published number of rides that end there, of those that begin in the period."
    return Columns(
        (
            *_ENTRIES,
            Column("total_exits", WHOLE, exits),
            *(Column(name, WHOLE, "Not known: empty.") for name in _UNKNOWN),
        ),
        key=("service_date", "stop_id", "time_period_start", "time_period_end"),
    )


def _is_ridden(universe: ODCells) -> bool:
    """Whether trips are rides or journeys that were made of taps."""
    return NOT_KNOWN in universe.locations.index


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
        *(Column(name, TEXT, "Of all: empty.") for name in ("service_id", *_WEEK, "agency_id")),
        Column("route_id", TEXT, "Id of the line; empty for rides of all lines."),
        *(Column(name, TEXT, "Of all: empty.") for name in ("direction_id", "trip_id")),
        Column("stop_id", TEXT, "Id of the place; empty for all rides, also of unknown places."),
    ),
    key=("ridership_start_date", "ridership_start_time", "route_id", "stop_id"),
)


def has_ridership(view: ODView) -> bool:
    """Whether a table is of rides or journeys that were made of taps, with entries of days."""
    return _is_ridden(view.universe) and has_entries(view)


def has_entries(view: ODView) -> bool:
    """Whether a table gives entries of single days, and every cell has a published count."""
    periods = view.universe.periods
    daily = periods.cycle == "window" or periods.first_day == periods.last_day
    few = len(view.universe.locations) * len(periods) <= MOST_ENTRIES
    return daily and few and view.threshold is None


# A stop and a line; "" for all of them. Nothing for what is in no row.
_Group = tuple[str, str] | None


def ends_of(universe: ODCells, batches: Iterable[Rows]) -> IntArray:
    """Returns the trips that start in each period at each place, and those that end there."""
    ends = np.zeros((2, len(universe.periods), len(universe.locations)), dtype=np.int64)
    for rows in batches:
        period, origin, destination = universe.decode(rows.cells)
        np.add.at(ends[0], (period, origin), rows.counts)
        np.add.at(ends[1], (period, destination), rows.counts)
    return ends


def _places(universe: ODCells) -> list[_Group]:
    """Returns the stop and the line of each place; nothing of journeys beside their rides."""
    labels = {each.column: each.values for each in universe.locations.labels}
    if not set(TAP_LABELS) <= labels.keys():
        return [(key, "") for key in universe.locations.ids]
    stop, line, _ = TAP_LABELS
    told = enumerate(zip(labels[stop], labels[line], strict=True))
    return [
        None if n in universe.locations.journeys else (at, "" if of == NOT_KNOWN else of)
        for n, (at, of) in told
    ]


def _grouped(
    ends: IntArray, groups: Sequence[_Group]
) -> Iterator[tuple[tuple[str, str], IntArray]]:
    """Yields each group of places with its trips by (beginning or end, period)."""
    members = defaultdict[tuple[str, str], list[int]](list)
    for place, group in enumerate(groups):
        if group is not None:
            members[group].append(place)
    for group, places in members.items():
        yield group, ends[:, :, places].sum(axis=2)


def entries_csv(universe: ODCells, batches: Iterable[Rows]) -> Iterator[bytes]:
    """Yields the table of station activities, some rows at a time."""
    groups = [group and (group[0], "") for group in _places(universe)]
    found = dict(_grouped(ends_of(universe, batches), groups))
    return csv_parts(activities(universe).names, _rows(universe, found))


def ridership_csv(universe: ODCells, batches: Iterable[Rows]) -> Iterator[bytes]:
    """Yields ridership.txt of GTFS-ride, some rows at a time.

    Of all rides, of stops, of lines, and of lines at stops. Nobody knows where alightings at the
    place that is not known are.
    """
    ends, places = ends_of(universe, batches), _places(universe)
    ends[1, :, universe.locations.index[NOT_KNOWN]] = 0
    known = [None if group is None or group[0] == NOT_KNOWN else group for group in places]
    found = dict(_grouped(ends, [group and ("", "") for group in places]))
    found |= dict(_grouped(ends, [group and (group[0], "") for group in known]))
    if any(group and group[1] for group in known):
        of_lines = [group if group and group[1] else None for group in known]
        found |= dict(_grouped(ends, [group and ("", group[1]) for group in of_lines]))
        found |= dict(_grouped(ends, of_lines))
    return csv_parts(RIDERSHIP_COLUMNS.names, _ridership(universe, found))


def tides_package(universe: ODCells) -> bytes:
    """Returns the description of the data package, by the standard's own profile."""
    exits = "Exits are not known, nor is anything else that is empty."
    if _is_ridden(universe):
        exits = "Exits are of what was entered in the period. What is empty is not known."
    return canonical_json(
        {
            "profile": f"{_SPEC}/tides-datapackage-profile.json",
            "name": "hushway-entries",
            "title": "Differentially private entries by stop and period",
            "description": f"Counts carry noise on purpose. {exits}",
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


def _rows(
    universe: ODCells, found: Mapping[tuple[str, str], IntArray]
) -> Iterator[tuple[str, ...]]:
    ridden, nothing = _is_ridden(universe), [""] * len(_UNKNOWN)
    for period, day, part in _periods(universe):
        start, end = (_moment(day, minute) for minute in (part.starts, part.ends))
        for (stop, _), ends in found.items():
            entries, exits = ends[:, period]
            told = str(exits) if ridden else ""
            yield (day.isoformat(), stop, start, end, part.name, str(entries), told, *nothing)


def _ridership(
    universe: ODCells, found: Mapping[tuple[str, str], IntArray]
) -> Iterator[tuple[str, ...]]:
    for period, day, part in _periods(universe):
        when = (f"{day:%Y%m%d}",) * 2 + tuple(_hours(at) for at in (part.starts, part.ends))
        for (stop, line), ends in found.items():
            on, off = ends[:, period]
            yield (str(on), str(off), *when, *[""] * 9, line, "", "", stop)


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
