"""Counters of movements keep the bound they state, drop what cannot count, and refuse the rest."""

import gzip
import json
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushway.engine.key import BoundingKey
from hushway.engine.settings import EngineSettings
from hushway.errors import DataError, PrivacyError
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.public.universe import (
    LinkUniverse,
    MovementCells,
    MovementLimits,
    MovementQueryCells,
    SpeedSums,
)
from hushway.families.links.rows.bounding import ArrayMovements
from hushway.families.links.rows.gpx import GpxTraces
from hushway.families.links.rows.movements import TraceMovements
from hushway.families.links.rows.rows import AnyTraces, MdsTraces, TraceColumns, TracesSource
from hushway.geography.periods import Periods
from hushway.privacy.bound import Unit
from hushway.privacy.query import Query

WriteFile = Callable[..., Path]
SETTINGS = EngineSettings(memory_limit="500MB", threads=1)
HEADER = "person,time,lon,lat"
KEY = BoundingKey.from_words(range(10**18, 10**18 + BoundingKey.WORDS))
LINK = 0.002  # degrees of longitude: 222.6 m on the equator
METRES = 222.639
DAY = datetime(2026, 3, 2, tzinfo=UTC)


def street(links: int, speed: float = 40.0) -> RoadNetwork:
    """A one-way street along the equator, in links of about 223 m, with nodes at its joints."""
    nodes = np.arange(links + 1)
    every = np.arange(links)
    course = np.stack([every, every + 1], axis=1).ravel() * LINK
    return RoadNetwork(
        node_id=nodes.astype(np.str_),
        node_lon=nodes * LINK,
        node_lat=np.zeros(links + 1),
        link_id=every.astype(np.str_),
        tail=every.copy(),
        head=every + 1,
        length=np.full(links, METRES),
        speed=np.full(links, speed),
        lanes=np.ones(links),
        road_class=np.full(links, 3),
        street=every.copy(),
        name=np.full(links, "", dtype=np.str_),
        start=2 * np.arange(links + 1),
        lon=course,
        lat=np.zeros(2 * links),
    )


def universe_of(
    links: int = 12, first: date = date(2026, 3, 2), minutes: int = 720, **periods: Any
) -> LinkUniverse:
    chosen: dict[str, Any] = {"opens": 0, "closes": 1440, "cycle": "window", **periods}
    return LinkUniverse(
        roads=street(links),
        periods=Periods(
            zone="Europe/Paris", first_day=first, last_day=first, minutes=minutes, **chosen
        ),
        zone=np.zeros(links, dtype=np.int64),
        zones=("all",),
    )


UNIVERSE = universe_of()
LIMITS = MovementLimits(max_items=4, speed_steps=3)
ALL = MovementLimits(max_items=1_000)


def drive(
    first: int, last: int, begin: datetime, *, kmh: float = 40.0, interval: float = 10.0
) -> list[tuple[datetime, float]]:
    """Times and longitudes of a drive from the middle of a link to the middle of another."""
    speed = kmh / 3.6
    metres = np.arange((first + 0.5) * METRES, (last + 0.5) * METRES, speed * interval)
    return [
        (begin + timedelta(seconds=interval * i), float(each) / METRES * LINK)
        for i, each in enumerate(metres)
    ]


def rows_of(person: Any, trip: list[tuple[datetime, float]]) -> list[tuple[Any, ...]]:
    return [(person, time.strftime("%Y-%m-%dT%H:%M:%S.%f"), lon, 0.0) for time, lon in trip]


def traces(
    source: AnyTraces | Path,
    universe: LinkUniverse = UNIVERSE,
    limits: MovementLimits = ALL,
    **options: Any,
) -> TraceMovements:
    if isinstance(source, Path):
        source = TracesSource(source, TraceColumns())
    return TraceMovements(
        source=source, universe=universe, limits=limits, key=KEY, settings=SETTINGS, **options
    )


def dense(counter: ArrayMovements | TraceMovements, cells: MovementQueryCells) -> list[int]:
    found = counter.count(Query(name="movements", cells=cells))
    values = np.zeros(cells.size, dtype=np.int64)
    values[found.cells] = found.values
    return values.tolist()


def occupied(counter: ArrayMovements | TraceMovements, universe: LinkUniverse) -> dict[str, int]:
    """Counts by a readable name of each cell: period, kind and number."""
    links, nodes = universe.roads.links, universe.roads.nodes
    found = {}
    for cell, count in enumerate(dense(counter, MovementCells(universe=universe))):
        period, item = divmod(cell, universe.items)
        if count:
            kind, number = (
                ("link", item)
                if item < links
                else ("begin", item - links)
                if item < links + nodes
                else ("end", item - links - nodes)
            )
            found[f"{period} {kind} {number}"] = count
    return found


def test_links_beginnings_and_ends_are_counted_once_for_each_person(csv_file: WriteFile) -> None:
    morning = drive(2, 5, DAY + timedelta(hours=8))
    again = drive(2, 4, DAY + timedelta(hours=9))
    rows = [*rows_of("p", morning), *rows_of("p", again), *rows_of("q", morning)]
    counter = traces(csv_file(rows, header=HEADER))
    assert occupied(counter, UNIVERSE) == {
        "0 link 2": 2,
        "0 link 3": 2,
        "0 link 4": 2,
        "0 link 5": 2,
        "0 begin 2": 2,
        "0 end 6": 2,
        "0 end 5": 1,
    }
    assert counter.unit is Unit.PERSON


def test_a_link_belongs_to_the_period_in_which_it_was_entered(csv_file: WriteFile) -> None:
    # 50 seconds before noon on the middle of link 2; a link takes 20 seconds.
    trip = drive(2, 6, DAY + timedelta(hours=12, seconds=-55))
    found = occupied(traces(csv_file(rows_of("p", trip), header=HEADER)), UNIVERSE)
    assert found == {
        "0 link 2": 1,
        "0 link 3": 1,
        "0 link 4": 1,
        "0 link 5": 1,
        "1 link 6": 1,
        "0 begin 2": 1,
        "1 end 7": 1,
    }


def test_speeds_are_steps_from_the_usual_one_where_a_link_was_driven_whole(
    csv_file: WriteFile,
) -> None:
    """50 km/h where 40 are usual: two steps of 5; the ends are driven only in part."""
    rows = rows_of("p", drive(2, 6, DAY, kmh=50.4, interval=5.0))
    counter = traces(csv_file(rows, header=HEADER))
    sums = dense(counter, SpeedSums(universe=UNIVERSE))
    assert sums[:12] == [0, 0, 0, 2, 2, 2, 0, 0, 0, 0, 0, 0]
    slow = rows_of("p", drive(2, 6, DAY, kmh=5.0, interval=5.0))
    cut = traces(csv_file(slow, header=HEADER), limits=MovementLimits(max_items=99))
    # 35 km/h less would be 7 steps; 6 is the most.
    assert dense(cut, SpeedSums(universe=UNIVERSE))[3:6] == [-6, -6, -6]


def test_the_first_traversal_of_a_period_tells_the_speed(csv_file: WriteFile) -> None:
    fast, slow = (drive(2, 4, DAY + timedelta(hours=h), kmh=k) for h, k in ((8, 50.4), (9, 20.0)))
    rows = [*rows_of("p", slow), *rows_of("p", fast)]
    for some in (rows, rows[::-1]):
        counter = traces(csv_file(some, header=HEADER))
        assert dense(counter, SpeedSums(universe=UNIVERSE))[3] == 2


def test_a_person_with_hundreds_of_links_counts_with_few(csv_file: WriteFile) -> None:
    universe = universe_of(links=500)
    limits = MovementLimits(max_items=20)
    path = csv_file(rows_of("p", drive(0, 499, DAY, kmh=90.0)), header=HEADER)
    assert sum(dense(traces(path, universe), MovementCells(universe=universe))) == 502
    counter = traces(path, universe, limits)
    assert sorted(set(dense(counter, MovementCells(universe=universe)))) == [0, 1]
    assert sum(dense(counter, MovementCells(universe=universe))) == 20
    sums = np.abs(dense(counter, SpeedSums(universe=universe)))
    assert (sums > 0).sum() <= 20
    assert sums.max() <= 6


def test_a_hundred_trips_from_one_home_are_one_person(csv_file: WriteFile) -> None:
    begin = [DAY + timedelta(minutes=6 * i) for i in range(100)]
    rows = [row for i, each in enumerate(begin) for row in rows_of("p", drive(3, 4 + i % 7, each))]
    counter = traces(csv_file(rows, header=HEADER))
    found = occupied(counter, UNIVERSE)
    assert found["0 begin 3"] == 1
    assert set(found.values()) == {1}
    few = traces(csv_file(rows, header=HEADER), limits=LIMITS)
    assert sum(occupied(few, UNIVERSE).values()) == LIMITS.max_items


def test_ten_thousand_positions_of_one_person_are_read(csv_file: WriteFile) -> None:
    standing = [(DAY + timedelta(seconds=i), 3.5 * LINK) for i in range(9_970)]
    trip = drive(3, 8, DAY + timedelta(seconds=9_980))
    counter = traces(csv_file(rows_of("p", [*standing, *trip]), header=HEADER))
    found = occupied(counter, UNIVERSE)
    assert {"0 begin 3", "0 end 9"} < set(found)
    assert set(found.values()) == {1}


def test_positions_that_cannot_count_are_dropped_one_by_one(csv_file: WriteFile) -> None:
    good = rows_of("p", drive(2, 5, DAY + timedelta(hours=8)))
    when, lon = good[1][1], good[1][2]
    bad: list[tuple[Any, ...]] = [
        ("", when, 9 * LINK, 0.0),
        ("p", "", 9 * LINK, 0.0),
        ("p", "noon", 9 * LINK, 0.0),
        ("p", "2026-03-02T08:00:05", "", 0.0),
        ("p", "2026-03-02T08:00:05", "east", 0.0),
        ("p", "2026-03-02T08:00:05", "nan", 0.0),
        ("p", "2026-03-02T08:00:05", lon, 0.5),
        ("p", "2026-03-02T08:00:05", 10.0, 0.0),
        ("p", "2026-03-01T23:59:59", lon, 0.0),
        ("p", "2026-03-03T00:00:00", lon, 0.0),
        good[3],
    ]
    expected = occupied(traces(csv_file(good, header=HEADER)), UNIVERSE)
    assert len(expected) == 6
    assert occupied(traces(csv_file([*bad, *good], header=HEADER)), UNIVERSE) == expected


def test_hours_without_service_do_not_count(csv_file: WriteFile) -> None:
    universe = universe_of(opens=480, closes=720, minutes=240)
    trip = drive(2, 6, DAY + timedelta(hours=8, seconds=-25))
    found = occupied(traces(csv_file(rows_of("p", trip), header=HEADER), universe), universe)
    assert "0 link 5" in found
    assert "0 link 2" not in found


def test_the_hour_that_the_clocks_skip_is_empty(csv_file: WriteFile) -> None:
    universe = universe_of(first=date(2026, 3, 29), minutes=60)
    day = datetime(2026, 3, 29, 0, 10, tzinfo=UTC)
    rows = [
        row
        for hour in range(4)
        for row in rows_of(f"p{hour}", drive(2, 4, day + timedelta(hours=hour)))
    ]
    found = occupied(traces(csv_file(rows, header=HEADER), universe), universe)
    assert {name.split()[0] for name in found} == {"0", "1", "3"}


def test_the_hour_that_comes_twice_is_one_period(csv_file: WriteFile) -> None:
    universe = universe_of(first=date(2026, 10, 25), minutes=60)
    day = datetime(2026, 10, 25, 0, 10, tzinfo=UTC)
    rows = [
        row for hour in range(2) for row in rows_of("p", drive(2, 4, day + timedelta(hours=hour)))
    ]
    source = TracesSource(csv_file(rows, header=HEADER), TraceColumns(), clock="utc")
    found = occupied(traces(source, universe), universe)
    # 00:10 and 01:10 in UTC are both 02:10 in Paris.
    assert found == {f"2 {what}": 1 for what in ("link 2", "link 3", "link 4", "begin 2", "end 5")}


def test_gpx_and_mds_count_like_tables(tmp_path: Path, csv_file: WriteFile) -> None:
    people = {"ann": drive(2, 5, DAY), "bob": drive(4, 9, DAY + timedelta(hours=14))}
    rows = [row for name, trip in people.items() for row in rows_of(name, trip)]
    table = TracesSource(csv_file(rows, header=HEADER), TraceColumns(), clock="utc")
    trips = []
    for name, trip in people.items():
        points = "".join(
            f'<trkpt lon="{lon!r}" lat="0"><time>{time.isoformat()}</time></trkpt>'
            for time, lon in trip
        )
        file = tmp_path / "gpx" / f"{name}.gpx"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"<gpx><trk><trkseg>{points}</trkseg></trk></gpx>", encoding="utf-8")
        features = [
            {
                "properties": {"timestamp": time.timestamp() * 1000},
                "geometry": {"coordinates": [lon, 0.0]},
            }
            for time, lon in trip
        ]
        trips.append({"trip_id": "1", "device_id": name, "route": {"features": features}})
    (tmp_path / "trips.json").write_text(json.dumps({"trips": trips}), encoding="utf-8")
    expected = occupied(traces(table), UNIVERSE)
    assert sum(expected.values()) == 14
    assert occupied(traces(GpxTraces(tmp_path / "gpx")), UNIVERSE) == expected
    assert (
        occupied(traces(MdsTraces(tmp_path / "trips.json"), unit=Unit.DEVICE), UNIVERSE) == expected
    )


def arrays(rows: list[tuple[int, int, int, int]], **changes: Any) -> ArrayMovements:
    person, period, item, steps = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    columns: dict[str, Any] = {"person": person, "period": period, "item": item, "steps": steps}
    return ArrayMovements(universe=UNIVERSE, limits=LIMITS, key=KEY, **columns | changes)


QUESTIONS: tuple[MovementQueryCells, ...] = (
    MovementCells(universe=UNIVERSE),
    SpeedSums(universe=UNIVERSE),
)
# A universe of 12 links and 13 nodes.
ROW = st.tuples(
    st.integers(-1, 2), st.integers(0, 1), st.integers(0, 37), st.sampled_from([-99, -2, 0, 1, 40])
)


@given(rows=st.lists(ROW, max_size=60), leaving=st.integers(-1, 2))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_one_person_moves_no_answer_beyond_its_bound(
    rows: list[tuple[int, int, int, int]], leaving: int
) -> None:
    whole = arrays(rows)
    others = arrays([row for row in rows if row[0] != leaving])
    own = arrays([row for row in rows if row[0] == leaving])
    for cells in QUESTIONS:
        moved = np.array(dense(whole, cells)) - np.array(dense(others, cells))
        # What is kept of a person does not depend on the others.
        assert moved.tolist() == dense(own, cells)
        bound = whole.bound(Query(name="movements", cells=cells))
        assert (moved != 0).sum() <= bound.cells
        assert np.abs(moved).max() <= bound.each
        assert np.abs(moved).sum() <= bound.l1 <= bound.total
        assert (moved**2).sum() <= bound.l2_squared
    distinct = len({row[1:3] for row in rows if row[0] == leaving})
    assert sum(dense(own, QUESTIONS[0])) == min(distinct, LIMITS.max_items)


def test_leaving_moves_files_within_the_bound_and_nobody_else(csv_file: WriteFile) -> None:
    rng = np.random.default_rng(3)
    people = {}
    for i in range(12):
        begin = DAY + timedelta(minutes=float(rng.integers(0, 1_400)))
        people[f"p{i}"] = rows_of(f"p{i}", drive(int(rng.integers(0, 5)), 11, begin))
    rows = [row for own in people.values() for row in own]
    every = traces(csv_file(rows, header=HEADER), limits=LIMITS)
    for leaving in ("p0", "p7"):
        rest = [row for name, own in people.items() if name != leaving for row in own]
        without = traces(csv_file(rest, "rest.csv", header=HEADER), limits=LIMITS)
        alone = traces(csv_file(people[leaving], "alone.csv", header=HEADER), limits=LIMITS)
        for cells in QUESTIONS:
            moved = np.array(dense(every, cells)) - np.array(dense(without, cells))
            assert moved.tolist() == dense(alone, cells)
            bound = every.bound(Query(name="movements", cells=cells))
            assert np.abs(moved).sum() <= bound.l1
    assert sum(dense(every, QUESTIONS[0])) == 12 * LIMITS.max_items


def test_more_items_than_64_bits_may_be_allowed() -> None:
    limits = MovementLimits(max_items=1 << 80)
    person = np.zeros(38, dtype=np.int64)
    counter = ArrayMovements(
        universe=UNIVERSE, limits=limits, key=KEY, person=person, period=person, item=np.arange(38)
    )
    assert sum(dense(counter, QUESTIONS[0])) == 38


def test_speeds_that_were_not_given_are_refused() -> None:
    counter = arrays([(1, 0, 0, 0)], steps=None)
    assert sum(dense(counter, QUESTIONS[0])) == 1
    with pytest.raises(PrivacyError, match="was given no speeds"):
        dense(counter, QUESTIONS[1])


@pytest.mark.parametrize(
    "changes",
    [
        {"item": np.array([38])},
        {"item": np.array([-1])},
        {"period": np.array([2])},
        {"period": np.array([0, 1])},
        {"steps": np.array([0.0])},
        {"person": np.array([2**63], dtype=np.uint64)},
        {"person": np.array([[1]])},
    ],
)
def test_arrays_that_do_not_fit_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(DataError):
        arrays([(1, 0, 0, 0)], **changes)


@pytest.mark.parametrize("kind", [MovementCells, SpeedSums])
def test_cells_of_another_universe_are_refused(tmp_path: Path, kind: Any) -> None:
    own = Query(name="movements", cells=kind(universe=universe_of()))
    other = Query(name="movements", cells=kind(universe=universe_of(minutes=360)))
    counters: list[ArrayMovements | TraceMovements] = [arrays([]), traces(tmp_path / "none.csv")]
    for counter in counters:
        assert counter.bound(own).total > 0
        for ask in (counter.bound, counter.count):
            with pytest.raises(PrivacyError, match="counts other cells"):
                ask(other)
    with pytest.raises(PrivacyError, match="counts other cells"):
        arrays([]).count(Query(name="movements", cells=UNIVERSE))


def test_more_cells_than_memory_are_refused(tmp_path: Path) -> None:
    century = universe_of(links=90_000, minutes=1)
    with pytest.raises(DataError, match="pairs of a period and a link"):
        traces(tmp_path / "none.csv", century)


def test_a_failed_reading_leaves_nothing_behind(csv_file: WriteFile) -> None:
    """A second try must not count the same people again."""
    path = csv_file(rows_of("secret", drive(2, 5, DAY)), header=HEADER)
    whole = gzip.compress(path.read_bytes())
    packed = path.with_suffix(".csv.gz")
    packed.write_bytes(whole[:-8])
    counter = traces(packed)
    for _ in range(2):
        with pytest.raises(DataError, match="damaged or not whole") as caught:
            counter.count(Query(name="movements", cells=QUESTIONS[0]))
        assert "secret" not in str(caught.value)
        assert caught.value.__context__ is None
    packed.write_bytes(whole)
    assert set(occupied(counter, UNIVERSE).values()) == {1}


def test_nobody_counts_nothing(parquet_file: WriteFile) -> None:
    for person in (pa.array([1, 2]), pa.array(["1", "2"])):
        times = pa.array([0, 1], pa.timestamp("us"))
        path = parquet_file({"person": person, "time": times, "lon": [0.0, 0.1], "lat": [0.0, 0.0]})
        told: list[float] = []
        assert occupied(traces(path, progress=told.append), UNIVERSE) == {}
        assert told == []


def test_progress_is_told_in_positions(csv_file: WriteFile) -> None:
    told: list[float] = []
    counter = traces(csv_file(rows_of("p", drive(2, 5, DAY)), header=HEADER), progress=told.append)
    assert len(occupied(counter, UNIVERSE)) == 6
    assert told == [1.0]
