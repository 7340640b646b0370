"""OD releases by day type and part of the day, with nights that belong to the day before."""

import csv
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from hushway.engine.key import BoundingKey
from hushway.errors import PlanError
from hushway.families.asking import synthesize
from hushway.families.load import plan_from, prepare
from hushway.families.verify import verify
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import Measure, loss_of
from hushway.privacy.query import Query
from hushway.privacy.randomness import SeededSource
from hushway.release.job import CountingContext, Job, settings_of
from hushway.steward.publish import publish
from hushway.transit.day_demand import published_day, read_od_table
from support.little_plans import little_plan, write_little_files
from support.long import often

TIME: dict[str, Any] = {
    "zone": "Europe/Lisbon",
    "first_day": "2026-12-21",
    "last_day": "2026-12-27",
    "cycle": "day_type",
    "holidays": ["2026-12-25"],
    "parts": {"am peak": "06:30-09:00", "day": "09:00-20:00", "night": "20:00-25:30"},
}
# Service date, time and the period that it should find.
ROWS = [
    ("2026-12-21", "07:10:00", "weekday am peak"),
    ("2026-12-21", "25:10:00", "weekday night"),
    ("20261225", "08:59", "sunday am peak"),
    ("2026-12-25", "24:00:00", "sunday night"),
    ("2026-12-26", "9:00", "saturday day"),
    ("2026-12-27", "25:29:59", "sunday night"),
    ("2026-12-27", "25:30:00", None),
    ("2026-12-20", "25:10:00", None),
    ("2026-12-22", "noon", None),
    ("yesterday", "08:00", None),
    ("", "08:00", None),
]


def service_plan(folder: Path, **changes: Any) -> dict[str, Any]:
    write_little_files(folder)
    with (folder / "trips.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["person", "origin", "destination", "service_date", "time"])
        writer.writerows((f"p{i}", "a", "b", day, time) for i, (day, time, _) in enumerate(ROWS))
    plan = little_plan("od")
    plan["data"] |= {"clock": "service"}
    plan["data"]["columns"] = {"person": "person", "service_date": "service_date"}
    return plan | {"time": TIME} | changes


def job_of(folder: Path, **changes: Any) -> Job:
    return prepare(plan_from(service_plan(folder, **changes), folder=folder))


def published(folder: Path, **changes: Any) -> Path:
    job = job_of(folder, **changes)
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        ledger.open_account(job.account, loss_of(Measure.ZCDP, Fraction(1000)))
    return publish(job, source=SeededSource(1)).folder


def test_hours_of_a_service_day_find_their_period(tmp_path: Path) -> None:
    job = job_of(tmp_path)
    source = SeededSource(1)
    context = CountingContext(
        key=BoundingKey.draw(source), bits=source, settings=settings_of(job.plan), progress=None
    )
    cells: Any = job.geography
    found = job.rows.counter(context).count(Query(name=cells.name, cells=cells))
    labels = [cells.periods.labels[p] for p in cells.decode(found.cells)[0]]
    counted = [
        label for label, n in zip(labels, found.values.tolist(), strict=True) for _ in range(n)
    ]
    assert sorted(counted) == sorted(label for *_, label in ROWS if label is not None)


def test_rows_that_cannot_count_are_told_apart(tmp_path: Path) -> None:
    job = job_of(tmp_path)
    problems = {
        p.kind: p.count for p in job.rows.check(settings_of(job.plan), notes=False).problems
    }
    assert problems == {"null_value": 1, "unparsable_time": 2, "outside_window": 2}


def test_the_night_after_the_window_is_charged(tmp_path: Path) -> None:
    window = job_of(tmp_path).window
    assert (window.first_day, window.last_day) == (date(2026, 12, 21), date(2026, 12, 28))
    parts = {"day": "06:30-24:00"}
    (tmp_path / "other").mkdir()
    other = job_of(tmp_path / "other", time=TIME | {"parts": parts}).window
    assert other.last_day == date(2026, 12, 27)


def test_a_service_day_counted_from_noon_stays_in_the_window_when_clocks_change(
    tmp_path: Path,
) -> None:
    """Noon less twelve hours is an hour before midnight on the day that clocks go forward."""
    day = {"first_day": "2026-03-29", "last_day": "2026-03-29", "cycle": "day"}
    time = {"zone": "Europe/Lisbon", "minutes": 720, **day}
    window = job_of(tmp_path, time=time).window
    assert window.start.isoformat() == "2026-03-28T23:00:00+00:00"


@pytest.mark.parametrize("cycle", often(["day_type", "window", "day"]))
def test_a_release_verifies_and_gives_days(tmp_path: Path, cycle: str) -> None:
    time = {**TIME, "cycle": cycle}
    if cycle != "day_type":
        del time["holidays"]
    release = published(tmp_path, time=time)
    assert verify(release).intact
    table = read_od_table(release)
    day = {"day_type": "Sunday", "window": "2026-12-25", "day": None}[cycle]
    demand = published_day(table, day=day, hours=(540, 1530))
    assert demand.days == {"day_type": 2, "window": 1, "day": 7}[cycle]
    assert demand.universe.periods.labels == ("day", "night")
    words = synthesize(release, tmp_path / "trips-drawn.csv")
    assert words.startswith(f"{table.counts.sum():,} synthetic trips")


def test_a_day_type_that_the_window_lacks_is_named(tmp_path: Path) -> None:
    table = read_od_table(published(tmp_path))
    with pytest.raises(PlanError, match="no day type 'tuesday'") as caught:
        published_day(table, day="tuesday")
    assert "weekday, saturday, sunday" in str(caught.value.advice)
    with pytest.raises(PlanError, match="do not begin") as caught:
        published_day(table, day="weekday", hours=(400, 1530))
    assert "06:30-09:00" in str(caught.value.advice)


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"opens": "06:00"}, "leave out opens"),
        ({"cycle": "week"}, "only with cycle"),
        ({"holidays_file": "holidays.txt"}, "not in both"),
        ({"parts": {"day": "06:30"}}, "two times"),
        ({"parts": {"day": "06:30-49:00"}}, "00:00 to 48:00"),
    ],
)
def test_plans_that_contradict_themselves_are_refused(
    tmp_path: Path, wrong: dict[str, Any], word: str
) -> None:
    with pytest.raises(PlanError, match=word):
        plan_from(service_plan(tmp_path, time=TIME | wrong), folder=tmp_path)


def test_service_dates_need_their_clock(tmp_path: Path) -> None:
    plan = service_plan(tmp_path)
    plan["data"]["clock"] = "local"
    with pytest.raises(PlanError, match="belong together"):
        plan_from(plan, folder=tmp_path)


def test_holidays_of_a_file_are_those_of_a_list(tmp_path: Path) -> None:
    listed = job_of(tmp_path)
    (tmp_path / "holidays.txt").write_text("2025-12-25\n\n2026-12-25\n", encoding="utf-8")
    time = {key: value for key, value in TIME.items() if key != "holidays"}
    filed = job_of(tmp_path, time=time | {"holidays_file": "holidays.txt"})
    assert filed.geography.digest == listed.geography.digest
