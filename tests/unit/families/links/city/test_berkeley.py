import sys
from collections.abc import Collection
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from hushway.errors import PlanError
from hushway.families.links.city import describe as roads_describe
from hushway.families.links.city.berkeley import berkeley, departure_hours
from hushway.families.links.city.traces_city import TraceCity
from hushway.study.results import print_tables

PAGE = Path(__file__).parents[5] / "docs" / "researchers" / "cities.md"


@pytest.fixture(scope="module")
def day() -> TraceCity:
    return berkeley(1, hours=range(24))


@pytest.fixture(scope="module")
def hour() -> TraceCity:
    return berkeley(1)


@pytest.mark.long
def test_the_hour_has_about_the_published_trajectories_on_the_published_length(
    hour: TraceCity,
) -> None:
    assert 1_000 < len(hour) < 1_400
    assert abs(hour.driven_m / 1_609.344 / 194.6 - 1) < 0.001
    assert set(departure_hours(hour).tolist()) == {13}
    assert hour.zone == "America/Los_Angeles"
    assert hour.first_day == hour.last_day == date(2019, 1, 29)


def test_most_trajectories_are_sampled_more_often_than_once_a_minute(hour: TraceCity) -> None:
    step = [
        np.median(np.diff(hour.seconds[hour.start[i] : hour.start[i + 1]]))
        for i in range(len(hour))
    ]
    assert 0.8 < np.mean(np.array(step) < 60) < 1


def test_there_are_five_classes_and_both_fleets_and_consumers(hour: TraceCity) -> None:
    assert set(hour.roads.road_class[hour.truth.link].tolist()) == {1, 2, 3, 4, 5}
    assert 0.3 < hour.fleet[hour.person].mean() < 0.7


def test_the_hour_is_part_of_the_day(hour: TraceCity, day: TraceCity) -> None:
    in_hour = departure_hours(day) == 13
    assert np.array_equal(day.person[in_hour], hour.person)
    points = np.repeat(in_hour, np.diff(day.start))
    assert np.array_equal(day.lon[points], hour.lon)


def test_a_day_has_two_rush_hours(day: TraceCity) -> None:
    hourly = np.bincount(departure_hours(day), minlength=24)
    noon = hourly[10:15].mean()
    assert hourly[7:9].mean() > 1.2 * noon
    assert hourly[16:18].mean() > 1.1 * noon
    assert hourly[:5].max() < noon / 3
    assert hourly.min() > 0


@pytest.mark.parametrize("hours", [(), (24,), (-1, 3)])
def test_hours_that_do_not_exist_are_refused(hours: tuple[int, ...]) -> None:
    with pytest.raises(PlanError, match="hours"):
        berkeley(1, hours=hours)


def test_the_page_shows_what_the_command_prints(
    day: TraceCity, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def made(seed: int, *, hours: Collection[int]) -> TraceCity:
        assert (seed, list(hours)) == (1, list(range(24)))
        return day

    monkeypatch.setattr(sys, "argv", ["roads_describe"])
    monkeypatch.setattr(roads_describe, "berkeley", made)
    print_tables("road cities", roads_describe.tables)
    printed = capsys.readouterr().out.split("\n\n")
    assert len(printed) == 3
    page = PAGE.read_text(encoding="utf-8")
    assert all(table.strip() in page for table in printed)
