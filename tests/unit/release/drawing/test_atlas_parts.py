"""Periods in words, and courses of so few points that a page can draw them."""

from datetime import date
from typing import Any

import numpy as np
import pytest

from hushway.errors import ReleaseError
from hushway.geography.periods import Periods
from hushway.geography.service_day import DayPart, day_type
from hushway.release.drawing import atlas_parts
from hushway.release.drawing.atlas_parts import (
    kept_starts,
    shown_periods,
    starts_of_periods,
    thinned,
)


def periods_of(**changes: Any) -> Periods:
    facts: dict[str, Any] = {
        "zone": "Europe/Lisbon",
        "first_day": date(2026, 3, 2),
        "last_day": date(2026, 3, 3),
        "opens": 480,
        "closes": 600,
        "minutes": 60,
    }
    return Periods(**(facts | changes))


PARTS = (DayPart(name="am peak", starts=390, ends=540), DayPart(name="day", starts=540, ends=1200))


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({}, [(None, "08:00"), (None, "09:00")]),
        ({"opens": 0, "closes": 1440, "minutes": 1440}, [(None, "all day")]),
        (
            {"cycle": "window"},
            [
                ("Mon 2 Mar", "08:00"),
                ("Mon 2 Mar", "09:00"),
                ("Tue 3 Mar", "08:00"),
                ("Tue 3 Mar", "09:00"),
            ],
        ),
        (
            {"opens": 390, "closes": 1200, "minutes": 0, "named": PARTS},
            [(None, "am peak"), (None, "day")],
        ),
        (
            {"cycle": "day_type", "day_types": (day_type("school", ["Mon", "Tue"]),)},
            [("school", "08:00"), ("school", "09:00")],
        ),
    ],
)
def test_periods_have_a_label_and_the_days_a_group(changes: Any, shown: Any) -> None:
    periods = periods_of(**changes)
    found = [(each.group, each.label) for each in shown_periods(periods)]
    assert found == shown
    assert len(found) == len(periods)


def test_weeks_have_a_group_for_every_weekday() -> None:
    found = shown_periods(periods_of(cycle="week"))
    assert [each.group for each in found][::2] == ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


def test_rows_of_periods_begin_where_they_begin() -> None:
    assert starts_of_periods(np.array([0, 0, 2]), 4).tolist() == [0, 2, 2, 3, 3]
    assert starts_of_periods(np.empty(0, dtype=np.int64), 2).tolist() == [0, 0, 0]
    with pytest.raises(ReleaseError, match="not in the order"):
        starts_of_periods(np.array([1, 0]), 2)


def wave(points: int, shift: float = 0.0) -> tuple[Any, Any]:
    along = np.linspace(0, 1, points)
    return along, np.sin(20 * along) / 10 + shift


def test_all_points_of_a_small_map_are_drawn() -> None:
    lon, lat = wave(50)
    assert thinned(lon, lat, np.array([0, 50])) is None


def test_a_border_of_two_areas_keeps_the_same_points_for_both(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(atlas_parts, "MOST_POINTS", 600)
    lon, lat = wave(100_000)
    both = np.concatenate([lon, lon]), np.concatenate([lat, lat])
    starts = np.array([0, len(lon), 2 * len(lon)])
    keep = thinned(*both, starts)
    assert keep is not None
    assert 100 < np.count_nonzero(keep) <= 600
    assert np.array_equal(keep[: len(lon)], keep[len(lon) :])
    assert keep[0]
    assert keep[len(lon) - 1]
    shorter = kept_starts(starts, keep)
    assert shorter.tolist() == [0, np.count_nonzero(keep) // 2, np.count_nonzero(keep)]
    # What is drawn is nowhere far from what is there.
    drawn = np.interp(lon, lon[keep[: len(lon)]], lat[keep[: len(lon)]])
    assert np.abs(drawn - lat).max() < 0.02


def test_an_outline_of_millions_of_points_is_drawn_with_fewer() -> None:
    lon, lat = wave(3_000_000)
    keep = thinned(lon, lat, np.array([0, len(lon)]))
    assert keep is not None
    assert 1000 < np.count_nonzero(keep) <= atlas_parts.MOST_POINTS


def test_more_courses_than_a_map_has_room_for_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atlas_parts, "MOST_POINTS", 100)
    lon, lat = wave(300)
    with pytest.raises(ReleaseError, match="too many to be drawn"):
        thinned(lon, lat, np.arange(0, 301, 3))


def test_courses_without_points_stay_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atlas_parts, "MOST_POINTS", 100)
    lon, lat = wave(300)
    starts = np.array([0, 0, 300, 300])
    keep = thinned(lon, lat, starts)
    assert keep is not None
    assert kept_starts(starts, keep).tolist()[:2] == [0, 0]
