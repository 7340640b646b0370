"""Random trips, and the rule that bounds them in plain Python: what engines are compared with."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa

from hushway.engine.key import PRIME, SUM_MASK, BoundingKey
from hushway.families.od.public.cells import ODCells
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods

Counts = dict[int, int]


@dataclass(frozen=True, kw_only=True)
class Trips:
    """Random trips, as codes."""

    person: Any
    origin: Any
    destination: Any
    us: Any


def town(places: int, *, include_intrazonal: bool, minutes: int = 60) -> ODCells:
    return ODCells(
        locations=Locations(
            tuple(
                Location(id=str(100 + i), name="", lon=i / 1000, lat=0.0, zone="")
                for i in range(places)
            )
        ),
        periods=Periods(
            zone="Europe/Paris",
            first_day=date(2026, 3, 28),
            last_day=date(2026, 3, 29),
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


def random_key(seed: int) -> BoundingKey:
    words = np.random.default_rng(seed).integers(0, 2**63, BoundingKey.WORDS)
    return BoundingKey.from_words([int(word) for word in words])


def by_hand(trips: Trips, cells: ODCells, key: BoundingKey, most: int) -> Counts:
    """The rule in plain Python, row by row, with integers that cannot overflow."""
    a, b, c, d, *polynomial, slope, shift = key.coefficients
    start = cells.periods.wall_slots[0].start_us
    circles: dict[int, list[tuple[int, int]]] = defaultdict(list)
    columns = (trips.person, trips.origin, trips.destination, trips.us)
    for person, o, d_, us in zip(*(column.tolist() for column in columns), strict=True):
        period = period_by_hand(cells.periods, us)
        if period is None or (o == d_ and not cells.include_intrazonal):
            continue
        low, high = (us - start) % 2**30, (us - start) // 2**30
        mixed = (a * low + b * high + c * o + d * d_) % PRIME
        place = sum(k * mixed**i for i, k in enumerate(reversed(polynomial))) % PRIME
        cell = cells.encode(*(np.array([v]) for v in (period, o, d_)))[0]
        circles[person].append((place, int(cell)))
    found: Counter[int] = Counter()
    for circle in circles.values():
        ordered = sorted(circle)
        turn = ((sum(place for place, _ in circle) & SUM_MASK) * slope + shift) % PRIME
        for rank, (_, cell) in enumerate(ordered):
            found[cell] += (rank + turn) % len(circle) < most
    return {cell: number for cell, number in found.items() if number}


def period_by_hand(periods: Periods, us: int) -> int | None:
    if any(start <= us < end for start, end in periods.skipped_wall):
        return None
    return next((s.period for s in periods.wall_slots if s.start_us <= us < s.end_us), None)


def as_counts(cells: Sequence[int], values: Sequence[int]) -> Counts:
    return {int(cell): int(value) for cell, value in zip(cells, values, strict=True)}


def table_of(trips: Trips, cells: ODCells, *, text: bool) -> pa.Table:
    ids = np.array(cells.locations.ids)
    columns: dict[str, Any] = {
        "person": pa.array([f"rider {p}" for p in trips.person]) if text else trips.person,
        "origin": ids[trips.origin] if text else ids[trips.origin].astype(np.int64),
        "destination": ids[trips.destination] if text else ids[trips.destination].astype(np.int32),
        "time": pa.array(trips.us, pa.timestamp("us")),
    }
    return pa.table(columns)
