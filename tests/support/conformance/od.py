"""Trips: random ones, the rule that bounds them in plain Python, and cases for all engines."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hushway.engine.key import PRIME, SUM_MASK, BoundingKey
from hushway.engine.settings import EngineSettings
from hushway.families.od.public.cells import ODCells
from hushway.families.od.rows.bounding import ArrayCounter
from hushway.families.od.rows.counter import EngineTrips
from hushway.families.od.rows.trips import TripColumns, TripsSource
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods
from hushway.privacy.bound import Unit
from hushway.privacy.contribution import RankedCells
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

Counts = dict[int, int]
# Whose, from where, to where, when, and which trip of theirs if trips have ids.
Row = tuple[Hashable, int, int, int, Hashable | None]
KEY = random_key(12)
# How many trips of a person count in cells, in any one cell, and in cells and sums together.
MOST, CAP, BEYOND = 5, 2, 8


@dataclass(frozen=True, kw_only=True)
class Trips:
    """Random trips, as codes."""

    person: Any
    origin: Any
    destination: Any
    us: Any

    @property
    def rows(self) -> Iterable[Row]:
        """The trips one by one."""
        columns = (self.person, self.origin, self.destination, self.us)
        return ((*row, None) for row in zip(*(c.tolist() for c in columns), strict=True))


def town(
    places: int,
    *,
    include_intrazonal: bool = False,
    minutes: int = 60,
    first: date = SEASONS["spring"],
) -> ODCells:
    return ODCells(
        locations=Locations(
            tuple(
                Location(id=str(100 + i), name="", lon=i / 1000, lat=0.0, zone="")
                for i in range(places)
            )
        ),
        periods=Periods(
            zone=ZONE,
            first_day=first,
            last_day=first + timedelta(days=1),
            opens=0,
            closes=1440,
            minutes=minutes,
        ),
        include_intrazonal=include_intrazonal,
    )


def random_trips(cells: ODCells, seed: int, size: int, step_us: int) -> Trips:
    """Trips with skewed persons; the coarser the step, the more ties."""
    rng = np.random.default_rng(seed)
    start, end = cells.periods.wall_slots[0].start_us, cells.periods.wall_slots[-1].end_us
    margin = 10**10
    return Trips(
        person=rng.zipf(1.3, size) % 97 - 50,
        origin=rng.integers(0, len(cells.locations), size),
        destination=rng.integers(0, len(cells.locations), size),
        us=rng.integers((start - margin) // step_us, (end + margin) // step_us, size) * step_us,
    )


def slots_of(periods: Periods, clock: Clock) -> Any:
    return periods.instant_slots if clock == "utc" else periods.wall_slots


def by_hand(trips: Trips, cells: ODCells, key: BoundingKey, most: int) -> Counts:
    """The rule for trips of a wall clock."""
    return counted_by_hand(trips.rows, cells, key, most)


def counted_by_hand(
    rows: Iterable[Row], cells: ODCells, key: BoundingKey, most: int, clock: Clock = "local"
) -> Counts:
    """The rule in plain Python, row by row, with integers that cannot overflow."""
    found: Counter[int] = Counter()
    for circle in circles_by_hand(rows, cells, key, clock):
        for rank, cell in enumerate(turned_by_hand(circle, key)):
            found[cell] += rank < most
    return {cell: number for cell, number in found.items() if number}


def capped_by_hand(
    rows: Iterable[Row], cells: ODCells, key: BoundingKey, most: int, cap: int
) -> Answers:
    """The same with at most some trips of a person in a cell, and what that leaves out."""
    counted, left_out = Counter[int](), Counter[int]()
    for circle in circles_by_hand(rows, cells, key, "local"):
        within: list[tuple[int, int]] = []
        beyond: list[tuple[int, int]] = []
        for one in sorted(circle):
            alike = sum(cell == one[1] for _, cell in within)
            (within if alike < cap else beyond).append(one)
        first, last = (turned_by_hand(part, key) for part in (within, beyond))
        counted.update(first[:most])
        left_out.update([*first, *last][len(first[:most]) : BEYOND])
    return [dict(counted), dict(left_out)]


def turned_by_hand(circle: list[tuple[int, int]], key: BoundingKey) -> list[int]:
    """The cells of a circle of trips by their ranks."""
    *_, slope, shift = key.coefficients
    if not circle:
        return []
    turn = ((sum(place for place, _ in circle) & SUM_MASK) * slope + shift) % PRIME
    start = -turn % len(circle)
    ordered = [cell for _, cell in sorted(circle)]
    return ordered[start:] + ordered[:start]


def circles_by_hand(
    rows: Iterable[Row], cells: ODCells, key: BoundingKey, clock: Clock
) -> Iterable[list[tuple[int, int]]]:
    """Everybody's trips that count at all, as (place in the circle, cell)."""
    start = slots_of(cells.periods, clock)[0].start_us
    circles: dict[Hashable, list[tuple[int, int]]] = defaultdict(list)
    named: dict[tuple[Hashable, Hashable], tuple[int, int]] = {}
    for person, o, d_, us, trip in rows:
        period = period_by_hand(cells.periods, us, clock)
        if period is None or (o == d_ and not cells.include_intrazonal):
            continue
        place = number_by_hand(key, us - start, o, d_)
        one = (place, int(cells.encode(*(np.array([v]) for v in (period, o, d_)))[0]))
        if trip is None:
            circles[person].append(one)
        else:
            # Of rows that are one trip, the first one in the key's order.
            named[person, trip] = min(one, named.get((person, trip), one))
    for (person, _), one in named.items():
        circles[person].append(one)
    return circles.values()


def period_by_hand(periods: Periods, us: int, clock: Clock = "local") -> int | None:
    if clock == "local" and any(start <= us < end for start, end in periods.skipped_wall):
        return None
    slots = slots_of(periods, clock)
    return next((s.period for s in slots if s.start_us <= us < s.end_us), None)


def by_memory(
    trips: Trips, cells: ODCells, key: BoundingKey, most: int, clock: Clock = "local"
) -> Counts:
    counter = in_memory(trips, cells, key, most, clock)
    return as_counts(counter.count(Query(name="trips", cells=cells)))


def in_memory(
    trips: Trips, cells: ODCells, key: BoundingKey, most: int, clock: Clock, **limits: Any
) -> ArrayCounter:
    # Outside the window there is no period; -1 has no cell.
    known = [period_by_hand(cells.periods, us, clock) for us in trips.us.tolist()]
    return ArrayCounter(
        cells=cells,
        unit=Unit.PERSON,
        max_trips=most,
        **limits,
        key=key,
        person=trips.person,
        period=np.array([-1 if p is None else p for p in known]),
        origin=trips.origin,
        destination=trips.destination,
        since_us=trips.us - slots_of(cells.periods, clock)[0].start_us,
    )


def counts_of(
    source: TripsSource,
    cells: ODCells,
    settings: EngineSettings,
    *,
    unit: Unit = Unit.PERSON,
    most: int = 4,
    key: BoundingKey = KEY,
    engine: Callable[..., Any] = EngineTrips,
) -> Counts:
    counter = engine(
        source=source, cells=cells, unit=unit, max_trips=most, key=key, settings=settings
    )
    return as_counts(counter.count(Query(name="trips", cells=cells)))


def table_of(trips: Trips, cells: ODCells, *, text: bool, clock: Clock = "local") -> pa.Table:
    ids = np.array(cells.locations.ids)
    columns: dict[str, Any] = {
        "person": pa.array([f"rider {p}" for p in trips.person]) if text else trips.person,
        "origin": ids[trips.origin] if text else ids[trips.origin].astype(np.int64),
        "destination": ids[trips.destination] if text else ids[trips.destination].astype(np.int32),
        "time": pa.array(trips.us, pa.timestamp("us", "UTC" if clock == "utc" else None)),
    }
    return pa.table(columns)


def odd_trips(cells: ODCells) -> pa.Table:
    """Trips with ids that nobody has, times on both sides of the window, and repeated trip ids."""
    trips = random_trips(cells, seed=3, size=900, step_us=1)
    table = table_of(trips, cells, text=True)
    table = table.append_column("trip", pa.array([f"t{i % 400}" for i in range(len(table))]))
    first = table.slice(0, 1).to_pylist()[0]
    inside = datetime(2026, 3, 28, 9)  # noqa: DTZ001  of a wall clock
    strange = [
        dict.fromkeys(first),
        *(
            first | {"time": inside, "person": p}
            for p in (None, "", " ", "\u2003\t", "\x1c", "\x85")
        ),
        *(
            first | {"time": inside, "person": p}
            for p in ("a", "A", "a ", " a", "\u200b", "\u00e4")
        ),
        *(first | {"time": inside, "trip": t} for t in (None, " ")),
        *(
            first | {"time": inside, end: p}
            for end in ("origin", "destination")
            for p in (None, "x")
        ),
        *(first | {"time": datetime(y, 7, 1)} for y in (1925, 1969, 2027, 2120)),  # noqa: DTZ001
        # Daylight saving skipped this half hour.
        first | {"time": datetime(2026, 3, 29, 2, 30)},  # noqa: DTZ001
        *(first | {"time": inside, "person": "tireless", "trip": f"r{i}"} for i in range(300)),
    ]
    return pa.concat_tables([table, pa.Table.from_pylist(strange, schema=table.schema)])


def odd_rows(table: pa.Table, cells: ODCells, unit: Unit, columns: TripColumns) -> Iterable[Row]:
    """Says what of a table can be counted at all, whose it is, and which trip."""
    index = {id_: i for i, id_ in enumerate(cells.locations.ids)}
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    for number, row in enumerate(table.to_pylist()):
        trip = row["trip"] if columns.trip_id else number
        person = row["person"] if columns.person else "anybody"
        # Where every row is a trip, it does not matter who made it.
        needed = [row["person"]] if unit is Unit.PERSON else []
        if columns.trip_id:
            needed = [person, trip]
        ends = (index.get(row["origin"]), index.get(row["destination"]))
        if not all(name and name.strip() for name in needed) or None in ends or not row["time"]:
            continue
        us = (row["time"].replace(tzinfo=UTC) - epoch) // timedelta(microseconds=1)
        owner = person if unit is Unit.PERSON else (person, trip)
        yield owner, *ends, us, trip


def _case(
    name: str,
    trips: Trips,
    cells: ODCells,
    *,
    text: bool,
    most: int,
    clock: Clock = "local",
    key: BoundingKey = KEY,
) -> Case:
    columns = TripColumns(person="person")

    def count(path: Path | str, settings: EngineSettings) -> Answers:
        source = TripsSource(path, columns, clock=clock)
        return [counts_of(source, cells, settings, most=most, key=key)]

    return Case(
        name=f"od, {name}",
        rows=lambda: table_of(trips, cells, text=text, clock=clock),
        by_hand=lambda: [counted_by_hand(trips.rows, cells, key, most, clock)],
        by_memory=lambda: [by_memory(trips, cells, key, most, clock)],
        count=count,
        in_csv=True,
    )


def _capped_case() -> Case:
    """At most so many trips of a person in a cell; many of them tie."""
    cells, limits = town(4), {"ladder": (MOST, BEYOND), "caps": (1, CAP)}
    trips = random_trips(cells, seed=31, size=1_500, step_us=21_600_000_000)

    def asked(counter: Any) -> Answers:
        ranks = ((0, MOST), (MOST, BEYOND))
        questions = (
            RankedCells(base=cells, first=first, last=last, cap=CAP) for first, last in ranks
        )
        return [as_counts(counter.count(Query(name="x", cells=one))) for one in questions]

    def count(path: Path | str, settings: EngineSettings) -> Answers:
        counter = EngineTrips(
            source=TripsSource(path, TripColumns(person="person")),
            cells=cells,
            unit=Unit.PERSON,
            max_trips=MOST,
            key=KEY,
            settings=settings,
            **limits,
        )
        return asked(counter)

    return Case(
        name="od, at most so many trips in a cell",
        rows=lambda: table_of(trips, cells, text=True),
        by_hand=lambda: capped_by_hand(trips.rows, cells, KEY, MOST, CAP),
        by_memory=lambda: asked(in_memory(trips, cells, KEY, MOST, "local", **limits)),
        count=count,
        in_csv=True,
    )


def _odd_case(unit: Unit, columns: TripColumns) -> Case:
    cells = town(4)
    most = 4 if unit is Unit.PERSON else 1

    def count(path: Path | str, settings: EngineSettings) -> Answers:
        return [counts_of(TripsSource(path, columns), cells, settings, unit=unit, most=most)]

    def hand() -> Answers:
        rows = odd_rows(odd_trips(cells), cells, unit, columns)
        return [counted_by_hand(rows, cells, KEY, most)]

    told = f"{'with' if columns.trip_id else 'without'} trip ids"
    told += "" if columns.person else ", without persons"
    return Case(
        name=f"od, odd rows, unit {unit.value}, {told}",
        rows=lambda: odd_trips(cells),
        by_hand=hand,
        by_memory=None,
        count=count,
        in_csv=True,
    )


def _tireless(cells: ODCells) -> Trips:
    """One person with very many trips among others."""
    trips = random_trips(cells, seed=9, size=TIRELESS + 900, step_us=1)
    person = trips.person.copy()
    person[:TIRELESS] = 7
    return Trips(person=person, origin=trips.origin, destination=trips.destination, us=trips.us)


def _cases() -> Sequence[Case]:
    plain, among_themselves = town(4), town(4, include_intrazonal=True)
    steps = {"microseconds": 1, "minutes": 60_000_000, "six hours": 21_600_000_000}
    # Every pair of the ways in which cases differ.
    mixed = [
        ("microseconds", plain, False, 4),
        ("microseconds", among_themselves, True, 1),
        ("minutes", plain, True, 1_000),
        ("minutes", among_themselves, False, 1),
        ("six hours", plain, True, 1),
        ("six hours", among_themselves, False, 4),
        ("six hours", plain, False, 1_000),
    ]
    cases = [
        _case(
            f"times by {step}, {'text' if text else 'integers'}, at most {most}"
            f"{', also to the origin' if cells.include_intrazonal else ''}",
            random_trips(cells, seed=11, size=1_500, step_us=steps[step]),
            cells,
            text=text,
            most=most,
        )
        for step, cells, text, most in mixed
    ]
    for season, first in SEASONS.items():
        for text, clock in ((False, "utc"), (True, "local")):
            cells = town(5, first=first, minutes=30)
            trips = random_trips(cells, seed=21, size=1_200, step_us=900_000_000)
            name = f"clocks change in {season}, {clock}"
            cases.append(_case(name, trips, cells, text=text, most=3, clock=clock))
    many = town(30, minutes=15)
    for seed in (1, 2):
        trips = random_trips(many, seed=seed, size=1_500, step_us=900_000_000)
        key = random_key(seed + 100)
        cases.append(_case(f"key {seed}", trips, many, text=bool(seed % 2), most=7, key=key))
    vast = town(3_000, minutes=2)
    trips = random_trips(vast, seed=5, size=800, step_us=1)
    steep = BoundingKey((PRIME - 1,) * BoundingKey.WORDS)
    cases.append(_case("cells beyond 32 bits", trips, vast, text=True, most=3, key=steep))
    cases.append(_case("one tireless person", _tireless(plain), plain, text=True, most=30))
    named, known = TripColumns(person="person"), TripColumns(person="person", trip_id="trip")
    odd = [_odd_case(unit, ids) for unit in (Unit.PERSON, Unit.TRIP) for ids in (named, known)]
    return [*cases, _capped_case(), *odd, _odd_case(Unit.TRIP, TripColumns(trip_id="trip"))]


CASES = _cases()
