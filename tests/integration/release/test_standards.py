"""OD counts from trips of MDS and from fare transactions of TIDES."""

import csv
import json
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely

from hushway.engine.key import BoundingKey
from hushway.errors import DataError, PlanError
from hushway.families.load import plan_from, prepare
from hushway.families.verify import verify
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import Measure, loss_of
from hushway.privacy.query import Query
from hushway.privacy.randomness import SeededSource
from hushway.release.job import CountingContext, Job, settings_of
from hushway.steward.publish import publish
from support.little_plans import little_plan, write_little_files

Pairs = dict[tuple[str, str], int]

EIGHT_MS = 1_772_438_400_000  # 2026-03-02T08:00:00Z, which is 08:00 in Lisbon
FIELDS = ("transaction_id", "service_date", "event_timestamp", "fare_action", "stop_id", "token_id")


def counted(job: Job) -> Pairs:
    source = SeededSource(1)
    context = CountingContext(
        key=BoundingKey.draw(source), bits=source, settings=settings_of(job.plan), progress=None
    )
    cells: Any = job.geography
    found = job.rows.counter(context).count(Query(name=cells.name, cells=cells))
    pairs: Counter[tuple[str, str]] = Counter()
    _, origin, destination = cells.decode(found.cells)
    for o, d, n in zip(origin, destination, found.values.tolist(), strict=True):
        pairs[cells.locations.ids[o], cells.locations.ids[d]] += n
    return dict(pairs)


def device_plan(folder: Path, form: str, trips: str) -> dict[str, Any]:
    write_little_files(folder)
    plan = little_plan("od")
    plan["data"] = {"name": "trips", "trips": trips, "format": form}
    plan["privacy"] = {"unit": "device", "max_trips": 100, "epsilon": "1"}
    plan["mechanism"] = {"name": "laplace"}
    return plan


def mds_plan(folder: Path, trips: list[dict[str, Any]]) -> dict[str, Any]:
    plan = device_plan(folder, "mds", "trips.json")
    (folder / "trips.json").write_text(json.dumps({"trips": trips}), encoding="utf-8")
    boxes = {"west": shapely.box(0, 0, 1, 1), "east": shapely.box(1, 0, 2, 1)}
    features = [
        {
            "type": "Feature",
            "properties": {"id": key},
            "geometry": json.loads(shapely.to_geojson(shape)),
        }
        for key, shape in boxes.items()
    ]
    zones = {"type": "FeatureCollection", "features": features}
    (folder / "zones.geojson").write_text(json.dumps(zones), encoding="utf-8")
    return plan | {"places": {"areas": "zones.geojson"}}


def second_version(name: str, lon: float, to: float, **more: Any) -> dict[str, Any]:
    return {
        "device_id": "d1",
        "trip_id": name,
        "start_time": EIGHT_MS,
        "start_location": {"lng": lon, "lat": 0.5},
        "end_location": {"lng": to, "lat": 0.5},
        **more,
    }


def first_version(name: str, lon: float, to: float) -> dict[str, Any]:
    features = [
        {"geometry": {"coordinates": [x, 0.5]}, "properties": {"timestamp": EIGHT_MS}}
        for x in (lon, 9.0, to)
    ]
    route = {"features": features}
    return {"device_id": "d2", "trip_id": name, "start_time": EIGHT_MS, "route": route}


def test_mds_trips_are_counted_between_their_ends(tmp_path: Path) -> None:
    trips = [
        second_version("a", 0.5, 1.5),
        second_version("a", 0.5, 1.5),  # told twice
        second_version("b", 1.5, 0.5),
        first_version("c", 0.5, 1.5),
        second_version("d", 0.5, 7.0),
        second_version("e", 0.5, 1.5, start_time="soon"),
        second_version("f", 0.5, 1.5, device_id=" "),
    ]
    job = prepare(plan_from(mds_plan(tmp_path, trips), folder=tmp_path))
    assert job.window.clock == "utc"
    assert counted(job) == {("west", "east"): 2, ("east", "west"): 1}
    problems = {
        p.kind: p.count for p in job.rows.check(settings_of(job.plan), notes=False).problems
    }
    assert problems == {
        "null_value": 1,
        "unparsable_time": 1,
        "unknown_place": 1,
        "duplicate_trip_id": 1,
    }


@pytest.mark.parametrize("text", ["{", '{"trips": [{"device_id": "rider-7"}]}', "[7]"])
def test_a_damaged_mds_file_is_refused_without_a_word_of_it(tmp_path: Path, text: str) -> None:
    job = prepare(plan_from(mds_plan(tmp_path, []), folder=tmp_path))
    (tmp_path / "trips.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="MDS file") as caught:
        counted(job)
    assert "rider-7" not in f"{caught.value}{caught.value.advice}"
    assert caught.value.__context__ is None


def tides_plan(folder: Path, taps: list[tuple[str, ...]]) -> dict[str, Any]:
    plan = device_plan(folder, "tides", "fare_transactions.csv")
    with (folder / "fare_transactions.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(FIELDS)
        writer.writerows((f"t{i}", *tap) for i, tap in enumerate(taps))
    return plan


def tap(token: str, clock: str, action: str, stop: str, day: str = "2026-03-02") -> tuple[str, ...]:
    return (day, f"2026-03-02T{clock}", action, stop, token)


TAPS = [
    tap("one", "08:00:00", "Enter", "a"),
    tap("one", "08:01:00", "Purchase", "a"),
    tap("one", "08:20:00", "Transfer exit", "b"),
    tap("one", "08:25:00", "Transfer entrance", "c"),
    tap("one", "08:40:00", "Exit", "d"),
    tap("two", "08:05:00", "Enter", "a"),
    tap("two", "09:05:00", "Enter", "b"),  # the first one has no exit
    tap("two", "09:15:00", "Exit", "c"),
    tap("two", "10:00:00", "Exit", "d"),
    tap("two", "23:50:00", "Enter", "a"),
    tap("two", "00:05:00", "Exit", "b", day="2026-03-03"),  # of another service date
    tap("", "08:00:00", "Enter", "a"),
    tap("", "08:10:00", "Exit", "b"),
]


def test_an_entry_ends_at_the_exit_that_follows_it(tmp_path: Path) -> None:
    job = prepare(plan_from(tides_plan(tmp_path, TAPS), folder=tmp_path))
    assert counted(job) == {("a", "b"): 1, ("c", "d"): 1, ("b", "c"): 1}
    problems = {p.kind: p for p in job.rows.check(settings_of(job.plan), notes=True).problems}
    assert problems["null_value"].count == 3
    assert "'stop_id'" in problems["null_value"].message


def test_an_exit_counts_only_on_days_that_are_charged(tmp_path: Path) -> None:
    """An exit after midnight decides where a trip ends, so its day must be in the ledger."""
    late = [
        ("2026-03-02", "2026-03-02T23:50:00", "Enter", "a", "one"),
        ("2026-03-02", "2026-03-03T00:10:00", "Exit", "b", "one"),
    ]
    plan = tides_plan(tmp_path, late)
    job = prepare(plan_from(plan, folder=tmp_path))
    assert job.window.last_day.isoformat() == "2026-03-02"
    assert counted(job) == {}
    plan["time"] = plan["time"] | {"opens": "04:00", "closes": "28:00"}
    job = prepare(plan_from(plan, folder=tmp_path))
    assert job.window.last_day.isoformat() == "2026-03-03"
    assert counted(job) == {("a", "b"): 1}


def by_hand(taps: list[tuple[str, ...]]) -> Pairs:
    """Walks through the taps of each token and service date, one after the other."""
    pairs: Counter[tuple[str, str]] = Counter()
    for token in {(each[4], each[0]) for each in taps}:
        own = sorted(
            (moment, action == "Enter", stop)
            for day, moment, action, stop, person in taps
            if (person, day) == token
        )
        for (_, enters, stop), (_, again, end) in pairwise(own):
            if enters and not again and stop != end:
                pairs[stop, end] += 1
    return dict(pairs)


def test_random_taps_make_the_trips_that_a_walk_through_them_finds(tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    taps = [
        tap(
            f"k{rng.integers(6)}",
            f"{rng.integers(6, 22):02d}:{5 * rng.integers(12):02d}:00",
            ("Enter", "Exit")[rng.integers(2)],
            "abcd"[rng.integers(4)],
        )
        for _ in range(400)
    ]
    job = prepare(plan_from(tides_plan(tmp_path, taps), folder=tmp_path))
    assert counted(job) == by_hand(taps)


def test_a_release_from_fare_transactions_verifies(tmp_path: Path) -> None:
    job = prepare(plan_from(tides_plan(tmp_path, TAPS), folder=tmp_path))
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        ledger.open_account(job.account, loss_of(Measure.PURE, Fraction(1000)))
    release = publish(job, source=SeededSource(1)).folder
    assert verify(release).intact
    assert (release / "tides" / "station_activities.csv").is_file()


@pytest.mark.parametrize(
    ("table", "change", "word"),
    [
        ("privacy", {"unit": "person"}, 'must be "device"'),
        ("privacy", {"unit": "trip", "max_trips": 1}, 'must be "device"'),
        ("data", {"columns": {"person": "token_id"}}, "names its own columns"),
        ("data", {"clock": "service"}, "belong together"),
        ("data", {"format": "mds"}, "belongs to trips with points"),
        ("data", {"format": "mds", "clock": "local"}, "leave out clock"),
    ],
)
def test_plans_for_standards_say_nothing_that_the_standard_says(
    tmp_path: Path, table: str, change: dict[str, Any], word: str
) -> None:
    plan = tides_plan(tmp_path, TAPS)
    plan[table] |= change
    with pytest.raises(PlanError, match=word):
        plan_from(plan, folder=tmp_path)
