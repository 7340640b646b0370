"""Taps on the buses of a little town, and what becomes of them."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from hushway.engine.opening import open_session
from hushway.engine.settings import EngineSettings
from hushway.geography.clock import microseconds
from hushway.journeys.calendars import day_number
from hushway.journeys.rides import PublicRides
from hushway.journeys.taps import TapColumns, TapsSource, taps_read
from hushway.journeys.timetable import read_timetable
from support.bus_feed import bus_feed

COLUMNS = ("card", "when", "stop", "line", "action")
DAY = "2026-03-02"
# The values of the columns.
Tap = tuple[str, str, str, str, str]
# Card, time as HH:MM, origin, destination, rule.
Trip = tuple[str, str, str, str, str]


def tap(card: str, time: str, stop: str, line: str = "10", action: str = "on") -> Tap:
    """Returns a tap; the time is of the first day, unless it names another."""
    return card, time if "T" in time else f"{DAY}T{time}", stop, line, action


def source_of(folder: Path, taps: Iterable[Tap], **options: Any) -> TapsSource:
    """Writes taps and returns where they are."""
    lines = [",".join(COLUMNS), *(",".join(row) for row in taps)]
    (folder / "taps.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    source = TapsSource(
        path=folder / "taps.csv",
        columns=TapColumns(person="card", time="when", stop="stop", line="line", action="action"),
        rides=rides_of(bus_feed(folder / "feed")),
        counted="rides",
        span_us=_span("2026-03-02T00:00", "2026-03-05T00:00"),
        exits=("off",),
    )
    return replace(source, **options)


def rides_of(*feeds: Path) -> PublicRides:
    """Returns what feeds say of rides on the days of these tests."""
    days = day_number(date(2026, 3, 1)), day_number(date(2026, 3, 5))
    return PublicRides(timetable=read_timetable(*feeds), walk_m=500, days=days)


def trips_of(source: TapsSource, settings: EngineSettings | None = None) -> list[Trip]:
    """Returns the trips that are made of taps, by card and time."""
    with open_session(settings or EngineSettings()) as session:
        table = session.fetch(session.rows(taps_read(session, source)))
    rows = (
        (row["person"], _clock(row["us"]), row["origin"], row["destination"], row["rule"])
        for row in table.to_pylist()
    )
    return sorted(rows, key=str)


def _span(first: str, last: str) -> tuple[int, int]:
    start, end = (datetime.fromisoformat(text).replace(tzinfo=UTC) for text in (first, last))
    return microseconds(start), microseconds(end)


def _clock(us: int) -> str:
    minutes = us // 60_000_000 % 1440
    return f"{minutes // 60:02}:{minutes % 60:02}"
