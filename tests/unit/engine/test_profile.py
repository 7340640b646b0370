"""When and where rows were, as an engine finds it."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hushway.engine.embedded import EmbeddedSession, embedded_session
from hushway.engine.profile import swapped_positions, times_found
from hushway.engine.settings import EngineSettings
from hushway.tables.header import Clock
from hushway.tables.profile import TimesFound
from support.windows import window


@pytest.fixture
def session() -> Iterator[EmbeddedSession]:
    with embedded_session(EngineSettings(memory_limit="500MB", threads=1)) as opened:
        yield opened


def found(
    session: EmbeddedSession, times: list[int | None], clock: Clock, zone: str
) -> TimesFound | None:
    session.backend.con.register("some_times", pa.table({"us": pa.array(times, pa.int64())}))
    periods = window(date(2026, 3, 1), date(2026, 3, 31), zone=zone, opens=360, closes=1200)
    return times_found(session, session.table("some_times"), periods, clock)


def us(*moment: int) -> int:
    return int(datetime(*moment, tzinfo=UTC).timestamp()) * 1_000_000


def hours(**rows: int) -> tuple[int, ...]:
    counts = np.zeros(24, dtype=int)
    for hour, number in rows.items():
        counts[int(hour.removeprefix("at"))] = number
    return tuple(counts.tolist())


def test_days_and_hours_are_those_of_the_wall(session: EmbeddedSession) -> None:
    times = [us(2025, 12, 31, 23, 59), us(2026, 3, 7, 8), us(2026, 3, 7, 8, 59), None]
    seen = found(session, times, "local", "Asia/Kolkata")
    assert seen is not None
    assert (seen.first_day, seen.last_day) == (date(2025, 12, 31), date(2026, 3, 7))
    assert (seen.days_with_rows, seen.window_days) == (1, 31)
    assert seen.hours == hours(at8=2, at23=1)
    assert seen.service == (360, 1200)


def test_instants_are_shown_on_the_agencys_clock(session: EmbeddedSession) -> None:
    # Half an hour past whole hours ahead, and a clock that goes forward on the 8th.
    seen = found(session, [us(2026, 3, 6, 18, 29), us(2026, 3, 6, 18, 30)], "utc", "Asia/Kolkata")
    assert seen is not None
    assert (seen.first_day, seen.last_day) == (date(2026, 3, 6), date(2026, 3, 7))
    assert seen.hours == hours(at23=1, at0=1)
    times = [us(2026, 3, 8, 6, 30), us(2026, 3, 8, 7, 30)]
    changed = found(session, times, "utc", "America/Detroit")
    assert changed is not None
    assert changed.hours == hours(at1=1, at3=1)


@pytest.mark.parametrize("clock", ["local", "utc"])
def test_times_beyond_every_calendar_do_no_harm(session: EmbeddedSession, clock: Clock) -> None:
    seen = found(session, [-(2**62), 2**62, us(2026, 3, 7, 12)], clock, "UTC")
    assert seen is not None
    assert (seen.first_day.year, seen.last_day.year) == (1, 9999)
    assert seen.days_with_rows == 1


def test_without_a_time_nothing_is_said(session: EmbeddedSession) -> None:
    assert found(session, [None, None], "local", "UTC") is None


def test_only_positions_that_lie_nowhere_as_given_look_swapped() -> None:
    def around_porto(lon: Any, lat: Any) -> Any:
        return (np.abs(lon + 8.6) < 1) & (np.abs(lat - 41.1) < 1)

    lon = np.array([-8.6, 41.1, 2.3, np.nan])
    lat = np.array([41.1, -8.6, 48.8, 41.1])
    assert swapped_positions(lon, lat, around_porto) == 1
