"""Taps and ready sequences become bounded records, and records are counted by prefix."""

from collections.abc import Callable
from datetime import date
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.engine.key import BoundingKey
from hushway.engine.settings import EngineSettings
from hushway.errors import DataError, PlanError, PrivacyError
from hushway.families.od.public.cells import ODCells
from hushway.families.sequences.public.prefixes import PrefixCells, first_prefixes
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.families.sequences.rows.counter import EngineSequences
from hushway.families.sequences.rows.sequences import (
    SequenceColumns,
    SequenceRule,
    SequencesSource,
    TapColumns,
    TapsSource,
)
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.query import Query
from hushway.tables.layout import Source, layout_of
from support.small_cells import key_of

Write = Callable[..., Path]
Taps = Callable[..., dict[Any, int]]

SMALL = EngineSettings(memory_limit="500MB", threads=1)
HEADER = "person,location,time"
PRIVATE = "rider-private-007"
DAY, NEXT = "2026-03-02", "2026-03-03"


def window(**changes: Any) -> Periods:
    settings: dict[str, Any] = {
        "zone": "America/Detroit",
        "first_day": date(2026, 3, 2),
        "last_day": date(2026, 3, 4),
        "opens": 360,
        "closes": 1320,
        "minutes": 60,
        **changes,
    }
    return Periods(**settings)


@pytest.fixture
def town() -> Taxonomy:
    return Taxonomy(
        locations=Locations(
            tuple(Location(id=str(i), name="", lon=i / 100, lat=0.0, zone="") for i in range(1, 5))
        )
    )


def records(counter: EngineSequences, town: Taxonomy, periods: int = 1) -> dict[Any, int]:
    """The counted records in full, found by keeping every occupied candidate at every step.

    Without levels each step is one stop. What a prefix has beyond its children ended there.
    """
    found: dict[Any, int] = {}

    def label(cells: PrefixCells, cell: int) -> tuple[Any, ...]:
        node, period, code = (int(x[0]) for x in cells.describe(np.array([cell])))
        place = int(town.locations.ids[int(town.location_of(np.array([code]))[0])])
        own = (place, period) if periods > 1 else place
        before = () if cells.above is None else label(cells.above, int(cells.kept[node]))
        return (*before, own)

    cells = first_prefixes(town, periods=periods)
    while cells.size:
        counts = counter.count(Query(name="records", cells=cells))
        for cell, value in zip(counts.cells.tolist(), counts.values.tolist(), strict=True):
            prefix = label(cells, cell)
            found[prefix] = value
            if len(prefix) > 1:
                found[prefix[:-1]] -= value
        cells = cells.below(counts.cells)
    return {prefix: value for prefix, value in found.items() if value}


def counter(
    source: TapsSource | SequencesSource, town: Taxonomy, key: BoundingKey, **choices: Any
) -> EngineSequences:
    unit = choices.pop("unit", Unit.PERSON)
    rule = {"max_stops": 10, "max_records": 10, "window": window(), **choices}
    return EngineSequences(
        source=source, taxonomy=town, rule=SequenceRule(**rule), unit=unit, key=key, settings=SMALL
    )


def taps_of(file: Path, town: Taxonomy, key: BoundingKey, **choices: Any) -> dict[Any, int]:
    source = TapsSource(file, TapColumns(), choices.pop("clock", "local"))
    made = counter(source, town, key, **choices)
    return records(made, town, made.periods)


@pytest.fixture
def taps(town: Taxonomy, key: BoundingKey) -> Taps:
    return partial(taps_of, town=town, key=key)


def test_a_record_is_a_persons_day_in_the_order_of_time(csv_file: Write, taps: Taps) -> None:
    rows = [
        ("ann", 2, f"{DAY}T17:00:00"),
        ("ann", 1, f"{DAY}T08:00:00"),
        ("bob", 1, f"{DAY}T09:00:00"),
        ("ann", 3, f"{NEXT}T08:00:00"),
        ("bob", 4, f"{DAY}T08:59:59.999999"),
    ]
    expected = {(1, 2): 1, (4, 1): 1, (3,): 1}
    for order in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0]):
        file = csv_file([rows[i] for i in order], header=HEADER)
        assert taps(file) == expected
    file = csv_file(rows, header=HEADER)
    assert taps(file, record="window") == {(1, 2, 3): 1, (4, 1): 1}


def test_taps_that_cannot_be_counted_are_dropped_one_by_one(csv_file: Write, taps: Taps) -> None:
    file = csv_file(
        [
            ("ann", 1, f"{DAY}T08:00:00"),
            ("ann", 9, f"{DAY}T08:01:00"),
            ("ann", "1.0", f"{DAY}T08:02:00"),
            ("ann", None, f"{DAY}T08:03:00"),
            ("ann", 2, "soon"),
            ("ann", 2, None),
            (None, 2, f"{DAY}T08:04:00"),
            ("ann", 2, f"{DAY}T05:59:59"),
            ("ann", 2, f"{DAY}T22:00:00"),
            ("ann", 2, "2026-03-01T08:00:00"),
            ("ann", 2, "2026-03-05T08:00:00"),
            ("ann", 2, f"{DAY}T08:00:00Z"),
            ("ann", 3, f"{DAY}T21:59:59"),
        ],
        header=HEADER,
    )
    assert taps(file) == {(1, 3): 1}


def test_only_the_first_stops_count(csv_file: Write, taps: Taps) -> None:
    file = csv_file(
        [("ann", i % 4 + 1, f"{DAY}T{8 + i:02d}:00:00") for i in range(9)], header=HEADER
    )
    assert taps(file, max_stops=1) == {(1,): 1}
    assert taps(file, max_stops=5) == {(1, 2, 3, 4, 1): 1}


def test_periods_are_kept_with_their_stops(csv_file: Write, taps: Taps) -> None:
    file = csv_file(
        [("ann", 1, f"{DAY}T08:10:00"), ("ann", 2, f"{DAY}T08:20:00"), ("ann", 1, f"{DAY}T21:00")],
        header=HEADER,
    )
    assert taps(file, keep_times=True) == {((1, 2), (2, 2), (1, 15)): 1}


def test_taps_at_one_time_have_an_order_that_the_key_decides(
    csv_file: Write, town: Taxonomy
) -> None:
    same = [("ann", place, f"{DAY}T08:00:00") for place in (1, 2, 3)]
    seen = set()
    for seed in range(5):
        both = [
            taps_of(csv_file(rows, header=HEADER), town, key_of(seed))
            for rows in (same, same[::-1])
        ]
        assert both[0] == both[1]
        seen |= set(both[0])
    assert len(seen) > 1
    assert seen <= set(permutations((1, 2, 3)))


@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_person_keeps_exactly_so_many_records(csv_file: Write, town: Taxonomy, most: int) -> None:
    days = (DAY, NEXT, "2026-03-04")
    rows = [("ann", place, f"{day}T08:00:00") for place, day in enumerate(days, start=1)]
    file = csv_file([*rows, ("bob", 4, f"{DAY}T08:00:00")], header=HEADER)
    seen = set()
    for seed in range(4):
        found = taps_of(file, town, key_of(seed), max_records=most)
        assert found.pop((4,)) == 1
        assert sum(found.values()) == most
        seen.add(frozenset(found))
    assert len(seen) > 1 or most == 3


def test_who_else_is_there_does_not_change_what_a_person_keeps(csv_file: Write, taps: Taps) -> None:
    def day_rows(person: str, places: tuple[int, ...]) -> list[tuple[str, int, str]]:
        return [(person, p, f"2026-03-0{i}T08:00:00") for i, p in enumerate(places, start=2)]

    ann = day_rows("ann", (1, 2, 3))
    alone = taps(csv_file(ann, header=HEADER), max_records=1)
    for others in (["al"], ["zoe"], ["al", "zoe", "bob"]):
        crowd = [row for other in others for row in day_rows(other, (4, 4, 4))]
        found = taps(csv_file(crowd + ann, header=HEADER), max_records=1)
        assert found.pop((4,)) == len(others)
        assert found == alone


def test_days_and_periods_are_the_agencys_also_for_instants(csv_file: Write, taps: Taps) -> None:
    file = csv_file(
        [("ann", 1, f"{DAY}T23:30:00Z"), ("ann", 2, f"{NEXT}T01:30:00Z")], header=HEADER
    )
    assert taps(file, clock="utc", keep_times=True) == {((1, 12), (2, 14)): 1}


def test_the_hour_that_comes_twice_does_not_turn_periods_back(csv_file: Write, taps: Taps) -> None:
    night = window(
        zone="Europe/Paris",
        first_day=date(2026, 10, 25),
        last_day=date(2026, 10, 25),
        opens=0,
        minutes=30,
    )
    file = csv_file(
        [("ann", 1, "2026-10-25T00:40:00Z"), ("ann", 2, "2026-10-25T01:10:00Z")], header=HEADER
    )
    # 02:40 and then 02:10 on the clock.
    found = taps(file, clock="utc", window=night, keep_times=True)
    assert found == {((1, 5), (2, 5)): 1}


def test_unit_trip_protects_one_record(csv_file: Write, town: Taxonomy, key: BoundingKey) -> None:
    file = csv_file([("ann", i, f"2026-03-0{i + 1}T08:00:00") for i in (1, 2, 3)], header=HEADER)
    made = counter(TapsSource(file, TapColumns()), town, key, unit=Unit.RECORD)
    assert made.unit is Unit.RECORD
    root = Query(name="records", cells=first_prefixes(town))
    assert made.bound(root) == Bound(cells=1, each=1, total=1)
    assert records(made, town) == {(1,): 1, (2,): 1, (3,): 1}


def test_the_bound_is_the_number_of_records_that_a_person_can_have(
    csv_file: Write, town: Taxonomy, key: BoundingKey
) -> None:
    source = TapsSource(csv_file([], header=HEADER), TapColumns())
    root = Query(name="records", cells=first_prefixes(town))
    by_day = counter(source, town, key, max_records=7)
    assert by_day.bound(root) == Bound(cells=7, each=7, total=7)
    whole = counter(source, town, key, max_records=7, record="window")
    assert whole.bound(root) == Bound(cells=1, each=1, total=1)
    assert by_day.bound(Query(name="next", cells=root.cells.below(np.array([0])))).total == 7  # type: ignore[attr-defined]


def test_no_usable_tap_is_no_record(csv_file: Write, taps: Taps) -> None:
    assert taps(csv_file([], header=HEADER)) == {}
    assert taps(csv_file([("ann", 9, f"{DAY}T08:00:00")], header=HEADER)) == {}


def test_other_queries_are_refused(csv_file: Write, town: Taxonomy, key: BoundingKey) -> None:
    made = counter(TapsSource(csv_file([], header=HEADER), TapColumns()), town, key)
    smaller = Taxonomy(locations=Locations(town.locations.places[:2]))
    for cells in (
        ODCells(locations=town.locations, periods=window()),
        first_prefixes(smaller),
        first_prefixes(town, periods=2),
    ):
        for ask in (made.bound, made.count):
            with pytest.raises(PrivacyError):
                ask(Query(name="records", cells=cells))


def test_errors_quote_no_row(tmp_path: Path, taps: Taps) -> None:
    file = tmp_path / "taps.csv"
    file.write_text(f"{HEADER}\n{PRIVATE},1\n".replace("\n", "\r"), encoding="utf-8", newline="")
    with pytest.raises(DataError) as caught:
        taps(file)
    assert PRIVATE not in f"{caught.value}{caught.value.advice}"
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "stops",
    [
        pa.array([["1", "2"], ["3"], ["1", "2"], [], None, ["9"], [None, "4"]]),
        pa.array([[1, 2], [3], [1, 2], [], None, [9], [None, 4]]),
        pa.array(["1>2", "3", "1>2", "", None, "9", ">4>"]),
    ],
    ids=["texts", "integers", "joined"],
)
def test_ready_sequences_are_one_row_a_record(
    parquet_file: Write, town: Taxonomy, key: BoundingKey, stops: pa.Array
) -> None:
    people = ["ann", "bob", None, "cy", "cy", "cy", "cy"]
    file = parquet_file({"who": pa.array(people), "route": stops})
    anybody = SequencesSource(file, SequenceColumns(stops="route"), ">")
    found = records(counter(anybody, town, key, unit=Unit.RECORD), town)
    assert found == {(1, 2): 2, (3,): 1, (4,): 1}
    owned = SequencesSource(file, SequenceColumns(person="who", stops="route"), ">")
    assert records(counter(owned, town, key), town) == {(1, 2): 1, (3,): 1, (4,): 1}


def test_ready_sequences_of_csv_are_split_at_the_separator(
    csv_file: Write, town: Taxonomy, key: BoundingKey
) -> None:
    file = csv_file([("ann", "1 2  3"), ("bob", "2")], header="person,stops")
    source = SequencesSource(file, SequenceColumns(person="person"))
    assert records(counter(source, town, key), town) == {(1, 2, 3): 1, (2,): 1}


def test_what_a_source_lacks_is_refused_before_it_is_read(
    tmp_path: Path, town: Taxonomy, key: BoundingKey
) -> None:
    nothing = tmp_path / "gone.csv"
    with pytest.raises(DataError, match="no column of persons"):
        counter(SequencesSource(nothing, SequenceColumns()), town, key)
    owned = SequencesSource(nothing, SequenceColumns(person="person"))
    with pytest.raises(DataError, match="carry no times"):
        counter(owned, town, key, keep_times=True)
    with pytest.raises(DataError, match="without a window"):
        counter(TapsSource(nothing, TapColumns()), town, key, window=None)


@pytest.mark.parametrize(
    "choices",
    [
        {"max_stops": 0},
        {"max_stops": 2.0},
        {"max_stops": 3, "keep_times": True},
        {"max_stops": 3, "keep_times": True, "record": "window", "window": window()},
    ],
)
def test_rules_that_make_no_sense_are_refused(choices: dict[str, Any]) -> None:
    with pytest.raises(PlanError) as caught:
        SequenceRule(**choices)
    assert caught.value.advice


def test_times_can_be_kept_in_a_record_of_a_window_of_one_day() -> None:
    day = window(last_day=date(2026, 3, 2))
    assert SequenceRule(max_stops=3, keep_times=True, record="window", window=day).periods == 16


def parquet(file: Path, **types: pa.DataType) -> Path:
    pq.write_table(pa.schema(list(types.items())).empty_table(), file)
    return file


def refusal(wrong: Source) -> str:
    with pytest.raises(DataError) as caught:
        layout_of(wrong)
    assert caught.value.advice
    return str(caught.value)


def test_a_column_has_one_purpose() -> None:
    with pytest.raises(DataError, match="'x' is named for two purposes"):
        TapColumns(person="x", location="x")
    with pytest.raises(DataError, match="two purposes"):
        SequenceColumns(person="stops")


def test_a_separator_is_needed() -> None:
    with pytest.raises(DataError, match="separator"):
        SequencesSource("x.csv", SequenceColumns(), "")


def test_taps_are_called_taps(tmp_path: Path) -> None:
    assert "no taps at" in refusal(TapsSource(tmp_path / "gone.csv", TapColumns()))
    file = tmp_path / "taps.csv"
    file.write_text("person,place,time\n", encoding="utf-8")
    assert "taps file taps.csv has no column 'location'" in refusal(TapsSource(file, TapColumns()))


def test_taps_with_a_time_zone_are_instants(tmp_path: Path) -> None:
    file = parquet(
        tmp_path / "t.parquet",
        person=pa.int64(),
        location=pa.string(),
        time=pa.timestamp("us", tz="UTC"),
    )
    assert "instants" in refusal(TapsSource(file, TapColumns()))
    layout = layout_of(TapsSource(file, TapColumns(), "utc"))
    assert layout.kinds == {"person": "integer", "location": "text", "time": "zoned time"}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (pa.list_(pa.string()), "list of texts"),
        (pa.large_list(pa.large_string()), "list of texts"),
        (pa.list_(pa.int32()), "list of integers"),
        (pa.list_(pa.uint64()), "list of texts"),
        (pa.string(), "text"),
        (pa.dictionary(pa.int32(), pa.string()), "text"),
    ],
)
def test_stops_are_lists_or_text(tmp_path: Path, kind: pa.DataType, expected: str) -> None:
    file = parquet(tmp_path / "s.parquet", stops=kind)
    assert layout_of(SequencesSource(file, SequenceColumns())).kinds == {"stops": expected}


@pytest.mark.parametrize("kind", [pa.int64(), pa.list_(pa.float64()), pa.timestamp("us")])
def test_stops_of_another_type_are_refused(tmp_path: Path, kind: pa.DataType) -> None:
    file = parquet(tmp_path / "s.parquet", stops=kind)
    assert "'stops'" in refusal(SequencesSource(file, SequenceColumns()))
