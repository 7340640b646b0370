"""Visits: random ones, the rule that bounds them in plain Python, and cases for all engines."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import shapely

from hushway.engine.key import PRIME, SUM_MASK, BoundingKey
from hushway.engine.settings import EngineSettings
from hushway.families.density.public.cover import Cover, Pieces
from hushway.families.density.public.visits import (
    PERSON_PARTS,
    ClusterSeries,
    ClusterTotals,
    DensityUniverse,
    SiteHistogram,
    Sites,
    VisitCells,
    VisitLimits,
    VisitTotal,
)
from hushway.families.density.rows.counter import EngineVisits
from hushway.families.density.rows.counts import ArrayVisits
from hushway.families.density.rows.rows import EventColumns, EventsSource
from hushway.geography.areas import Area, Areas
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods
from hushway.privacy.query import Query
from hushway.tables.header import Clock
from support.conformance.case import (
    SEASONS,
    TIRELESS,
    Answers,
    Case,
    as_counts,
    name_of,
    number_by_hand,
    random_key,
    salt_of,
)
from support.conformance.case import ZONE as ZONE_NAME

SITES, AREAS, QUANTA = 5, 4, 12
ZONE = ZoneInfo(ZONE_NAME)
LIMITS = VisitLimits(max_visits=4, max_visits_in_total=6)
KEY = random_key(12)
CLUSTER = np.array([0, 1, 1, 0, 2], dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class Events:
    """Random events, with instants; some cannot be counted."""

    person: list[int | None]
    place: list[int | None]
    instant: list[datetime]


def window_of(first: date) -> Periods:
    return Periods(
        zone=ZONE_NAME,
        first_day=first,
        last_day=first + timedelta(days=2),
        opens=60,
        closes=1320,
        minutes=30,
        cycle="window",
    )


def universe_of(first: date, *, positions: bool) -> DensityUniverse:
    """Squares in a row as areas; without positions, sites that are shared among them."""
    count = SITES if positions else AREAS
    areas = Areas(
        areas=tuple(
            Area(id=str(i), name="", shape=shapely.box(i, 0.0, i + 1.0, 1.0)) for i in range(count)
        )
    )
    every = np.arange(SITES)
    if positions:
        pieces = Pieces(sites=SITES, areas=SITES, site=every, area=every, size=np.ones(SITES))
        member, is_site, cell = every, np.zeros(SITES, np.bool_), every
    else:
        site = np.array([0, 0, 1, 1, 2, 2, 3, 4])
        area = np.array([0, 1, 1, 2, 1, 3, 3, 0])
        pieces = Pieces(sites=SITES, areas=AREAS, site=site, area=area, size=np.arange(1.0, 9.0))
        # Areas 1 and 3, and the sites 0, 1 and 4 for what is left.
        is_site = np.array([False, False, True, True, True])
        member = np.array([1, 3, 0, 1, 4])
        cell = np.array([2, 0, 0, 3, 0, 1, 1, 4])
    cover = Cover(
        pieces=pieces, is_site=is_site, member=member, cell=cell, centres=np.zeros((SITES, 2))
    )
    # Two towers share site 2, and one is left out.
    towers = tuple(
        Location(id=str(70 + i), name="", lon=0.0, lat=0.0, zone="") for i in range(SITES + 2)
    )
    sites = Sites(locations=Locations(towers), site=np.array([0, 1, 2, 3, 4, 2, -1]))
    return DensityUniverse(
        areas=areas, periods=window_of(first), sites=None if positions else sites, cover=cover
    )


def random_events(seed: int, size: int, first: date, tireless: int = 0) -> Events:
    """Events of skewed persons, the first ones all of one person if that is asked for."""
    rng = np.random.default_rng(seed)
    start = datetime(first.year, first.month, first.day, tzinfo=ZONE).astimezone(UTC)
    minutes = rng.integers(-300, 3 * 1440 + 300, size).tolist()
    person = [7] * tireless + (rng.zipf(1.25, size) % 97 - 20).tolist()[tireless:]
    place = rng.integers(-1, SITES + 2, size).tolist()
    lost = rng.random((2, size)) < 0.02
    return Events(
        person=[None if gone else p for p, gone in zip(person, lost[0], strict=True)],
        place=[None if gone else p for p, gone in zip(place, lost[1], strict=True)],
        instant=[start + timedelta(minutes=m) for m in minutes],
    )


def visits_by_hand(
    events: Events, universe: DensityUniverse, *, text: bool
) -> dict[int, set[tuple[int, int]]]:
    """The (bin, site) of every event that counts, by salt."""
    site_of = range(SITES) if universe.sites is None else universe.sites.site.tolist()
    periods, found = universe.periods, defaultdict(set)
    for person, place, instant in zip(events.person, events.place, events.instant, strict=True):
        wall = instant.astimezone(ZONE)
        minute = wall.hour * 60 + wall.minute
        known = place is not None and 0 <= place < len(site_of) and site_of[place] >= 0
        served = periods.opens <= minute < periods.closes and wall.date() in periods.days
        if person is not None and place is not None and known and served:
            day = (wall.date() - periods.first_day).days
            number = day * periods.parts + (minute - periods.opens) // periods.minutes
            found[salt_of(person, text=text)].add((number, int(site_of[place])))
    return found


def counts_by_hand(
    visits: dict[int, set[tuple[int, int]]], universe: DensityUniverse, key: BoundingKey
) -> list[dict[int, int]]:
    """The rule in words: the answers to series, totals, histogram and total."""
    kept: Counter[tuple[int, int]] = Counter()
    histogram: Counter[int] = Counter()
    total = 0
    slope, shift = key.coefficients[-2:]
    for salt, own in visits.items():
        ordered = sorted(own)
        total += min(len(own), LIMITS.max_visits_in_total)
        begin = number_by_hand(key, salt, 0, 0) % len(own)
        dues = [(i * PERSON_PARTS + begin) // len(own) for i in range(len(own) + 1)]
        for (_, site), low, high in zip(ordered, dues[:-1], dues[1:], strict=True):
            histogram[site] += high - low
        bins = sorted({number for number, _ in own})
        chosen = []
        for number in bins:
            there = [visit for visit in ordered if visit[0] == number]
            chosen.append(there[number_by_hand(key, salt, number, 1) % len(there)])
        if len(chosen) > LIMITS.max_visits:
            place = {visit: number_by_hand(key, salt, visit[0], 2) for visit in chosen}
            turn = ((sum(place.values()) & SUM_MASK) * slope + shift) % PRIME
            ring = sorted(chosen, key=lambda visit: (place[visit], visit))
            chosen = [ring[(i + turn) % len(ring)] for i in range(LIMITS.max_visits)]
        kept.update(chosen)
    series: Counter[int] = Counter()
    totals: Counter[int] = Counter()
    parts = ClusterSeries(universe=universe, cluster=CLUSTER, quanta=QUANTA).parts
    for cluster, site, part in zip(*(column.tolist() for column in parts), strict=True):
        for (number, where), times in kept.items():
            if where == site:
                series[cluster * universe.bins + number] += part * times
                totals[cluster] += part * times
    return [dict(series), dict(totals), dict(+histogram), {0: total}]


def questions(universe: DensityUniverse) -> list[VisitCells]:
    return [
        ClusterSeries(universe=universe, cluster=CLUSTER, quanta=QUANTA),
        ClusterTotals(universe=universe, cluster=CLUSTER, quanta=QUANTA),
        SiteHistogram(universe=universe),
        VisitTotal(universe=universe),
    ]


def answers(counter: ArrayVisits | EngineVisits, universe: DensityUniverse) -> Answers:
    asked = (Query(name="visits", cells=cells) for cells in questions(universe))
    return [as_counts(counter.count(query)) for query in asked]


def table_of(events: Events, *, text: bool, positions: bool, clock: str) -> pa.Table:
    names = [None if p is None else name_of(p) for p in events.person]
    times = [t.astimezone(ZONE).replace(tzinfo=None) for t in events.instant]
    columns: dict[str, Any] = {
        "person": pa.array(names if text else events.person),
        "time": pa.array(times, pa.timestamp("us"))
        if clock == "local"
        else pa.array(events.instant, pa.timestamp("us", "UTC")),
    }
    if positions:
        columns["lon"] = pa.array([None if p is None else p + 0.25 for p in events.place])
        columns["lat"] = pa.array([0.5] * len(names))
    else:
        ids = [None if p is None else 70 + p for p in events.place]
        columns["location"] = pa.array(ids).cast(pa.string() if text else pa.int64())
    return pa.table(columns)


def counter_of(
    path: Path | str,
    universe: DensityUniverse,
    settings: EngineSettings,
    clock: Clock = "local",
    engine: Callable[..., Any] = EngineVisits,
) -> Any:
    positions = universe.sites is None
    columns = EventColumns(location=None, lon="lon", lat="lat") if positions else EventColumns()
    return engine(
        source=EventsSource(path, columns, clock=clock),
        universe=universe,
        limits=LIMITS,
        key=KEY,
        settings=settings,
    )


def memory_of(visits: dict[int, set[tuple[int, int]]], universe: DensityUniverse) -> ArrayVisits:
    person, number, site = np.array(
        [(salt, *visit) for salt, own in visits.items() for visit in own]
    ).T
    return ArrayVisits(
        universe=universe, limits=LIMITS, key=KEY, person=person, site=site, bin=number
    )


def _case(
    name: str, events: Events, universe: DensityUniverse, *, text: bool, clock: Clock
) -> Case:
    def visits() -> dict[int, set[tuple[int, int]]]:
        return visits_by_hand(events, universe, text=text)

    def memory() -> Answers:
        counter = memory_of(visits(), universe)
        for cells in questions(universe):
            query = Query(name="visits", cells=cells)
            settings = EngineSettings()
            assert counter_of("", universe, settings).bound(query) == counter.bound(query)
        return answers(counter, universe)

    positions = universe.sites is None
    return Case(
        name=f"density, {name}",
        rows=lambda: table_of(events, text=text, positions=positions, clock=clock),
        by_hand=lambda: counts_by_hand(visits(), universe, KEY),
        by_memory=memory,
        count=lambda path, settings: answers(counter_of(path, universe, settings, clock), universe),
        in_csv=text,
    )


def _cases() -> Sequence[Case]:
    cases = []
    clocks: tuple[Clock, Clock] = ("local", "utc")
    for season, first in SEASONS.items():
        events = random_events(seed=11, size=2_000, first=first)
        for clock in clocks:
            for text in (False, True):
                # Every pair of the four ways in which cases differ.
                positions = (season == "spring") ^ (clock == "utc") ^ text
                universe = universe_of(first, positions=positions)
                name = (
                    f"clocks change in {season}, {clock}, {'text' if text else 'integers'}, "
                    f"{'positions' if positions else 'towers'}"
                )
                cases.append(_case(name, events, universe, text=text, clock=clock))
    first = SEASONS["spring"]
    events = random_events(seed=4, size=TIRELESS + 900, first=first, tireless=TIRELESS)
    universe = universe_of(first, positions=False)
    cases.append(_case("one tireless person", events, universe, text=True, clock="local"))
    return cases


CASES = _cases()
