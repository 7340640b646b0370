"""Sequences: random ones, the rule that bounds them in plain Python, and cases for all engines."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hushway.engine.key import PRIME, SUM_MASK, BoundingKey
from hushway.engine.settings import EngineSettings
from hushway.families.sequences.public.prefixes import PrefixCells, first_prefixes
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.families.sequences.rows.counter import ArraySequences, EngineSequences
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
from hushway.tables.header import Clock
from support.conformance.case import (
    SEASONS,
    TIRELESS,
    ZONE,
    Answers,
    Case,
    as_counts,
    number_by_hand,
    random_key,
)

KEY = random_key(12)
PLACES = 7


def window_of(first: date) -> Periods:
    return Periods(
        zone=ZONE,
        first_day=first,
        last_day=first + timedelta(days=2),
        opens=240,
        closes=1320,
        minutes=360,
    )


WINDOW = window_of(SEASONS["spring"])


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


def slots_of(window: Periods, clock: Clock) -> Any:
    return window.instant_slots if clock == "utc" else window.wall_slots


def random_taps(
    seed: int, size: int, step_us: int, window: Periods = WINDOW, clock: Clock = "local"
) -> Taps:
    """Taps of people with very different numbers of them; the coarser the step, the more ties."""
    rng = np.random.default_rng(seed)
    slots = slots_of(window, clock)
    start, end = slots[0].start_us, slots[-1].end_us
    margin = 10**10
    return Taps(
        person=rng.zipf(1.2, size) % 301 - 30,
        place=rng.integers(-1, PLACES, size),
        us=rng.integers((start - margin) // step_us, (end + margin) // step_us, size) * step_us,
    )


def records_by_hand(
    taps: Taps, key: BoundingKey, rule: SequenceRule, clock: Clock = "local"
) -> list[Record]:
    """Who was where on which day, in the order of time and, in ties, of the key."""
    window = rule.window
    assert window is not None
    every = slots_of(window, clock)
    start = every[0].start_us
    rows: dict[tuple[int, int], list[tuple[int, int, int, int]]] = defaultdict(list)
    columns = (taps.person.tolist(), taps.place.tolist(), taps.us.tolist())
    for person, place, us in zip(*columns, strict=True):
        slots = [i for i, s in enumerate(every) if s.start_us <= us < s.end_us]
        if place >= 0 and slots:
            day, period = divmod(slots[0], window.parts)
            since = us - start
            tie = number_by_hand(key, since, place, 0)
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
        place = number_by_hand(key, record.since_us, *numbers)
        circles[record.person].append((place, record.since_us, record))
    kept = []
    slope, shift = key.coefficients[-2:]
    for circle in circles.values():
        turn = ((sum(place for place, _, _ in circle) & SUM_MASK) * slope + shift) % PRIME
        for rank, (_, _, record) in enumerate(sorted(circle, key=lambda each: each[:2])):
            if len(circle) <= most or (rank + turn) % len(circle) < most:
                kept.append(record)
    return kept


def walk(taxonomy: Taxonomy, periods: int, count: Any, stops: int) -> Answers:
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
    return lambda cells: as_counts(counter.count(Query(name="records", cells=cells)))


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


def table_of(taxonomy: Taxonomy, taps: Taps, *, text: bool, clock: Clock = "local") -> pa.Table:
    """Returns taps, and some of them once more of nobody, nowhere or at no time."""
    ids = np.array([*taxonomy.locations.ids, "999"])[taps.place]
    columns: dict[str, Any] = {
        "person": pa.array([f"rider {p}" for p in taps.person]) if text else taps.person,
        "location": ids if text else ids.astype(np.int64),
        "time": pa.array(taps.us, pa.timestamp("us", "UTC" if clock == "utc" else None)),
    }
    table = pa.table(columns)
    some = table.slice(0, 9)
    lost = [
        some.set_column(at, name, pa.nulls(len(some), some[name].type))
        for at, name in enumerate(some.column_names)
    ]
    blank = [some.set_column(0, "person", pa.array([" "] * len(some)))] if text else []
    return pa.concat_tables([table, *lost, *blank])


def engine_of(
    path: Path | str,
    taxonomy: Taxonomy,
    rule: SequenceRule,
    settings: EngineSettings,
    *,
    clock: Clock = "local",
    engine: Callable[..., Any] = EngineSequences,
) -> Any:
    return engine(
        source=TapsSource(path, TapColumns(), clock=clock),
        taxonomy=taxonomy,
        rule=rule,
        unit=Unit.PERSON,
        key=KEY,
        settings=settings,
    )


def _taps_case(name: str, taps: Taps, rule: SequenceRule, *, text: bool, clock: Clock) -> Case:
    taxonomy = town()

    def hand() -> Answers:
        records = records_by_hand(taps, KEY, rule, clock)
        kept = bounded_by_hand(records, KEY, rule, rule.max_records)
        return walk(taxonomy, rule.periods, count_by_hand(kept, timed=rule.keep_times), 3)

    def memory() -> Answers:
        # In any order.
        records = records_by_hand(taps, KEY, rule, clock)[::-1]
        counter = by_memory(taxonomy, records, rule, KEY, rule.max_records)
        return walk(taxonomy, rule.periods, counter_of(counter), 3)

    def count(path: Path | str, settings: EngineSettings) -> Answers:
        counter = engine_of(path, taxonomy, rule, settings, clock=clock)
        return walk(taxonomy, rule.periods, counter_of(counter), 3)

    return Case(
        name=f"sequences, {name}",
        rows=lambda: table_of(taxonomy, taps, text=text, clock=clock),
        by_hand=hand,
        by_memory=memory,
        count=count,
        in_csv=True,
    )


def _ready_case(unit: Unit, kind: str) -> Case:
    """Sequences that are ready, in lists or in one text."""
    rng = np.random.default_rng(2)
    taxonomy, most, stops, size = town(), 3, 4, 600
    lengths = rng.integers(1, 7, size)
    start = np.concatenate([[0], np.cumsum(lengths)])
    places = rng.integers(0, PLACES, start[-1]) // 3
    person = rng.zipf(1.5, size) % 41
    order = rng.permutation(size)
    ids = [
        [taxonomy.locations.ids[i] for i in places[low:high]]
        for low, high in pairwise(start.tolist())
    ]

    def rows() -> pa.Table:
        # Rows in another order, and one location that is not in the list, change nothing.
        lists = [["nowhere", *ids[i]] for i in order]
        columns: dict[str, Any] = {
            "texts": pa.array(lists),
            "integers": pa.array([[int(x) for x in ids[i]] for i in order]),
            "joined": pa.array([" ".join(each) for each in lists]),
        }
        return pa.table({"who": person[order], "stops": columns[kind]})

    def memory() -> Answers:
        counter = ArraySequences(
            taxonomy=taxonomy,
            unit=unit,
            max_records=most,
            max_stops=stops,
            key=KEY,
            start=start,
            stops=places,
            person=person,
        )
        return walk(taxonomy, 1, counter_of(counter), stops)

    def count(path: Path | str, settings: EngineSettings) -> Answers:
        counter = EngineSequences(
            source=SequencesSource(path, SequenceColumns(person="who")),
            taxonomy=taxonomy,
            rule=SequenceRule(max_stops=stops, max_records=most),
            unit=unit,
            key=KEY,
            settings=settings,
        )
        return walk(taxonomy, 1, counter_of(counter), stops)

    return Case(
        name=f"sequences, ready ones in {kind}, unit {unit.value}",
        rows=rows,
        by_hand=memory,
        by_memory=None,
        count=count,
        in_csv=False,
    )


def _cases() -> Sequence[Case]:
    def rule(record: Any, most: int, *, keep_times: bool, season: str = "spring") -> SequenceRule:
        window = window_of(SEASONS[season])
        return SequenceRule(
            max_stops=3, max_records=most, window=window, record=record, keep_times=keep_times
        )

    minutes, hours = 60_000_000, 7_200_000_000
    by_day = rule("day", 2, keep_times=True)
    found = [
        _taps_case(
            f"times by {name}, {'text' if text else 'integers'}, of a {asked.record}, at most "
            f"{asked.max_records}",
            random_taps(seed=11, size=1_500, step_us=step),
            asked,
            text=text,
            clock="local",
        )
        for name, step, text, asked in (
            ("microseconds", 1, True, by_day),
            ("minutes", minutes, False, rule("day", 1, keep_times=False)),
            ("two hours", hours, True, rule("window", 1, keep_times=False)),
            ("two hours", hours, False, by_day),
            ("two hours", hours, True, rule("day", 9, keep_times=True)),
        )
    ]
    for season in SEASONS:
        changed = rule("day", 2, keep_times=True, season=season)
        assert changed.window is not None
        taps = random_taps(21, 1_200, minutes, changed.window, "utc")
        found.append(
            _taps_case(f"clocks change in {season}, utc", taps, changed, text=False, clock="utc")
        )
    tireless = random_taps(seed=4, size=TIRELESS + 900, step_us=1)
    tireless.person[:TIRELESS] = 7
    found.append(_taps_case("one tireless person", tireless, by_day, text=True, clock="local"))
    ready = (
        (Unit.PERSON, "texts"),
        (Unit.DEVICE, "joined"),
        (Unit.RECORD, "integers"),
        (Unit.TRIP, "texts"),
    )
    return [*found, *(_ready_case(unit, kind) for unit, kind in ready)]


CASES = _cases()
