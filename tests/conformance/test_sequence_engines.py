"""All counters of sequences count alike, to the last record, and as the rule says in words."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hushway.engine.key import PRIME, SUM_MASK, BoundingKey
from hushway.engine.settings import EngineSettings
from hushway.families.sequences.audit.suite import sequences_file_by_file
from hushway.families.sequences.public.prefixes import PrefixCells, first_prefixes
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.families.sequences.rows.counter import EngineSequences
from hushway.families.sequences.rows.memory import ArraySequences
from hushway.families.sequences.rows.sequences import (
    SequenceColumns,
    SequenceRule,
    SequencesSource,
    TapColumns,
    TapsSource,
)
from hushway.geography.locations import Labels, Location, Locations
from hushway.geography.periods import Periods
from hushway.privacy.bound import Unit
from hushway.privacy.query import Query

Steps = list[dict[int, int]]
Scatter = Callable[[Path, pa.Table, str, int], Path]
SETTINGS = EngineSettings(memory_limit="500MB", threads=2, batch_rows=3)
PLACES = 7
WINDOW = Periods(
    zone="Europe/Paris",
    first_day=date(2026, 3, 28),
    last_day=date(2026, 3, 30),
    opens=240,
    closes=1320,
    minutes=360,
)


@dataclass(frozen=True, kw_only=True)
class Taps:
    """Random taps, as codes."""

    person: Any
    place: Any
    us: Any


@dataclass(frozen=True, kw_only=True)
class Record:
    """One record as the rule in plain Python makes it."""

    person: int
    since_us: int
    stops: tuple[int, ...]
    periods: tuple[int, ...]


def town() -> Taxonomy:
    places = tuple(
        Location(id=str(100 + i), name="", lon=i / 100, lat=0.0, zone="") for i in range(PLACES)
    )
    coarse = Labels(
        column="area", codes=np.array([1, 0, 1, 0, 0, 1, 1], dtype=np.int32), names=("n", "s")
    )
    fine = Labels(
        column="line", codes=np.array([2, 0, 1, 0, 3, 1, 2], dtype=np.int32), names=tuple("abcd")
    )
    return Taxonomy(locations=Locations(places), levels=(coarse, fine))


def random_taps(seed: int, size: int, step_us: int) -> Taps:
    """Taps of people with very different numbers of them; the coarser the step, the more ties."""
    rng = np.random.default_rng(seed)
    start, end = WINDOW.wall_slots[0].start_us, WINDOW.wall_slots[-1].end_us
    margin = 10**10
    return Taps(
        person=rng.zipf(1.2, size) % 301 - 30,
        place=rng.integers(-1, PLACES, size),
        us=rng.integers((start - margin) // step_us, (end + margin) // step_us, size) * step_us,
    )


def random_key(seed: int) -> BoundingKey:
    words = np.random.default_rng(seed).integers(0, 2**63, BoundingKey.WORDS)
    return BoundingKey.from_words([int(word) for word in words])


def place_by_hand(key: BoundingKey, since: int, one: int, two: int) -> int:
    a, b, c, d, *polynomial, _, _ = key.coefficients
    mixed = (a * (since % 2**30) + b * (since // 2**30) + c * one + d * two) % PRIME
    return sum(k * mixed**i for i, k in enumerate(reversed(polynomial))) % PRIME


def records_by_hand(taps: Taps, key: BoundingKey, rule: SequenceRule) -> list[Record]:
    """Who was where on which day, in the order of time and, in ties, of the key."""
    start = WINDOW.wall_slots[0].start_us
    rows: dict[tuple[int, int], list[tuple[int, int, int, int]]] = defaultdict(list)
    columns = (taps.person.tolist(), taps.place.tolist(), taps.us.tolist())
    for person, place, us in zip(*columns, strict=True):
        slots = [i for i, s in enumerate(WINDOW.wall_slots) if s.start_us <= us < s.end_us]
        if place >= 0 and slots:
            day, period = divmod(slots[0], WINDOW.parts)
            since = us - start
            tie = place_by_hand(key, since, place, 0)
            rows[person, day if rule.record == "day" else 0].append((since, tie, place, period))
    return [
        Record(
            person=person,
            since_us=min(found)[0],
            stops=tuple(row[2] for row in sorted(found)[: rule.max_stops]),
            periods=tuple(row[3] for row in sorted(found)[: rule.max_stops]),
        )
        for (person, _), found in rows.items()
    ]


def bounded_by_hand(
    records: list[Record], key: BoundingKey, rule: SequenceRule, most: int
) -> list[Record]:
    circles: dict[int, list[tuple[int, int, Record]]] = defaultdict(list)
    for record in records:
        numbers = []
        for point in key.coefficients[2:4]:
            chain = 0
            for stop, period in zip(record.stops, record.periods, strict=True):
                chain = (chain * point + stop + 1) % PRIME
                if rule.keep_times:
                    chain = (chain * point + period + 1) % PRIME
            numbers.append(chain)
        place = place_by_hand(key, record.since_us, *numbers)
        circles[record.person].append((place, record.since_us, record))
    kept = []
    slope, shift = key.coefficients[-2:]
    for circle in circles.values():
        turn = ((sum(place for place, _, _ in circle) & SUM_MASK) * slope + shift) % PRIME
        for rank, (_, _, record) in enumerate(sorted(circle, key=lambda each: each[:2])):
            if len(circle) <= most or (rank + turn) % len(circle) < most:
                kept.append(record)
    return kept


def walk(taxonomy: Taxonomy, periods: int, count: Any, stops: int) -> Steps:
    """Goes down the tree, keeping most occupied and some empty candidates; says what it saw."""
    cells: PrefixCells = first_prefixes(taxonomy, periods=periods)
    seen = []
    while cells.stop < stops and cells.size:
        found = count(cells)
        seen.append(found)
        kept = {c for c in found if c % 5 != 4} | set(range(3, cells.size, 17))
        cells = cells.below(np.array(sorted(kept), dtype=np.int64))
    return seen


def count_by_hand(records: list[Record], *, timed: bool) -> Any:
    """Counts by comparing each record with the prefix that each candidate stands for."""

    def prefix(cells: PrefixCells, cell: int) -> tuple[tuple[int, int, int], ...]:
        """The (grain, period, group) of every stop up to this candidate."""
        node, period, group = (int(part[0]) for part in cells.describe(np.array([cell])))
        own = (cells.grain, period, group)
        if cells.above is None:
            return (own,)
        before = prefix(cells.above, int(cells.kept[node]))
        return (*before, own) if cells.grain == 0 else (*before[:-1], own)

    def count(cells: PrefixCells) -> dict[int, int]:
        wanted = {prefix(cells, cell): cell for cell in range(cells.size)}
        assert len(wanted) == cells.size
        grains = cells.taxonomy.grains
        found: Counter[int] = Counter()
        for record in records:
            if len(record.stops) > cells.stop:
                own = tuple(
                    (grain, record.periods[i] if timed else 0, int(codes[record.stops[i]]))
                    for i in range(cells.stop + 1)
                    for grain in [grains - 1 if i < cells.stop else cells.grain]
                    for codes in [cells.taxonomy.codes(grain)]
                )
                if own in wanted:
                    found[wanted[own]] += 1
        return dict(found)

    return count


def counter_of(counter: EngineSequences | ArraySequences) -> Any:
    def count(cells: PrefixCells) -> dict[int, int]:
        query = Query(name="records", cells=cells)
        found = counter.count(query)
        assert (found.values > 0).all()
        return dict(zip(found.cells.tolist(), found.values.tolist(), strict=True))

    return count


def by_memory(
    taxonomy: Taxonomy, records: Sequence[Record], rule: SequenceRule, key: BoundingKey, most: int
) -> ArraySequences:
    lengths = [len(record.stops) for record in records]
    return ArraySequences(
        taxonomy=taxonomy,
        unit=Unit.PERSON,
        max_records=most,
        max_stops=rule.max_stops,
        key=key,
        start=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        stops=np.array([stop for record in records for stop in record.stops]),
        person=np.array([record.person for record in records]),
        periods=rule.periods,
        period=np.array([p for r in records for p in r.periods]) if rule.keep_times else None,
        since_us=np.array([record.since_us for record in records]),
    )


def table_of(taxonomy: Taxonomy, taps: Taps, *, text: bool) -> pa.Table:
    ids = np.array([*taxonomy.locations.ids, "999"])[taps.place]
    columns: dict[str, Any] = {
        "person": pa.array([f"rider {p}" for p in taps.person]) if text else taps.person,
        "location": ids if text else ids.astype(np.int64),
        "time": pa.array(taps.us, pa.timestamp("us")),
    }
    return pa.table(columns)


def by_duckdb(
    folder: Path,
    taxonomy: Taxonomy,
    rule: SequenceRule,
    key: BoundingKey,
    engine: Callable[..., Any] = EngineSequences,
) -> Any:
    return engine(
        source=TapsSource(folder, TapColumns()),
        taxonomy=taxonomy,
        rule=rule,
        unit=Unit.PERSON,
        key=key,
        settings=SETTINGS,
    )


STEPS: dict[str, int] = {"microseconds": 1, "minutes": 60_000_000, "two hours": 7_200_000_000}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    ("record", "keep_times", "most"),
    [("day", False, 1), ("day", True, 2), ("day", True, 9), ("window", False, 1)],
)
def test_every_counter_counts_what_the_rule_says(
    *, tmp_path: Path, scatter: Scatter, step: str, record: Any, keep_times: bool, most: int
) -> None:
    taxonomy, key = town(), random_key(12)
    rule = SequenceRule(
        max_stops=3, max_records=most, window=WINDOW, record=record, keep_times=keep_times
    )
    taps = random_taps(seed=11, size=1_500, step_us=STEPS[step])
    records = records_by_hand(taps, key, rule)
    kept = bounded_by_hand(records, key, rule, most)
    assert most == 9 or record == "window" or len(kept) < len(records)
    expected = walk(taxonomy, rule.periods, count_by_hand(kept, timed=keep_times), 3)
    assert len(expected) == 9
    assert all(expected)
    folders = [
        scatter(tmp_path / f"{form} {text}", table_of(taxonomy, taps, text=text), form, files)
        for text, form, files in ((False, "parquet", 1), (True, "parquet", 23), (True, "csv", 17))
    ]
    for counter in (
        by_memory(taxonomy, records, rule, key, most),
        by_memory(taxonomy, records[::-1], rule, key, most),
        *(by_duckdb(folder, taxonomy, rule, key) for folder in folders),
    ):
        assert walk(taxonomy, rule.periods, counter_of(counter), 3) == expected


def test_a_reader_that_bounds_each_file_by_itself_is_seen(tmp_path: Path, scatter: Scatter) -> None:
    taxonomy, key = town(), random_key(12)
    rule = SequenceRule(max_stops=3, max_records=2, window=WINDOW, record="day")
    taps = random_taps(seed=11, size=1_500, step_us=1)
    folder = scatter(tmp_path / "files", table_of(taxonomy, taps, text=False), "parquet", 3)
    cells = first_prefixes(taxonomy)
    right, wrong = (
        counter_of(by_duckdb(folder, taxonomy, rule, key, engine))(cells)
        for engine in (EngineSequences, sequences_file_by_file)
    )
    assert sum(wrong.values()) > sum(right.values())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("unit", list(Unit))
def test_ready_sequences_count_as_arrays_do(
    tmp_path: Path, scatter: Scatter, seed: int, unit: Unit
) -> None:
    rng = np.random.default_rng(seed)
    taxonomy, key, most, stops = town(), random_key(seed + 50), 3, 4
    lengths = rng.integers(1, 7, 600)
    start = np.concatenate([[0], np.cumsum(lengths)])
    places = rng.integers(0, PLACES, start[-1]) // 3
    person = rng.zipf(1.5, 600) % 41
    expected = walk(
        taxonomy,
        1,
        counter_of(
            ArraySequences(
                taxonomy=taxonomy,
                unit=unit,
                max_records=most,
                max_stops=stops,
                key=key,
                start=start,
                stops=places,
                person=person,
            )
        ),
        stops,
    )
    ids = [
        [taxonomy.locations.ids[i] for i in places[low:high]]
        for low, high in pairwise(start.tolist())
    ]
    # Rows in another order, and one location that is not in the list, change nothing.
    order = rng.permutation(600)
    lists = [["nowhere", *ids[i]] for i in order]
    columns: dict[str, Any] = {
        "texts": pa.array(lists),
        "integers": pa.array([[int(x) for x in ids[i]] for i in order]),
        "joined": pa.array([" ".join(each) for each in lists]),
    }
    for files, (name, column) in enumerate(columns.items(), start=1):
        table = pa.table({"who": person[order], "stops": column})
        folder = scatter(tmp_path / name, table, "parquet", 7 * files)
        counter = EngineSequences(
            source=SequencesSource(folder, SequenceColumns(person="who")),
            taxonomy=taxonomy,
            rule=SequenceRule(max_stops=stops, max_records=most),
            unit=unit,
            key=key,
            settings=SETTINGS,
        )
        assert walk(taxonomy, 1, counter_of(counter), stops) == expected
