"""Counters of visits state the bound they keep, drop what cannot count, and refuse the rest."""

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from hushway.engine.embedded import embedded_session
from hushway.engine.key import BoundingKey
from hushway.engine.reading import read_rows
from hushway.engine.settings import EngineSettings
from hushway.errors import DataError, PrivacyError
from hushway.families.density.job import EventRows
from hushway.families.density.public.cover import Cover, Pieces
from hushway.families.density.public.visits import (
    PERSON_PARTS,
    ActivityHistogram,
    ClusterSeries,
    ClusterTotals,
    DensityUniverse,
    SiteHistogram,
    Sites,
    VisitCells,
    VisitLimits,
    VisitTotal,
)
from hushway.families.density.rows.counter import EngineVisits, EveryVisit, VisitsOfPeople
from hushway.families.density.rows.counts import ArrayVisits
from hushway.families.density.rows.rows import EventColumns, EventsSource, visits_read
from hushway.families.load import plan_from, prepare
from hushway.geography.areas import Area, Areas
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods
from hushway.privacy.bound import Unit
from hushway.privacy.query import Query
from hushway.tables.layout import layout_of
from support.density_towns import exact_visits
from support.little_plans import little_plan, write_little_files

WriteFile = Callable[..., Path]
SETTINGS = EngineSettings(memory_limit="500MB", threads=1)
LIMITS = VisitLimits(max_visits=3, max_visits_in_total=5)
HEADER = "person,location,time"


def universe_of(
    first: date = date(2026, 3, 2), days: int = 1, minutes: int = 360, **periods: Any
) -> DensityUniverse:
    """Three towers whose cells are shared among two areas; the cover is the areas."""
    areas = Areas(
        areas=tuple(
            Area(id=str(i), name="", shape=shapely.box(i, 0.0, i + 1.0, 1.0)) for i in range(2)
        )
    )
    chosen: dict[str, Any] = {"opens": 0, "closes": 1440, "cycle": "window", **periods}
    window = Periods(
        zone="Europe/Paris",
        first_day=first,
        last_day=first + timedelta(days=days - 1),
        minutes=minutes,
        **chosen,
    )
    pieces = Pieces(
        sites=3,
        areas=2,
        site=np.array([0, 1, 1, 2]),
        area=np.array([0, 0, 1, 1]),
        size=np.array([2.0, 1.0, 2.0, 1.0]),
    )
    cover = Cover(
        pieces=pieces,
        is_site=np.zeros(2, np.bool_),
        member=np.arange(2),
        cell=pieces.area,
        centres=np.zeros((2, 2)),
    )
    towers = tuple(
        Location(id=key, name="", lon=0.0, lat=0.0, zone="") for key in ("a", "b", "c", "d")
    )
    sites = Sites(locations=Locations(towers), site=np.array([0, 1, 2, -1]))
    return DensityUniverse(areas=areas, periods=window, sites=sites, cover=cover)


UNIVERSE = universe_of()
KEY = BoundingKey.from_words(range(10**18, 10**18 + BoundingKey.WORDS))


def questions(universe: DensityUniverse, quanta: int = 6) -> dict[str, VisitCells]:
    cluster = np.arange(2)
    return {
        "series": ClusterSeries(universe=universe, cluster=cluster, quanta=quanta),
        "totals": ClusterTotals(universe=universe, cluster=cluster, quanta=quanta),
        "sites": SiteHistogram(universe=universe),
        "circles": SiteHistogram(universe=universe, circles=LIMITS.circles),
        "activity": ActivityHistogram(universe=universe, classes=len(LIMITS.activity)),
        "total": VisitTotal(universe=universe),
    }


def dense(counter: ArrayVisits | EngineVisits, cells: VisitCells) -> list[int]:
    found = counter.count(Query(name="visits", cells=cells))
    values = np.zeros(cells.size, dtype=np.int64)
    values[found.cells] = found.values
    return values.tolist()


def arrays(events: list[tuple[int, int, int]], **changes: Any) -> ArrayVisits:
    person, site, number = np.array(events, dtype=np.int64).reshape(-1, 3).T
    columns: dict[str, Any] = {"person": person, "site": site, "bin": number, **changes}
    return ArrayVisits(universe=UNIVERSE, limits=LIMITS, key=KEY, **columns)


def files(path: Path, universe: DensityUniverse = UNIVERSE, clock: Any = "local") -> EngineVisits:
    return EngineVisits(
        source=EventsSource(path, EventColumns(), clock=clock),
        universe=universe,
        limits=LIMITS,
        key=KEY,
        settings=SETTINGS,
    )


def test_counts_are_parts_of_visits_by_cluster_and_bin() -> None:
    """Site 1 gives a third to area 0 and two thirds to area 1."""
    counter = arrays([(1, 0, 0), (1, 0, 0), (1, 1, 3), (2, 1, 3), (2, 2, 1)])
    cells = questions(UNIVERSE)
    assert dense(counter, cells["series"]) == [6, 0, 0, 4, 0, 6, 0, 8]
    assert dense(counter, cells["totals"]) == [10, 14]
    half = PERSON_PARTS // 2
    assert dense(counter, cells["sites"]) == [half, 2 * half, half]
    assert dense(counter, cells["total"]) == [4]
    assert counter.unit is Unit.PERSON


def test_nobody_counts_nothing() -> None:
    counter = arrays([])
    assert all(not any(dense(counter, cells)) for cells in questions(UNIVERSE).values())


EVENT = st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 3))


@given(events=st.lists(EVENT, max_size=50), leaving=st.integers(0, 3), quanta=st.integers(1, 9))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_one_person_moves_no_answer_beyond_its_bound(
    events: list[tuple[int, int, int]], leaving: int, quanta: int
) -> None:
    whole = arrays(events)
    others = arrays([event for event in events if event[0] != leaving])
    for cells in questions(UNIVERSE, quanta).values():
        moved = np.abs(np.array(dense(whole, cells)) - np.array(dense(others, cells)))
        bound = whole.bound(Query(name="visits", cells=cells))
        assert (moved > 0).sum() <= bound.cells
        assert moved.max() <= bound.each
        assert moved.sum() <= bound.l1 <= bound.total
        assert (moved**2).sum() <= bound.l2_squared


@pytest.mark.parametrize(
    "changes",
    [
        {"site": np.array([3])},
        {"site": np.array([-1])},
        {"bin": np.array([4])},
        {"bin": np.array([0, 1])},
        {"site": np.array([0.0])},
        {"person": np.array([2**63], dtype=np.uint64)},
        {"person": np.array([[1]])},
    ],
)
def test_arrays_that_do_not_fit_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(DataError):
        arrays([(1, 0, 0)], **changes)


@pytest.mark.parametrize("name", ["series", "totals", "sites", "total"])
def test_cells_of_another_universe_are_refused(tmp_path: Path, name: str) -> None:
    own = Query(name="visits", cells=questions(universe_of())[name])
    other = Query(name="visits", cells=questions(universe_of(minutes=120))[name])
    counters: list[ArrayVisits | EngineVisits] = [arrays([]), files(tmp_path / "none.csv")]
    for counter in counters:
        assert counter.bound(own).total > 0
        for ask in (counter.bound, counter.count):
            with pytest.raises(PrivacyError, match="counts other cells"):
                ask(other)


def test_cells_that_are_no_visits_are_refused() -> None:
    with pytest.raises(PrivacyError, match="counts other cells"):
        arrays([]).count(Query(name="visits", cells=UNIVERSE))


def test_events_that_cannot_count_are_dropped_one_by_one(csv_file: WriteFile) -> None:
    noon = "2026-03-02T12:00:00"
    path = csv_file(
        [
            ("p", "a", noon),
            ("p", "", noon),
            ("p", "d", noon),
            ("p", "e", noon),
            ("", "b", noon),
            ("p", "c", ""),
            ("p", "c", "noon"),
            ("p", "c", "2026-03-03T00:00:00"),
            ("p", "c", "2026-03-01T23:59:59"),
        ],
        header=HEADER,
    )
    counter = files(path)
    assert dense(counter, questions(UNIVERSE)["sites"]) == [PERSON_PARTS, 0, 0]
    assert dense(counter, questions(UNIVERSE)["total"]) == [1]
    assert dense(counter, questions(UNIVERSE)["series"]) == [0, 0, 6, 0, 0, 0, 0, 0]


def test_the_hour_that_the_clocks_skip_is_empty(csv_file: WriteFile) -> None:
    universe = universe_of(date(2026, 3, 29), minutes=60)
    rows = [(f"p{hour}", "a", f"2026-03-29T0{hour}:30:00") for hour in range(1, 4)]
    found = dense(files(csv_file(rows, header=HEADER), universe), questions(universe)["series"])
    assert np.flatnonzero(found).tolist() == [1, 3]


def test_the_hour_that_comes_twice_is_one_bin(csv_file: WriteFile) -> None:
    universe = universe_of(date(2026, 10, 25), minutes=60)
    rows = [(f"p{hour}", "a", f"2026-10-25T0{hour}:30:00Z") for hour in range(3)]
    counter = files(csv_file(rows, header=HEADER), universe, "utc")
    found = dense(counter, questions(universe)["series"])
    # 00:30 and 01:30 in UTC are both 02:30 in Paris.
    assert {i: value for i, value in enumerate(found) if value} == {2: 12, 3: 6}
    one = csv_file([("p", *row[1:]) for row in rows], header=HEADER)
    found = dense(files(one, universe, "utc"), questions(universe)["series"])
    assert {i: value for i, value in enumerate(found) if value} == {2: 6, 3: 6}


def test_a_window_without_events_counts_nothing(parquet_file: WriteFile) -> None:
    for person in (pa.array([1, 2]), pa.array(["1", "2"])):
        times = pa.array([0, 1], pa.timestamp("us"))
        path = parquet_file({"person": person, "location": ["a", "b"], "time": times})
        assert dense(files(path), questions(UNIVERSE)["total"]) == [0]


def test_an_open_quote_takes_no_other_row_with_it(csv_file: WriteFile) -> None:
    rows: list[Any] = [(f"p{i}", "a", "2026-03-02T12:00:00") for i in range(5_000)]
    path = csv_file(rows, header=HEADER)
    lines = path.read_text(encoding="utf-8").splitlines()
    hostile = [lines[0], '"secret,a,2026-03-02T12:00:00', *lines[1:], 'secret",a,2026-03-02T12:00']
    path.write_text("\n".join(hostile), encoding="utf-8")
    assert dense(files(path), questions(UNIVERSE)["total"]) == [5_000]


def test_events_of_the_other_kind_are_refused(tmp_path: Path) -> None:
    columns = EventColumns(location=None, lon="lon", lat="lat")
    with pytest.raises(DataError, match="name places and the universe has none, or"):
        EngineVisits(
            source=EventsSource(tmp_path, columns), universe=UNIVERSE, limits=LIMITS, key=KEY
        )


def test_more_cells_than_memory_are_refused() -> None:
    century = universe_of(days=36_000, minutes=1)
    with pytest.raises(DataError, match="pairs of a site and a period"):
        ArrayVisits(
            universe=century,
            limits=LIMITS,
            key=KEY,
            person=np.empty(0, np.int64),
            site=np.empty(0, np.int64),
            bin=np.empty(0, np.int64),
        )


def test_progress_is_told_while_files_are_read(csv_file: WriteFile) -> None:
    told: list[float] = []
    counter = EngineVisits(
        source=EventsSource(
            csv_file([("p", "a", "2026-03-02T12:00:00")], header=HEADER), EventColumns()
        ),
        universe=UNIVERSE,
        limits=LIMITS,
        key=KEY,
        settings=SETTINGS,
        progress=told.append,
    )
    assert dense(counter, questions(UNIVERSE)["total"]) == [1]
    assert all(0.0 <= share <= 1.0 for share in told)


def test_malformed_rows_far_down_a_stream_are_dropped(csv_file: WriteFile) -> None:
    rows: list[Any] = [("secret", "a", "2026-03-02T12:00:00")] * 200_000
    path = csv_file([*rows, ("secret", "a", "2026-03-02", "x", "y"), rows[0]], header=HEADER)
    source = EventsSource(path, EventColumns())
    with embedded_session(SETTINGS) as session:
        batches = session.stream_by(2_048, read_rows(session, layout_of(source), "local"))
        assert sum(batch.num_rows for batch in batches) == 200_001
        assert session.malformed_rows() == 1


def test_in_a_typical_week_all_weeks_of_the_window_are_one(csv_file: WriteFile) -> None:
    week = universe_of(days=60, minutes=1440, cycle="week")
    assert week.bins == 7
    # The second of March 2026 was a Monday. The same tower on five Mondays, then on a Sunday.
    mondays = [(1, "a", f"{date(2026, 3, 2) + timedelta(weeks=i)}T08:00:00") for i in range(5)]
    rows = [*mondays, (1, "a", "2026-03-15T23:00:00")]
    counter = files(csv_file(rows, header=HEADER), week)
    series = np.array(dense(counter, questions(week)["series"])).reshape(2, 7)
    assert series[0].tolist() == [6, 0, 0, 0, 0, 0, 6]
    assert dense(counter, questions(week)["total"]) == [2]


def test_the_bound_of_a_typical_week_holds_over_the_whole_window(csv_file: WriteFile) -> None:
    week = universe_of(days=60, minutes=1440, cycle="week")
    days = [date(2026, 3, 2) + timedelta(days=i) for i in range(60)]
    rows = [(person, "a", f"{day}T08:00:00") for person in (7, 8) for day in days]
    counter = files(csv_file(rows, header=HEADER), week)
    series = np.array(dense(counter, questions(week)["series"]))
    assert series.sum() == 2 * LIMITS.max_visits * 6
    assert series.max() <= 2 * 6
    assert sum(dense(counter, questions(week)["sites"])) == 2 * PERSON_PARTS
    assert dense(counter, questions(week)["total"]) == [2 * LIMITS.max_visits_in_total]


def test_people_are_told_apart_by_how_busy_they_are() -> None:
    # One person with a single visit, and one in four bins: beyond the three that count.
    events = [(1, 0, 0), (1, 0, 0), *((2, 2, number) for number in range(4))]
    counter = arrays(events)
    assert LIMITS.activity[:4].tolist() == [1, 2, 3, 4]
    activity = dense(counter, questions(UNIVERSE)["activity"])
    assert (activity[0], activity[3], sum(activity)) == (1, 1, 2)
    circles = np.array(dense(counter, questions(UNIVERSE)["circles"])).reshape(-1, 3)
    assert circles[:2].tolist() == [[PERSON_PARTS, 0, 0], [0, 0, PERSON_PARTS]]
    assert not circles[2:].any()
    assert dense(counter, questions(UNIVERSE)["sites"]) == [PERSON_PARTS, 0, PERSON_PARTS]


@pytest.mark.parametrize(
    "cells",
    [
        SiteHistogram(universe=UNIVERSE, circles=LIMITS.circles + 1),
        ActivityHistogram(universe=UNIVERSE, classes=len(LIMITS.activity) - 1),
    ],
)
def test_classes_of_other_limits_are_refused(cells: VisitCells) -> None:
    with pytest.raises(PrivacyError, match="other classes of activity"):
        dense(arrays([(1, 0, 0)]), cells)


@pytest.mark.parametrize("ids", ["text", "numbers"])
def test_everybody_counts_once_at_each_site_in_a_period(tmp_path: Path, ids: str) -> None:
    write_little_files(tmp_path)
    path = tmp_path / "events.csv"
    lines = path.read_text("utf-8").splitlines()
    # Every row twice, which is one visit all the same.
    rows = [line.removeprefix("p" if ids == "numbers" else "") for line in [*lines, *lines[1:]]]
    path.write_text("\n".join([lines[0], *rows[1:]]) + "\n", "utf-8")
    job = prepare(plan_from(little_plan("density"), folder=tmp_path))
    universe, source = job.geography, job.rows
    assert isinstance(universe, DensityUniverse)
    assert isinstance(source, EventRows)
    part = EveryVisit(universe=universe)
    settings = EngineSettings(threads=1)
    with embedded_session(settings) as session:
        found = session.count(visits_read(session, source.source, universe), part)
    with embedded_session(settings) as session:
        everybody = VisitsOfPeople(universe=universe)
        people = session.count(visits_read(session, source.source, universe), everybody)
    number = np.arange(36)
    areas = {key: position for position, key in enumerate(universe.areas.ids)}
    places = ("-8.6/41.1", "-8.59/41.1", "-8.6/41.11", "-8.59/41.11")
    site = np.array([areas[places[i % 4]] for i in number])
    expected = exact_visits(number % 6, site, number % 20 // 12, universe.site_count, 2)
    by_bin = expected.T.ravel()
    assert np.array_equal(found.cells, np.flatnonzero(by_bin))
    assert np.array_equal(found.values, by_bin[found.cells])
    assert part.counted(part.sums(found)) is found
    # All six people are at two places in each half of the day.
    assert dict(zip(people.cells, people.values, strict=True)) == {4: 6}
