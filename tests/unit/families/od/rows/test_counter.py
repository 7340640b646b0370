"""Counting trips in files: what is counted, what is dropped, and that the limit holds."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hushway.engine.key import BoundingKey
from hushway.engine.settings import EngineSettings
from hushway.errors import DataError, PrivacyError
from hushway.families.od.public.cells import ODCells
from hushway.families.od.rows.counter import EngineTrips
from hushway.families.od.rows.trips import TripColumns, TripsSource
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.query import Query
from hushway.tables.header import Clock
from support.small_cells import cells_of, key_of

Counts = dict[tuple[int, int, int], int]
Write = Callable[..., Path]

AT_8 = "2026-03-02T08:15:00"
SMALL = EngineSettings(memory_limit="500MB", threads=1)
QUARTERS = ("00", "15", "30", "45")
PRIVATE = "rider-private-007"


def engine(
    path: Path | str,
    cells: ODCells,
    key: BoundingKey,
    *,
    most: int = 100,
    unit: Unit = Unit.PERSON,
    clock: Clock = "local",
    trip_id: str | None = None,
    settings: EngineSettings = SMALL,
    **others: Any,
) -> EngineTrips:
    person = "person" if unit is Unit.PERSON else None
    return EngineTrips(
        source=TripsSource(path, TripColumns(person=person, trip_id=trip_id), clock),
        cells=cells,
        unit=unit,
        max_trips=most,
        key=key,
        settings=settings,
        **others,
    )


def counts(path: Path | str, cells: ODCells, key: BoundingKey, **choices: Any) -> Counts:
    """Counts by (period, origin, destination)."""
    found = engine(path, cells, key, **choices).count(Query(name="trips", cells=cells))
    assert (np.diff(found.cells) > 0).all()
    assert found.cells.dtype == found.values.dtype == np.int64
    triples = zip(*(column.tolist() for column in cells.decode(found.cells)), strict=True)
    return dict(zip(triples, found.values.tolist(), strict=True))


def refusal(path: Path, cells: ODCells, key: BoundingKey, **choices: Any) -> str:
    with pytest.raises(DataError) as caught:
        counts(path, cells, key, **choices)
    error = caught.value
    assert error.advice
    # DuckDB quotes rows in its errors: neither cause nor context may carry one.
    assert PRIVATE not in f"{error}{error.advice}"
    assert error.__cause__ is None
    assert error.__context__ is None
    return str(error)


@dataclass(frozen=True)
class Town:
    """Cells, and a key that decides which trips count."""

    cells: ODCells
    key: BoundingKey

    def counts(self, path: Path | str, **choices: Any) -> Counts:
        return counts(path, self.cells, self.key, **choices)

    def refusal(self, path: Path, **choices: Any) -> str:
        return refusal(path, self.cells, self.key, **choices)


@pytest.fixture
def town(cells: ODCells, key: BoundingKey) -> Town:
    return Town(cells, key)


def test_trips_are_counted_in_their_cells(csv_file: Write, town: Town) -> None:
    file = csv_file(
        [
            ("ann", 1, 2, AT_8),
            ("ann", 1, 2, "2026-03-03 08:59:59.999999"),
            ("bob", 3, 1, "2026-03-02T06:00"),
            ("bob", 1, 3, "2026-03-03T21:59:59"),
        ]
    )
    assert town.counts(file) == {(2, 0, 1): 2, (0, 2, 0): 1, (15, 0, 2): 1}


def test_rows_that_cannot_be_counted_are_dropped(csv_file: Write, town: Town) -> None:
    file = csv_file(
        [
            (None, 1, 2, AT_8),
            ("ann", None, 2, AT_8),
            ("ann", 1, None, AT_8),
            ("ann", 1, 2, None),
            ("ann", 1, 2, "soon"),
            ("ann", 1, 2, "2026-03-02"),
            ("ann", 1, 2, "2026-02-30T08:00:00"),
            ("ann", 1, 2, "2026-03-02T24:00:00"),
            ("ann", 1, 2, AT_8 + "Z"),
            ("ann", "nowhere", 2, AT_8),
            ("ann", 1, "1.0", AT_8),
            ("ann", 1, " 2", AT_8),
            ("ann", 1, 1, AT_8),
            ("ann", 1, 2, "2026-03-01T08:00:00"),
            ("ann", 1, 2, "2026-03-04T08:00:00"),
            ("ann", 1, 2, "2026-03-02T05:59:59"),
            ("ann", 1, 2, "2026-03-02T22:00:00"),
            ("ann", 2, 3, AT_8),
        ]
    )
    assert town.counts(file) == {(2, 1, 2): 1}


def test_rows_without_a_person_are_no_group_without_a_cap(csv_file: Write, town: Town) -> None:
    file = csv_file([(None, 1, 2, AT_8)] * 50 + [("", 1, 2, AT_8)] * 50 + [("ann", 1, 2, AT_8)])
    assert sum(town.counts(file, most=1).values()) == 1


def test_dropped_rows_do_not_use_up_the_cap(csv_file: Write, town: Town) -> None:
    file = csv_file([("ann", 1, 1, AT_8), ("ann", 1, "x", AT_8)] * 20 + [("ann", 1, 2, AT_8)])
    assert sum(town.counts(file, most=1).values()) == 1


@pytest.mark.parametrize("most", [1, 3, 10])
def test_every_person_is_cut_to_the_cap(parquet_file: Write, cells: ODCells, most: int) -> None:
    sizes = [1, 2, 3, 4, 9, 10, 11, 400]
    person = np.repeat(np.arange(len(sizes)), sizes)
    start = datetime(2026, 3, 2, 7, tzinfo=UTC).replace(tzinfo=None)
    rng = np.random.default_rng(2)
    file = parquet_file(
        {
            "person": pa.array(person),
            "origin": pa.array(rng.integers(1, 3, len(person))),
            "destination": pa.array(np.full(len(person), 3)),
            "time": [start + timedelta(minutes=int(m)) for m in rng.integers(0, 600, len(person))],
        }
    )
    for seed in range(3):
        found = counts(file, cells, key_of(seed), most=most)
        assert sum(found.values()) == sum(min(size, most) for size in sizes)


def test_persons_are_compared_exactly(csv_file: Write, town: Town) -> None:
    persons = ["1", " 1", "01", "1.0", "é", "e\u0301", "E", "e", "NULL", "nan"]
    file = csv_file([(person, 1, 2, AT_8) for person in persons] * 2)
    assert sum(town.counts(file, most=1).values()) == len(persons)


def test_ids_match_as_text_whether_they_are_integers_or_text(
    parquet_file: Write, key: BoundingKey
) -> None:
    town = cells_of(("7", "8", "08"))
    when = [datetime.fromisoformat(AT_8)]
    kinds = [pa.int8(), pa.int64(), pa.uint16(), pa.uint64(), pa.string(), pa.large_string()]
    for i, kind in enumerate(kinds):
        as_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        seven: Any = "7" if as_text else 7
        # The destination keeps one type, so all pairs of types are met.
        columns = {"person": pa.array([seven], kind), "origin": pa.array([seven], kind)}
        for destination in (pa.array([8]), pa.array(["8"])):
            file = parquet_file(
                {**columns, "destination": destination, "time": when}, f"{i}.parquet"
            )
            assert counts(file, town, key) == {(2, 0, 1): 1}


def test_a_trip_to_the_same_place_is_found_across_types(
    parquet_file: Write, key: BoundingKey
) -> None:
    columns = {
        "person": [1, 1],
        "origin": [7, 7],
        "destination": ["7", "8"],
        "time": [datetime.fromisoformat(AT_8)] * 2,
    }
    assert counts(parquet_file(columns), cells_of(("7", "8")), key) == {(2, 0, 1): 1}
    both = cells_of(("7", "8"), include_intrazonal=True)
    assert counts(parquet_file(columns), both, key) == {(2, 0, 1): 1, (2, 0, 0): 1}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Tokyo"])
def test_timestamps_of_any_unit_and_zone_are_instants(
    parquet_file: Write, town: Town, *, unit: str, zone: str | None
) -> None:
    # 13:15 in UTC is 8:15 in Detroit in winter.
    at = datetime(2026, 3, 2, 13, 15, tzinfo=UTC)
    column = pa.array([at if zone else at.replace(tzinfo=None)], pa.timestamp(unit, tz=zone))
    file = parquet_file({"person": ["a"], "origin": [1], "destination": [2], "time": column})
    assert town.counts(file, clock="utc") == {(2, 0, 1): 1}


def test_one_instant_in_many_offsets_is_one_instant(csv_file: Write, town: Town) -> None:
    same = [
        "2026-03-02T13:15:00Z",
        "2026-03-02 13:15:00",
        "2026-03-02T08:15:00-05:00",
        "2026-03-02T08:15:00-0500",
        "2026-03-02T08:15:00-05",
        "2026-03-02T18:45:00.000000+05:30",
    ]
    file = csv_file([("ann", 1, 2, text) for text in same])
    assert town.counts(file, clock="utc") == {(2, 0, 1): 6}
    assert sum(town.counts(file, clock="utc", most=4).values()) == 4


def test_the_repeated_hour_is_counted_twice_and_the_skipped_one_never(
    csv_file: Write, key: BoundingKey
) -> None:
    back = cells_of(first_day=date(2026, 11, 1), last_day=date(2026, 11, 1), opens=0, closes=1440)
    instants = csv_file([("a", 1, 2, f"2026-11-01T0{hour}:30:00Z") for hour in (4, 5, 6, 7)])
    assert counts(instants, back, key, clock="utc") == {
        (0, 0, 1): 1,
        (1, 0, 1): 2,
        (2, 0, 1): 1,
    }
    forward = cells_of(first_day=date(2026, 3, 8), last_day=date(2026, 3, 8), opens=0, closes=1440)
    walls = csv_file([("a", 1, 2, f"2026-03-08T0{hour}:30:00") for hour in (1, 2, 3)])
    assert counts(walls, forward, key) == {(1, 0, 1): 1, (3, 0, 1): 1}


@pytest.mark.parametrize("kind", ["timestamp", "text"])
def test_absurd_times_are_dropped_and_do_no_harm(
    parquet_file: Write, town: Town, kind: str
) -> None:
    raw = [-(2**63) + 2, -(2**63), 2**63 - 1, -(2**63) + 10**15, 2**62, -1, 0, 10**15]
    texts = ["0000-01-01T00:00:00", "9999-12-31T23:59:59", "-infinity", "infinity", "nan", "epoch"]
    absurd = pa.array(raw, pa.timestamp("us")) if kind == "timestamp" else pa.array(texts)
    good = (
        pa.array([1772439300000000], pa.timestamp("us"))
        if kind == "timestamp"
        else pa.array([AT_8])
    )
    times = pa.concat_arrays([absurd, good])
    file = parquet_file(
        {
            "person": ["a"] * len(times),
            "origin": [1] * len(times),
            "destination": [2] * len(times),
            "time": times,
        }
    )
    assert town.counts(file) == {(2, 0, 1): 1}


def test_a_window_before_1970_is_counted(csv_file: Write, key: BoundingKey) -> None:
    old = cells_of(first_day=date(1965, 6, 1), last_day=date(1965, 6, 2))
    file = csv_file([("a", 1, 2, "1965-06-01T08:59:59.999999"), ("a", 1, 2, "1965-06-02T09:00:00")])
    assert counts(file, old, key) == {(2, 0, 1): 1, (3, 0, 1): 1}


def test_order_files_threads_and_formats_do_not_matter(
    csv_file: Write, parquet_file: Write, *, tmp_path: Path, town: Town
) -> None:
    rng = np.random.default_rng(8)
    size = 5_000
    rows = [
        (
            f"p{rng.zipf(1.5) % 200}",
            int(rng.integers(1, 4)),
            int(rng.integers(1, 4)),
            f"2026-03-0{rng.integers(2, 4)}T{rng.integers(6, 22):02d}:{rng.choice(QUARTERS)}:00",
        )
        for _ in range(size)
    ]
    expected = town.counts(csv_file(rows), most=5)
    shuffled = [rows[i] for i in rng.permutation(size)]
    for i in range(7):
        csv_file(shuffled[i::7], f"split/{i}.csv")
    assert town.counts(tmp_path / "split", most=5) == expected
    names = ("person", "origin", "destination", "time")
    columns = dict(zip(names, map(list, zip(*shuffled, strict=True)), strict=True))
    file = parquet_file(columns)
    for threads in (1, 4):
        settings = EngineSettings(threads=threads, memory_limit="500MB")
        assert town.counts(file, most=5, settings=settings) == expected
    columns["time"] = [datetime.fromisoformat(text) for text in columns["time"]]
    assert town.counts(parquet_file(columns, "typed.parquet"), most=5) == expected


def test_names_of_persons_do_not_matter(csv_file: Write, town: Town) -> None:
    rows = [
        (i % 7, 1 + i % 2, 3, f"2026-03-02T{6 + i % 16:02d}:{i % 60:02d}:00") for i in range(99)
    ]
    renamed = [(f"card {6 - person}", *rest) for person, *rest in rows]
    assert town.counts(csv_file(rows), most=4) == town.counts(
        csv_file(renamed, "renamed.csv"), most=4
    )


def test_one_person_changes_nobody_elses_trips(csv_file: Write, cells: ODCells) -> None:
    rows = [
        (i % 5, 1 + i % 2, 3, f"2026-03-02T{6 + i % 16:02d}:{i % 60:02d}:00") for i in range(99)
    ]
    fewer = [row for row in rows if row[0] != 0]
    alone = [row for row in rows if row[0] == 0]
    for seed in range(5):
        key = key_of(seed)
        everyone, others, one = (
            counts(csv_file(some, f"{name}.csv"), cells, key, most=6)
            for name, some in (("all", rows), ("fewer", fewer), ("alone", alone))
        )
        assert sum(one.values()) == 6
        for cell in everyone:
            assert everyone[cell] == others.get(cell, 0) + one.get(cell, 0)


def test_unit_trip_counts_every_row_and_needs_no_person(csv_file: Write, town: Town) -> None:
    file = csv_file([(None, 1, 2, AT_8)] * 5 + [("ann", 1, 2, AT_8)] * 5)
    assert town.counts(file, unit=Unit.TRIP, most=1) == {(2, 0, 1): 10}


def test_rows_of_one_trip_id_are_one_trip(csv_file: Write, town: Town) -> None:
    rows = [
        ("t1", "ann", 1, 2, AT_8),
        ("t1", "ann", 1, 2, AT_8),
        ("t1", "ann", 2, 3, AT_8),
        ("t1", "bob", 1, 2, AT_8),
        ("t2", "ann", 1, 2, AT_8),
        (None, "ann", 1, 2, AT_8),
        (None, "bob", 1, 2, AT_8),
    ]
    file = csv_file(rows, header="trip,person,origin,destination,time")
    # By person: ann's t1 and t2, and bob's t1, for one must not push out the other's row.
    assert sum(town.counts(file, trip_id="trip").values()) == 3
    assert sum(town.counts(file, trip_id="trip", most=1).values()) == 2
    assert sum(town.counts(file, trip_id="trip", unit=Unit.TRIP, most=1).values()) == 2


def test_the_bound_is_stated_and_cells_must_agree(
    csv_file: Write, cells: ODCells, key: BoundingKey
) -> None:
    file = csv_file([("a", 1, 2, AT_8)])
    query = Query(name="trips", cells=cells)
    for unit, most in ((Unit.PERSON, 4), (Unit.TRIP, 1)):
        counter = engine(file, cells, key, unit=unit, most=4)
        assert counter.bound(query) == Bound(cells=most, each=most, total=most)
        assert counter.unit is unit
    other = Query(name="trips", cells=cells_of(include_intrazonal=True))
    with pytest.raises(PrivacyError, match="other cells"):
        engine(file, cells, key).count(other)
    with pytest.raises(PrivacyError, match="other cells"):
        engine(file, cells, key).bound(other)


def test_persons_cannot_be_protected_without_a_column(cells: ODCells, key: BoundingKey) -> None:
    with pytest.raises(DataError, match="no column of persons"):
        EngineTrips(
            source=TripsSource("trips.csv", TripColumns()),
            cells=cells,
            unit=Unit.PERSON,
            max_trips=1,
            key=key,
        )


def test_a_cap_below_one_is_refused(cells: ODCells, key: BoundingKey) -> None:
    with pytest.raises(PrivacyError, match="at least 1"):
        engine("trips.csv", cells, key, most=0)


def test_rows_are_read_once(csv_file: Write, cells: ODCells, key: BoundingKey) -> None:
    file = csv_file([("a", 1, 2, AT_8)])
    counter = engine(file, cells, key)
    query = Query(name="trips", cells=cells)
    first = counter.count(query)
    file.unlink()
    assert counter.count(query) is first


def test_no_usable_row_is_an_empty_count_and_no_error(csv_file: Write, town: Town) -> None:
    # An error would tell the empty data set from its neighbours.
    assert town.counts(csv_file([])) == {}
    assert town.counts(csv_file([("a", 1, 1, AT_8)])) == {}


@pytest.mark.parametrize(
    "row",
    [
        f"{PRIVATE},1,2",
        f"{PRIVATE},1,2,{AT_8},extra",
        f"{PRIVATE}é,1,2,{AT_8}",
        f'"{PRIVATE},1,2,{AT_8}',
        f'{PRIVATE},"1"x,2,{AT_8}',
        f'{PRIVATE}",1,2,{AT_8}',
    ],
)
def test_a_malformed_row_is_dropped_and_takes_no_other_with_it(
    csv_file: Write, town: Town, row: str
) -> None:
    # An error would tell that somebody with such a row is there.
    file = csv_file([("a", 1, 2, AT_8), ("b", 1, 2, AT_8)])
    first, second, third = file.read_bytes().splitlines()
    file.write_bytes(b"\n".join([first, second, row.encode("latin-1"), third, b""]))
    assert sum(town.counts(file).values()) == 2


def test_a_damaged_parquet_file_is_refused(parquet_file: Write, town: Town) -> None:
    times = [datetime.fromisoformat(AT_8)] * 5000
    persons = [f"{PRIVATE}-{i}" for i in range(5000)]
    columns = {"person": persons, "origin": [1] * 5000, "destination": [2] * 5000, "time": times}
    file = parquet_file(columns)
    data = bytearray(file.read_bytes())
    data[100:4000] = b"\xff" * 3900
    file.write_bytes(data)
    assert "cannot be read" in town.refusal(file)


@pytest.mark.parametrize("newline", ["\r\n", "\n"])
def test_line_endings_quotes_and_odd_names_do_not_matter(
    tmp_path: Path, cells: ODCells, key: BoundingKey, newline: str
) -> None:
    file = tmp_path / "o'trips [1] {x}.csv"
    lines = ['time;destination;"the; origin";person', f'{AT_8};2;"1";"ann ""x"""', f"{AT_8};2;1;b"]
    file.write_bytes(("\ufeff" + newline.join(lines) + newline).encode())
    counter = EngineTrips(
        source=TripsSource(file, TripColumns(person="person", origin="the; origin")),
        cells=cells,
        unit=Unit.PERSON,
        max_trips=1,
        key=key,
        settings=SMALL,
    )
    assert counter.count(Query(name="trips", cells=cells)).values.tolist() == [2]


def test_odd_column_names_of_parquet_are_names_and_nothing_else(
    parquet_file: Write, cells: ODCells, key: BoundingKey
) -> None:
    odd = 'x" from t; --'
    file = parquet_file(
        {odd: ["a"], "origin": [1], "destination": [2], "time": [datetime.fromisoformat(AT_8)]}
    )
    counter = EngineTrips(
        source=TripsSource(file, TripColumns(person=odd)),
        cells=cells,
        unit=Unit.PERSON,
        max_trips=1,
        key=key,
        settings=SMALL,
    )
    assert counter.count(Query(name="trips", cells=cells)).values.tolist() == [1]


def test_too_little_memory_and_disk_is_one_clear_error_and_leaves_nothing_behind(
    parquet_file: Write, tmp_path: Path, town: Town
) -> None:
    size = 1_500_000
    rng = np.random.default_rng(0)
    start = 1_772_434_800_000_000
    file = parquet_file(
        {
            "person": rng.integers(0, 200_000, size),
            "origin": rng.integers(1, 3, size),
            "destination": np.full(size, 3),
            "time": pa.array(start + rng.integers(0, 10**10, size), pa.timestamp("us")),
        }
    )
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    tight = EngineSettings(memory_limit="20MB", threads=1, temp_folder=scratch, max_temp="1MB")
    assert "not enough memory or disk" in town.refusal(file, most=3, settings=tight)
    assert list(scratch.iterdir()) == []
    roomy = EngineSettings(memory_limit="40MB", threads=1, temp_folder=scratch, max_temp="1GB")
    spilled = town.counts(file, most=3, settings=roomy)
    assert spilled == town.counts(file, most=3)
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(
    "wrong",
    [
        EngineSettings(memory_limit="much"),
        EngineSettings(threads=0),
        EngineSettings(max_temp="-"),
        EngineSettings(batch_rows=0),
        EngineSettings(temp_folder="/nowhere/at/all"),
    ],
)
def test_settings_that_cannot_be_met_are_refused(
    csv_file: Write, town: Town, wrong: EngineSettings
) -> None:
    with pytest.raises(DataError) as caught:
        town.counts(csv_file([("a", 1, 2, AT_8)]), settings=wrong)
    assert caught.value.advice


def test_progress_is_told_and_does_not_change_the_counts(
    csv_file: Write, town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hushway.engine.embedded._POLL_S", 0.0001)
    rows = [(i % 500, 1, 2, f"2026-03-02T{6 + i % 16:02d}:00:00") for i in range(50_000)]
    file = csv_file(rows)
    told: list[float] = []
    assert town.counts(file, progress=told.append) == town.counts(file)
    assert told
    assert all(0 <= part <= 1 for part in told)
