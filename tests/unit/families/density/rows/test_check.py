"""The steward is told what is wrong with events, kind by kind."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import shapely

from hushway.engine.settings import EngineSettings
from hushway.errors import DataError
from hushway.families.density.public.cover import Cover, Pieces
from hushway.families.density.public.visits import DensityUniverse, Sites, VisitLimits
from hushway.families.density.rows.check import check_events
from hushway.families.density.rows.rows import EventColumns, EventsSource
from hushway.geography.areas import Area, Areas
from hushway.geography.locations import Location, Locations
from hushway.tables.check import Policy, RowsChecked
from support.windows import window

WriteFile = Callable[..., Path]
SETTINGS = EngineSettings(memory_limit="500MB", threads=1)
HEADER = "person,location,time"
POSITIONS = EventColumns(location=None, lon="lon", lat="lat")
NOON = "2026-03-29T12:00:00"


def universe_of(*, positions: bool = False, opens: int = 0) -> DensityUniverse:
    """Two squares; the tower 9 is left out. The clocks go forward on the only day."""
    every = np.arange(2)
    pieces = Pieces(sites=2, areas=2, site=every, area=every, size=np.ones(2))
    towers = tuple(Location(id=k, name="", lon=0.0, lat=0.0, zone="") for k in ("7", "8", "9"))
    sites = Sites(locations=Locations(towers), site=np.array([0, 1, -1]))
    return DensityUniverse(
        areas=Areas(
            areas=tuple(
                Area(id=str(i), name="", shape=shapely.box(i, 0.0, i + 1.0, 1.0)) for i in range(2)
            )
        ),
        periods=window(date(2026, 3, 29), zone="Europe/Paris", opens=opens, cycle="window"),
        sites=None if positions else sites,
        cover=Cover(
            pieces=pieces,
            is_site=np.zeros(2, np.bool_),
            member=every,
            cell=every,
            centres=np.zeros((2, 2)),
        ),
    )


def found(path: Path, universe: DensityUniverse, **options: Any) -> dict[str, int | None]:
    columns = EventColumns() if universe.sites is not None else POSITIONS
    clock = options.pop("clock", "local")
    source = EventsSource(path, columns, clock=clock)
    problems = check_events(source, universe, Policy(), settings=SETTINGS, **options).problems
    return {problem.kind: problem.count for problem in problems}


ROWS = [
    ("p", "7", NOON),
    ("p", "7", NOON),
    ("", "7", NOON),
    ("p", "", NOON),
    ("p", "7", ""),
    ("", "", ""),
    ("p", "9", NOON),
    ("p", "5", NOON),
    ("p", "5", "2026-03-30T00:00:00"),
    ("p", "8", "2026-03-28T23:59:59"),
    ("p", "8", "yesterday"),
    ("p", "8", "2026-03-29T02:30:00"),
]


def test_every_kind_of_trouble_is_counted(csv_file: WriteFile) -> None:
    path = csv_file(ROWS, header=HEADER)
    expected = {
        "unparsable_time": 1,
        "null_value": 4,
        "impossible_time": 1,
        "unknown_place": 3,
        "outside_window": 2,
    }
    assert found(path, universe_of(), notes=False) == expected
    assert found(path, universe_of()) == {**expected, "duplicate_rows": 1}


def test_hours_without_service_are_outside(csv_file: WriteFile) -> None:
    rows = [("p", "7", f"2026-03-29T{hour}:00:00") for hour in ("01", "02", "11", "12", "13")]
    path = csv_file(rows, header=HEADER)
    late = found(path, universe_of(opens=12 * 60))
    assert late == {"outside_window": 2, "impossible_time": 1}
    assert found(path, universe_of()) == {"impossible_time": 1}


def test_instants_are_never_impossible(csv_file: WriteFile) -> None:
    rows = [("p", "7", "2026-03-29T02:30:00Z"), ("p", "7", "2026-03-29T22:30:00Z")]
    path = csv_file(rows, header=HEADER)
    assert found(path, universe_of(), clock="utc") == {"outside_window": 1}


def test_numbers_are_compared_with_places(parquet_file: WriteFile) -> None:
    columns = {
        "person": pa.array([1, None, 3]),
        "location": pa.array([7, 8, 10]),
        "time": pa.array(["2026-03-29T12:00:00"] * 3),
    }
    assert found(parquet_file(columns), universe_of()) == {"null_value": 1, "unknown_place": 1}


def test_positions_are_looked_at(csv_file: WriteFile) -> None:
    positions = [
        ("0.5", "0.5"),
        ("0.5", "1.5"),
        ("2.0001", "0.5"),
        ("181", "0.5"),
        ("0.5", "-90.5"),
        ("nan", "0.5"),
        ("here", "0.5"),
        ("", "0.5"),
        ("0.5", ""),
    ]
    rows = [("p", *position, NOON) for position in positions]
    path = csv_file(rows, header="person,lon,lat,time")
    assert found(path, universe_of(positions=True), notes=False) == {
        "null_value": 2,
        "impossible_position": 4,
        "unknown_place": 2,
    }


def test_what_the_plan_refuses_comes_first_and_columns_are_named(csv_file: WriteFile) -> None:
    source = EventsSource(csv_file(ROWS, header=HEADER), EventColumns())
    policy = Policy(unknown_place="refuse", unparsable_time="drop")
    problems = check_events(source, universe_of(), policy, settings=SETTINGS).problems
    assert [p.kind for p in problems if p.refused] == ["unknown_place"] == [problems[0].kind]
    messages = {p.kind: p.message for p in problems}
    assert messages["null_value"] == "No value for 'person', 'location', 'time'."
    assert "same person, location, time" in messages["duplicate_rows"]


def test_a_file_in_another_encoding_is_not_called_empty(tmp_path: Path) -> None:
    file = tmp_path / "events.csv"
    file.write_bytes(f"{HEADER}\np,Évora,{NOON}\n".encode("latin-1"))
    with pytest.raises(DataError, match="Not one line of the events can be read") as refused:
        found(file, universe_of())
    assert "windows-1252" in str(refused.value.advice)


def test_files_without_events_are_refused(csv_file: WriteFile) -> None:
    for positions, header in ((False, HEADER), (True, "person,lon,lat,time")):
        with pytest.raises(DataError, match="The events are empty"):
            found(csv_file([], header=header), universe_of(positions=positions))


def test_clean_events_have_no_problems(csv_file: WriteFile) -> None:
    assert found(csv_file([("p", "7", NOON)], header=HEADER), universe_of()) == {}


def test_both_limits_are_said_by_what_they_limit(csv_file: WriteFile) -> None:
    # One person at two places in one hour, and at one of them in the next; another one once.
    rows = [
        ("p", "7", NOON),
        ("p", "7", NOON),
        ("p", "8", NOON),
        ("p", "7", "2026-03-29T13:00:00"),
        ("q", "7", NOON),
    ]
    source = EventsSource(csv_file(rows, header=HEADER), EventColumns())
    limits = VisitLimits(max_visits=1, max_visits_in_total=2)
    checked = check_events(source, universe_of(), Policy(), settings=SETTINGS, limits=limits)
    assert limits_of(checked) == {
        "max_visits": (1, 1, 2, pytest.approx(1 / 3)),
        "max_visits_in_total": (2, 1, 2, pytest.approx(1 / 4)),
    }


def test_positions_are_visits_of_areas(csv_file: WriteFile) -> None:
    rows = [
        ("p", "0.5", "0.5", NOON),
        ("p", "1.5", "0.5", NOON),
        ("p", "0.5", "1.5", NOON),
        ("q", "0.5", "0.5", NOON),
    ]
    source = EventsSource(csv_file(rows, header="person,lon,lat,time"), POSITIONS)
    limits = VisitLimits(max_visits=1, max_visits_in_total=1)
    checked = check_events(
        source, universe_of(positions=True), Policy(), settings=SETTINGS, limits=limits
    )
    # The third position lies in no area.
    assert limits_of(checked) == {
        "max_visits": (1, 0, 2, 0.0),
        "max_visits_in_total": (1, 1, 2, pytest.approx(1 / 3)),
    }


def limits_of(checked: RowsChecked) -> dict[str, tuple[int, int, int, float]]:
    assert checked.found is not None
    return {
        limit.option: (limit.limit, limit.owners_above, limit.owners, limit.cut_off)
        for limit in checked.found.limits
    }
