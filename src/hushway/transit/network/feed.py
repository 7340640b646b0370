"""Reads one service day of a public timetable (GTFS) with gtfs-kit, as plain columns."""

import re
import warnings
import zipfile
import zlib
from collections import Counter
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final

import numpy as np

from hushway.arrays import FloatArray
from hushway.errors import GeographyError
from hushway.tables.unpacking import refuse_unfit, refuse_unfit_archive

_WEEK: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NEEDED: Final = {
    "stops": ("stop_id",),
    "routes": ("route_id",),
    "trips": ("trip_id", "route_id", "service_id"),
    "stop_times": ("trip_id", "stop_id", "stop_sequence", "arrival_time", "departure_time"),
}
_CALENDARS: Final = {
    "calendar": ("service_id", "start_date", "end_date", *_WEEK),
    "calendar_dates": ("service_id", "date", "exception_type"),
}
_OPTIONAL: Final = {"frequencies": ("trip_id", "start_time", "end_time", "headway_secs")}
_DAYS: Final = {"calendar": ("start_date", "end_date"), "calendar_dates": ("date",)}
_DAY: Final = re.compile("[0-9]{8}")


@dataclass(frozen=True, kw_only=True, eq=False)
class ServiceDay:
    """What a feed says about the trips of one day.

    Attributes:
        station_of: The station of every stop, by the ids of both; "" if it is part of none.
        route_names: A readable name of every route, no two alike, by its id.
        route_of: The route of every trip, by the ids of both.
        direction_of: The direction of every trip as the feed numbers it; "" if it does not.
        trips: The trip of each call, by id; the calls of a trip follow each other as it travels.
        stops: The stop of each call, by id.
        arrives_s: When each call begins, in seconds since the service day did; nan if not said.
        leaves_s: When each call ends, likewise.
    """

    station_of: dict[str, str]
    route_names: dict[str, str]
    route_of: dict[str, str]
    direction_of: dict[str, str]
    trips: tuple[str, ...]
    stops: tuple[str, ...]
    arrives_s: FloatArray
    leaves_s: FloatArray


def read_service_day(path: Path | str, day: date) -> ServiceDay:
    """Reads the trips of one service day from a .zip file or from a folder.

    Trips that a feed gives as frequencies are written out, each departure as a trip.
    """
    gtfs_kit = _gtfs_kit()
    file = Path(path)
    feed = _read(gtfs_kit, file)
    _check(feed, file)
    days = _days(feed, file)
    feed = feed.expand_frequencies()
    trips = feed.get_trips(day.isoformat().replace("-", ""))
    if trips.empty:
        raise GeographyError(
            f"The timetable {file.name} has no service on {day}; its calendar goes from "
            f"{_dashed(days[0])} to {_dashed(days[-1])}.",
            advice="Choose a service day of the feed.",
        )
    calls = feed.stop_times[feed.stop_times["trip_id"].isin(trips["trip_id"])]
    calls = calls.dropna(subset=["stop_id", "stop_sequence"])
    calls = calls.sort_values(["trip_id", "stop_sequence"])
    stops, trip_ids = _texts(feed.stops, "stop_id"), _texts(trips, "trip_id")
    return ServiceDay(
        station_of=dict(zip(stops, _texts(feed.stops, "parent_station"), strict=True)),
        route_names=_route_names(feed.routes),
        route_of=dict(zip(trip_ids, _texts(trips, "route_id"), strict=True)),
        direction_of=dict(zip(trip_ids, _texts(trips, "direction_id"), strict=True)),
        trips=tuple(_texts(calls, "trip_id")),
        stops=tuple(_texts(calls, "stop_id")),
        arrives_s=_seconds(gtfs_kit, _texts(calls, "arrival_time")),
        leaves_s=_seconds(gtfs_kit, _texts(calls, "departure_time")),
    )


def _gtfs_kit() -> Any:
    try:
        import gtfs_kit
    except ImportError:
        raise GeographyError(
            "Networks from timetables need the library gtfs-kit, which is not installed.",
            advice='Install it with: pip install "hushway[gtfs]"',
        ) from None
    return gtfs_kit


def _read(gtfs_kit: Any, file: Path) -> Any:
    # gtfs-kit would take the name of a file that is not there for a web address.
    if not file.exists():
        raise GeographyError(f"There is no {file.name}.", advice="Check the name of the timetable.")
    if file.is_dir():
        for part in file.glob("*.txt"):
            refuse_unfit(part)
    else:
        refuse_unfit_archive(file)
    try:
        with warnings.catch_warnings():
            # Only columns that GTFS does not know are guessed at; none of them is used.
            warnings.filterwarnings("ignore", message="Columns .* have mixed types")
            # Lengths of shapes are not used either; with a unit given, it is not guessed.
            return gtfs_kit.read_feed(file, dist_units="m")
    except (OSError, ValueError, TypeError, RuntimeError, zipfile.BadZipFile, zlib.error):
        raise GeographyError(
            f"The timetable {file.name} cannot be read.",
            advice="Give the .zip file of a GTFS feed, or a folder with its files: CSV in UTF-8 "
            "with the columns that GTFS demands.",
        ) from None


def _check(feed: Any, file: Path) -> None:
    for name, columns in (_NEEDED | _CALENDARS | _OPTIONAL).items():
        table = getattr(feed, name)
        if table is None:
            continue
        missing = [column for column in columns if column not in table.columns]
        if missing:
            raise GeographyError(
                f"The {name}.txt of {file.name} has no column {', '.join(missing)}.",
                advice="Give a feed with all columns that GTFS demands.",
            )
    absent = [f"{name}.txt" for name in _NEEDED if getattr(feed, name) is None]
    if all(getattr(feed, name) is None for name in _CALENDARS):
        absent.append("calendar.txt or calendar_dates.txt")
    if absent:
        raise GeographyError(
            f"The timetable {file.name} has no {', '.join(absent)}, or nothing in it.",
            advice="Networks need stops, routes, trips, stop times and a calendar of one feed.",
        )


def _days(feed: Any, file: Path) -> list[str]:
    """Returns the days on which something in the calendar begins, ends or changes."""
    texts = {
        text
        for name, columns in _DAYS.items()
        for column in columns
        if getattr(feed, name) is not None
        for text in _texts(getattr(feed, name), column)
    }
    # gtfs-kit compares days as texts, which is right only if all are written alike.
    if not all(_DAY.fullmatch(text) for text in texts):
        raise GeographyError(
            f"The calendar of {file.name} has days that are not written as YYYYMMDD.",
            advice="Write 20260302 for 2 March 2026.",
        )
    return sorted(texts)


def _dashed(day: str) -> str:
    return f"{day[:4]}-{day[4:6]}-{day[6:]}"


def _route_names(routes: Any) -> dict[str, str]:
    ids, short, long = (
        _texts(routes, column) for column in ("route_id", "route_short_name", "route_long_name")
    )
    names = [each or other or key for key, each, other in zip(ids, short, long, strict=True)]
    uses = Counter(names)
    return {
        key: f"{name} ({key})" if uses[name] > 1 else name
        for key, name in zip(ids, names, strict=True)
    }


def _texts(table: Any, column: str) -> list[str]:
    """Returns a column as texts; those that are missing are empty."""
    if column not in table.columns:
        return [""] * len(table)
    texts: list[str] = table[column].astype("string").fillna("").str.strip().tolist()
    return texts


def _seconds(gtfs_kit: Any, times: list[str]) -> FloatArray:
    # Few of the many calls of a day are at different times.
    known = {time: gtfs_kit.timestr_to_seconds(time) for time in set(times)}
    return np.array([known[time] for time in times], dtype=np.float64)
