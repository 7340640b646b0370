"""Ids that many people share are noticed; the busiest people of real-looking cities are not."""

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.engine.embedded import EmbeddedSession, embedded_session
from hushway.engine.row_checks import (
    FEWEST_TORN,
    MOST_A_DAY,
    TIMES_USUAL,
    first_row,
    ids_in_two_places,
    ids_with_too_many,
)
from hushway.engine.settings import EngineSettings
from hushway.families.density.city.city import write_events
from hushway.families.density.city.paris import paris
from hushway.families.density.public.geometry import density_universe
from hushway.families.density.rows.check import check_events
from hushway.families.density.rows.rows import EventColumns, EventsSource
from hushway.families.links.city.road_city import road_city
from hushway.families.links.city.simulate import simulate_traces
from hushway.families.links.city.traces_city import write_traces
from hushway.families.links.public.universe import LinkUniverse
from hushway.families.links.rows.check import check_traces
from hushway.families.links.rows.rows import TraceColumns, TracesSource
from hushway.families.od.city.ann_arbor import ann_arbor
from hushway.families.od.city.files import write_trips
from hushway.families.od.rows.check import check_trips
from hushway.families.od.rows.trips import TripColumns, TripsSource
from hushway.families.sequences.city.cards import bus
from hushway.families.sequences.city.city import write_taps
from hushway.families.sequences.rows.check import check_sequences, check_taps
from hushway.families.sequences.rows.sequences import (
    SequenceColumns,
    SequenceRule,
    SequencesSource,
    TapColumns,
    TapsSource,
)
from hushway.geography.periods import Periods
from hushway.privacy.bound import Unit
from hushway.tables.check import Policy, Problem
from support.windows import window as days_window

SMALL = EngineSettings(memory_limit="500MB", threads=1)
DAY_US = 86_400_000_000
SECOND_US = 1_000_000
ROADS = road_city(2, links=1_000)
LATITUDE = float(ROADS.lat.min() + ROADS.lat.max()) / 2


@pytest.fixture
def session() -> Iterator[EmbeddedSession]:
    with embedded_session(SMALL) as opened:
        yield opened


def rows_of(session: EmbeddedSession, busy: int, *, usual: int = 1, days: int = 1) -> Any:
    """Two hundred persons with the usual number of rows, and a busy one on so many days."""
    person = np.repeat(np.arange(201), [busy, *[usual] * 200])
    us = np.zeros(len(person), dtype=np.int64)
    us[1:busy] = (days - 1) * DAY_US + 7
    session.backend.con.register("rows_arrow", pa.table({"person": person, "us": us}))
    return session.table("rows_arrow")


@pytest.mark.parametrize(
    ("busy", "usual", "days", "shared"),
    [
        (MOST_A_DAY + 1, 1, 1, 1),
        (MOST_A_DAY, 1, 1, 0),
        (MOST_A_DAY + 1, 1, 2, 0),
        (2 * MOST_A_DAY, 1, 2, 0),
        (2 * MOST_A_DAY + 1, 1, 2, 1),
        (TIMES_USUAL * 50 + 1, 50, 1, 1),
        (TIMES_USUAL * 50, 50, 1, 0),
    ],
)
def test_an_id_looks_shared_if_it_has_too_many_rows_for_a_person_and_for_these_data(
    session: EmbeddedSession, busy: int, usual: int, days: int, shared: int
) -> None:
    found = ids_with_too_many(session, rows_of(session, busy, usual=usual, days=days))
    assert found == {
        "shared_ids": busy * shared,
        "shared_number": shared,
        "rows_with_id": busy + 200 * usual,
    }


def test_no_rows_have_no_shared_ids(session: EmbeddedSession) -> None:
    rows = rows_of(session, 1).limit(0)
    assert set(ids_with_too_many(session, rows).values()) == {0}


def positions_of(session: EmbeddedSession, torn: int, whole: int, metres: float) -> Any:
    """One id with moments in two places that far apart, and others in one place."""
    moments = np.repeat(np.arange(torn + whole), 2)
    second = np.arange(len(moments)) % 2 == 1
    lat = float(ROADS.lat.mean()) + np.where(second & (moments < torn), metres / 111_195, 0.0)
    table = {
        "person": np.zeros(len(moments), dtype=np.int64),
        "since_us": (10 * moments + 9 * second) * SECOND_US,
        "lon": np.full(len(moments), float(ROADS.lon.mean())),
        "lat": lat,
    }
    session.backend.con.register("positions_arrow", pa.table(table))
    return session.table("positions_arrow")


@pytest.mark.parametrize(
    ("torn", "whole", "metres", "shared"),
    [
        (FEWEST_TORN, 0, 1_010.0, 1),
        (FEWEST_TORN - 1, 0, 1_010.0, 0),
        (FEWEST_TORN, 0, 990.0, 0),
        (FEWEST_TORN, 19 * FEWEST_TORN, 1_010.0, 1),
        (FEWEST_TORN, 19 * FEWEST_TORN + 1, 1_010.0, 0),
    ],
)
def test_an_id_looks_shared_if_it_is_often_in_two_places_at_once(
    session: EmbeddedSession, torn: int, whole: int, metres: float, shared: int
) -> None:
    rows = positions_of(session, torn, whole, metres)
    assert ids_in_two_places(session, rows, LATITUDE)["shared_number"] == shared


@pytest.mark.parametrize(("metres", "shared"), [(1_010.0, 1), (990.0, 0)])
def test_places_east_and_west_of_each_other_are_told_apart_as_well(
    session: EmbeddedSession, metres: float, shared: int
) -> None:
    rows = positions_of(session, FEWEST_TORN, 0, 0.0)
    east = metres / 111_195 / float(np.cos(np.radians(LATITUDE)))
    later = rows.since_us % (10 * SECOND_US) > 0
    aside = rows.mutate(lon=rows.lon + later.ifelse(east, 0.0))
    assert ids_in_two_places(session, aside, LATITUDE)["shared_number"] == shared


def trips_of_a_city(folder: Path) -> tuple[Path, str, Callable[[], tuple[Problem, ...]]]:
    city, path = ann_arbor(seed=1), folder / "trips.parquet"
    write_trips(city, path)
    source = TripsSource(path, TripColumns(person="rider", time="departed_at"))
    return path, "rider", lambda: check_trips(source, city.cells, Policy(), settings=SMALL).problems


def taps_of_a_city(folder: Path) -> tuple[Path, str, Callable[[], tuple[Problem, ...]]]:
    city, path = bus(1, records=10_000), folder / "taps.parquet"
    write_taps(city, path)
    window = Periods(
        zone=city.zone, first_day=city.day, last_day=city.day, opens=0, closes=1440, minutes=60
    )
    rule = SequenceRule(max_stops=12, window=window)
    source = TapsSource(path, TapColumns(location="place"))
    return (
        path,
        "person",
        lambda: check_taps(source, city.locations, rule, Policy(), settings=SMALL).problems,
    )


def calls_of_a_city(folder: Path) -> tuple[Path, str, Callable[[], tuple[Problem, ...]]]:
    city, path = paris(1, people=20_000, towers=40, areas=20), folder / "calls.parquet"
    write_events(city, path)
    periods = days_window(city.first_day, city.last_day, zone=city.zone, cycle="window")
    universe = density_universe(city.areas, periods, city.towers)
    source = EventsSource(path, EventColumns(location="tower"))
    return path, "person", lambda: check_events(source, universe, Policy(), settings=SMALL).problems


def with_a_shared_id(path: Path, column: str) -> None:
    """Gives the rows of one in fifty ids of nobody in particular, 2 % of all, to a single id."""
    table = pq.read_table(path)
    place = table.schema.get_field_index(column)
    person = table[column].to_pylist()
    ids = sorted(set(person))
    chosen = set(np.random.default_rng(1).choice(ids, len(ids) // 50, replace=False).tolist())
    shared = [ids[0] if one in chosen else one for one in person]
    pq.write_table(table.set_column(place, column, pa.array(shared)), path)


@pytest.mark.parametrize("city", [trips_of_a_city, taps_of_a_city, calls_of_a_city])
def test_nobody_of_a_city_looks_shared_but_an_id_with_one_row_in_fifty_does(
    city: Callable[[Path], Any], tmp_path: Path
) -> None:
    path, column, check = city(tmp_path)
    assert "shared_ids" not in {problem.kind for problem in check()}

    with_a_shared_id(path, column)
    (problem,) = (one for one in check() if one.kind == "shared_ids")
    rows = pq.read_metadata(path).num_rows
    assert problem.severity == "note"
    assert problem.count is not None
    assert 0.01 * rows < problem.count < 0.03 * rows
    assert "shared by many people: 1, with " in problem.message
    share = float(problem.message.split("with ")[1].split(" %")[0])
    assert share == pytest.approx(100 * problem.count / rows, rel=0.02)
    assert "counts as one person" in problem.advice
    assert "protected only together" in problem.advice


def test_no_device_of_a_city_looks_shared_but_one_id_for_one_in_fifty_does(tmp_path: Path) -> None:
    city, path = simulate_traces(road_city(2, links=3_000), 1, people=2_000), tmp_path / "t.parquet"
    write_traces([city], path)

    def found() -> dict[str, int]:
        table = pq.read_table(path)
        time_us = table["time"].cast(pa.timestamp("us")).cast(pa.int64())
        columns = {name: table[name] for name in ("person", "lon", "lat")} | {"since_us": time_us}
        with embedded_session(SMALL) as session:
            session.backend.con.register("positions_arrow", pa.table(columns))
            return ids_in_two_places(
                session, session.table("positions_arrow"), float(city.roads.lat.mean())
            )

    assert found()["shared_number"] == 0
    with_a_shared_id(path, "person")
    shared = found()
    assert shared["shared_number"] == 1
    assert 0.01 < shared["shared_ids"] / shared["rows_with_id"] < 0.03


def test_the_check_of_traces_tells_of_ids_in_two_places(tmp_path: Path) -> None:
    periods = days_window(date(2026, 3, 29))
    zone = np.zeros(ROADS.links, dtype=np.int64)
    universe = LinkUniverse(roads=ROADS, periods=periods, zone=zone, zones=("all",))
    north, lon = float(ROADS.lat.max()), float(ROADS.lon.mean())
    lines = ["person,time,lon,lat"]
    for moment in range(FEWEST_TORN):
        at = f"2026-03-29T12:{moment:02d}:0"
        lines += [f"ANON,{at}1,{lon},{north}", f"ANON,{at}2,{lon},{north - 0.02}"]
    path = tmp_path / "traces.csv"
    path.write_text("\n".join([*lines, f"p,2026-03-29T12:00:00,{lon},{north}"]), encoding="utf-8")
    source = TracesSource(path, TraceColumns())

    def kinds(**how: Any) -> dict[str, Problem]:
        found = check_traces(source, universe, Policy(), settings=SMALL, **how).problems
        return {problem.kind: problem for problem in found}

    problem = kinds()["shared_ids"]
    assert problem.count == 2 * FEWEST_TORN
    assert "two places at once" in problem.message
    assert "ANON" not in problem.message + problem.advice
    assert "shared_ids" not in kinds(notes=False)


def sequences_in(folder: Path) -> SequencesSource:
    """One person with 150 sequences, 300 with one each."""
    path = folder / "sequences.csv"
    lines = ["person,stops", *["ANON,1 2 3"] * 150, *(f"p{i},1 2" for i in range(300))]
    path.write_text("\n".join(lines), encoding="utf-8")
    return SequencesSource(path, SequenceColumns(person="person"))


def test_an_id_with_too_many_ready_sequences_looks_shared(tmp_path: Path) -> None:
    source, rule = sequences_in(tmp_path), SequenceRule(max_stops=3)
    locations = ann_arbor(seed=1).cells.locations

    def kinds(**how: Any) -> dict[str, Problem]:
        found = check_sequences(source, locations, rule, Policy(), settings=SMALL, **how).problems
        return {problem.kind: problem for problem in found}

    problem = kinds()["shared_ids"]
    assert problem.count == 150
    assert "ANON" not in problem.message + problem.advice
    assert "33.3 %" in problem.message
    assert "shared_ids" not in kinds(notes=False)
    assert "shared_ids" not in kinds(unit=Unit.TRIP)


@pytest.mark.parametrize("how", [{"notes": False}, {"unit": Unit.TRIP}], ids=str)
def test_ids_are_not_looked_at_without_notes_or_where_they_do_not_matter(
    how: dict[str, Any], tmp_path: Path
) -> None:
    path, column, _ = trips_of_a_city(tmp_path)
    with_a_shared_id(path, column)
    source = TripsSource(path, TripColumns(person="rider", time="departed_at"))
    found = check_trips(source, ann_arbor(seed=1).cells, Policy(), settings=SMALL, **how).problems
    assert "shared_ids" not in {problem.kind for problem in found}


def test_trips_without_a_column_of_persons_have_no_shared_ids(tmp_path: Path) -> None:
    path, _, _ = trips_of_a_city(tmp_path)
    source = TripsSource(path, TripColumns(person=None, time="departed_at"))
    found = check_trips(source, ann_arbor(seed=1).cells, Policy(), settings=SMALL).problems
    assert "shared_ids" not in {problem.kind for problem in found}


def test_a_sum_over_no_rows_is_nothing() -> None:
    assert first_row({"rows": np.array([7]), "sum": np.array([np.nan])}) == {"rows": 7, "sum": 0}
