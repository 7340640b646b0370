"""The steward is told what is wrong with traces, kind by kind."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hushway.engine.settings import EngineSettings
from hushway.errors import DataError
from hushway.families.links.city.road_city import road_city
from hushway.families.links.matching.matcher import Matcher
from hushway.families.links.public.universe import LinkUniverse, MovementLimits
from hushway.families.links.rows.check import check_traces
from hushway.families.links.rows.gpx import GpxTraces
from hushway.families.links.rows.rows import TraceColumns, TracesSource
from hushway.tables.check import Policy
from hushway.tables.profile import LimitFound
from support.windows import window

WriteFile = Callable[..., Path]
SETTINGS = EngineSettings(memory_limit="500MB", threads=1)
HEADER = "person,time,lon,lat"
NOON = "2026-03-29T12:00:00"
ROADS = road_city(2, links=1_000)
MATCHER = Matcher(ROADS)
LON, LAT = float(ROADS.node_lon[0]), float(ROADS.node_lat[0])


def universe_of(opens: int = 0) -> LinkUniverse:
    """The clocks go forward on the only day."""
    return LinkUniverse(
        roads=ROADS,
        periods=window(date(2026, 3, 29), zone="Europe/Paris", opens=opens),
        zone=np.zeros(ROADS.links, dtype=np.int64),
        zones=("all",),
    )


def found(
    path: Path, universe: LinkUniverse | None = None, clock: Any = "local", **options: Any
) -> dict[str, int | None]:
    source = TracesSource(path, TraceColumns(), clock=clock)
    problems = check_traces(
        source, universe or universe_of(), Policy(), settings=SETTINGS, matcher=MATCHER, **options
    ).problems
    return {problem.kind: problem.count for problem in problems}


ROWS: list[tuple[Any, ...]] = [
    ("p", NOON, LON, LAT),
    ("p", NOON, LON, LAT),
    ("", NOON, LON, LAT),
    ("p", "", LON, LAT),
    ("p", NOON, "", LAT),
    ("p", NOON, LON, ""),
    ("", "", "", ""),
    ("p", "yesterday", LON, LAT),
    ("p", "2026-03-29T02:30:00", LON, LAT),
    ("p", "2026-03-28T23:59:59", LON, LAT),
    ("p", "2026-03-30T00:00:00", LON, LAT),
    ("p", NOON, 181, LAT),
    ("p", NOON, LON, -91),
    ("p", NOON, "here", LAT),
    ("q", NOON, "nan", LAT),
    ("p", NOON, LON + 1, LAT),
]


def test_every_kind_of_trouble_is_counted(csv_file: WriteFile) -> None:
    path = csv_file(ROWS, header=HEADER)
    expected = {
        "unparsable_time": 1,
        "null_value": 5,
        "impossible_time": 1,
        "impossible_position": 4,
        "unknown_place": 1,
        "outside_window": 2,
    }
    assert found(path, notes=False) == expected
    assert found(path) == {**expected, "duplicate_rows": 1}


def test_hours_without_service_are_outside(csv_file: WriteFile) -> None:
    rows = [("p", f"2026-03-29T{hour}:00:00", LON, LAT) for hour in ("01", "02", "11", "12", "13")]
    path = csv_file(rows, header=HEADER)
    late = found(path, universe_of(opens=12 * 60), notes=False)
    assert late == {"outside_window": 2, "impossible_time": 1}
    assert found(path, notes=False) == {"impossible_time": 1}


def test_instants_are_never_impossible(csv_file: WriteFile) -> None:
    rows = [("p", f"2026-03-29T{hour}:30:00Z", LON, LAT) for hour in ("02", "22")]
    path = csv_file(rows, header=HEADER)
    assert found(path, clock="utc", notes=False) == {"outside_window": 1}


def test_some_trips_are_tried_on_the_roads(csv_file: WriteFile) -> None:
    """One trip along a link, and one that stays some hundred metres beyond the last road."""
    link = int(np.argmax(ROADS.length))
    low, high = ROADS.start[link], ROADS.start[link + 1] - 1
    shares = np.linspace(0.0, 1.0, 6)
    lon = ROADS.lon[low] * (1 - shares) + ROADS.lon[high] * shares
    lat = ROADS.lat[low] * (1 - shares) + ROADS.lat[high] * shares
    times = [f"2026-03-29T12:00:{10 * i:02d}" for i in range(6)]
    on_road = [("p", *row) for row in zip(times, lon.tolist(), lat.tolist(), strict=True)]
    beyond = float(ROADS.lat.max()) + 0.005
    off_road = [("q", time, LON, beyond) for time in times]
    assert found(csv_file(on_road, header=HEADER)) == {}
    told = found(csv_file([*on_road, *off_road], header=HEADER))
    assert told == {"far_from_roads": 6, "trips_off_road": 1}


def along(person: str, link: int, hour: int) -> list[tuple[Any, ...]]:
    """Positions from one end of a link to the other."""
    low, high = ROADS.start[link], ROADS.start[link + 1] - 1
    shares = np.linspace(0.0, 1.0, 6).tolist()
    return [
        (
            person,
            f"2026-03-29T{hour}:00:{10 * i:02d}",
            float(ROADS.lon[low] * (1 - share) + ROADS.lon[high] * share),
            float(ROADS.lat[low] * (1 - share) + ROADS.lat[high] * share),
        )
        for i, share in enumerate(shares)
    ]


def test_the_limit_of_items_is_tried_on_some_people(csv_file: WriteFile) -> None:
    # One person drives along a link in two hours, the other in one: a trip on one link is three
    # items, with its beginning and its end, or more where it touches another link.
    link = int(np.argmax(ROADS.length))
    rows = [*along("p", link, 12), *along("p", link, 13), *along("q", link, 12)]
    source = TracesSource(csv_file(rows, header=HEADER), TraceColumns())
    (once,) = limits_of(source, 1_000)
    assert (once.owners, once.owners_above, once.cut_off) == (2, 0, 0.0)
    # A limit of one keeps one item of each person.
    (tightest,) = limits_of(source, 1)
    assert tightest.owners_above == 2
    every = round(2 / (1 - tightest.cut_off))
    assert every % 3 == 0
    assert every >= 9
    (tight,) = limits_of(source, every // 3)
    assert (tight.owners, tight.owners_above) == (2, 1)
    assert tight.cut_off == pytest.approx(1 / 3)
    assert tight.what == "items of 2 people tried and found on roads"


def limits_of(source: TracesSource, max_items: int) -> tuple[LimitFound, ...]:
    checked = check_traces(
        source,
        universe_of(),
        Policy(),
        settings=SETTINGS,
        matcher=MATCHER,
        limits=MovementLimits(max_items=max_items),
    )
    assert checked.found is not None
    return checked.found.limits


def test_numbers_of_trips_tried_are_named(csv_file: WriteFile) -> None:
    beyond = float(ROADS.lat.max()) + 0.005
    rows = [("q", f"2026-03-29T12:00:{10 * i:02d}", LON, beyond) for i in range(6)]
    source = TracesSource(csv_file(rows, header=HEADER), TraceColumns())
    problems = check_traces(
        source, universe_of(), Policy(), settings=SETTINGS, matcher=MATCHER
    ).problems
    messages = {problem.kind: problem.message for problem in problems}
    assert messages["trips_off_road"].startswith("Of 1 trips tried: ")
    assert "further than 100 m" in messages["far_from_roads"]
    assert all(problem.severity == "note" for problem in problems)


def test_what_the_plan_refuses_comes_first_and_columns_are_named(csv_file: WriteFile) -> None:
    source = TracesSource(csv_file(ROWS, header=HEADER), TraceColumns())
    policy = Policy(unknown_place="refuse", unparsable_time="drop")
    problems = check_traces(
        source, universe_of(), policy, settings=SETTINGS, matcher=MATCHER
    ).problems
    assert [p.kind for p in problems if p.refused] == ["unknown_place"] == [problems[0].kind]
    messages = {p.kind: p.message for p in problems}
    assert messages["null_value"] == "No value for 'person', 'time', 'lon', 'lat'."


def test_other_formats_are_looked_at_likewise(tmp_path: Path) -> None:
    points = "".join(
        f'<trkpt lon="{LON}" lat="{LAT}"><time>{time}</time></trkpt>'
        for time in ("2026-03-29T12:00:00Z", "2026-03-30T12:00:00Z", "noon")
    )
    file = tmp_path / "ann.gpx"
    file.write_text(f"<gpx><trk><trkseg>{points}</trkseg></trk></gpx>", encoding="utf-8")
    problems = check_traces(GpxTraces(file), universe_of(), Policy(), notes=False).problems
    assert {p.kind: p.count for p in problems} == {"unparsable_time": 1, "outside_window": 1}


def test_files_without_positions_are_refused(csv_file: WriteFile) -> None:
    with pytest.raises(DataError, match="The traces are empty"):
        found(csv_file([], header=HEADER))
