"""Crowds to try densities on: check-ins, fleets and trips where they are, and synthetic callers.

Real rows are read if HUSHWAY_DATA names a folder that holds them. All weeks of a set are laid over
each other: a typical week of 168 hours. Constants of the mechanism were chosen by looking at the
sets of `sets`; those of `held_out` were kept apart and looked at since, and those of `unseen` were
made before anything else was changed, and looked at once, at the end.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from harness import data, whole_days
from hushway.arrays import FloatArray, IntArray
from hushway.engine.key import BoundingKey
from hushway.families.density.city.paris import paris
from hushway.families.density.planning.trial import BoundedCity, area_truth
from hushway.families.density.public.geometry import density_universe
from hushway.families.density.public.visits import DensityUniverse, VisitLadder, VisitLimits
from hushway.families.density.rows.counts import VisitRule, ranked_rows
from hushway.families.density.rows.grouping import VisitRows
from hushway.families.density.rows.rows import AreaIndex
from hushway.geography.areas import Area, Areas
from hushway.geography.periods import Periods
from hushway.privacy.randomness import SeededSource
from hushway.tables.areas import read_areas
from hushway.tables.areas_shapefile import AreaColumns

HOURS = 168
PEOPLE = VisitLimits(max_visits=30, max_visits_in_total=200)
EVENTS = VisitLimits(max_visits=1, max_visits_in_total=1)
# Half the side of the square around a station, in degrees: about ten metres.
AROUND = 1e-4


@dataclass(frozen=True, kw_only=True, eq=False)
class Crowd:
    """Bounded visits, and what they truly were.

    Attributes:
        city: The bounded visits.
        truth: Exact visits by (area, bin), nobody cut down.
        people: How many there are.
        visits: Visits of one of them, on average.
        rows: All of their rows.
    """

    city: BoundedCity
    truth: FloatArray
    people: int
    visits: float
    rows: VisitRows

    def bounded(
        self, limits: VisitLimits, ladder: VisitLadder | None = None, seed: int = 0
    ) -> BoundedCity:
        """Returns the same visits, cut down otherwise."""
        universe, key = self.city.universe, BoundingKey.draw(SeededSource(seed))
        found = ranked_rows([self.rows], VisitRule.of(universe, ladder or limits.ladder, key))
        return BoundedCity(universe=universe, limits=limits, ladder=ladder, found=found)


def week(zone: str) -> Periods:
    """Any week will do: the hours of all weeks are laid over each other."""
    return whole_days(zone, date(2024, 1, 1), 7, minutes=60, cycle="window")


def hour_of_week(times: Any) -> IntArray:
    hours = times.astype("datetime64[h]").astype(np.int64)
    # The first of January 1970 was a Thursday.
    return np.asarray((hours + 3 * 24) % HOURS)


def crowd_of(
    universe: DensityUniverse,
    limits: VisitLimits,
    person: IntArray,
    site: IntArray,
    time_bin: IntArray,
) -> Crowd:
    """Returns the visits of people, bounded as for a release and as they were."""
    inside = site >= 0
    _, owner = np.unique(person[inside], return_inverse=True)
    where, when = site[inside].astype(np.int64), time_bin[inside].astype(np.int64)
    rows = VisitRows(
        owner=owner.astype(np.int64), code=(when * universe.site_count + where).astype(np.int32)
    )
    rule = VisitRule.of(universe, limits.ladder, BoundingKey.draw(SeededSource(0)))
    seen = np.unique(np.column_stack([owner, where, when]), axis=0)
    visits = np.zeros((universe.site_count, universe.bins), dtype=np.int64)
    np.add.at(visits, (seen[:, 1], seen[:, 2]), 1)
    people = int(owner.max()) + 1
    return Crowd(
        city=BoundedCity(universe=universe, limits=limits, found=ranked_rows([rows], rule)),
        truth=area_truth(universe, visits),
        people=people,
        visits=float(visits.sum()) / people,
        rows=rows,
    )


def some_people(person: IntArray, count: int, seed: int) -> Any:
    """Whether a row belongs to one of so many people, chosen at random."""
    everyone = np.unique(person)
    chosen = np.random.default_rng(seed).choice(everyone, size=count, replace=False)
    return np.isin(person, chosen)


@cache
def zones(folder: Path) -> DensityUniverse:
    areas = read_areas(
        folder / "polygons" / "nyc_taxi_zones.geojson.gz",
        AreaColumns(id="LocationID", name="zone"),
        dissolve=True,
    )
    return density_universe(areas, week("America/New_York"), None)


@cache
def tracts(folder: Path) -> DensityUniverse:
    areas = read_areas(
        folder / "polygons" / "nyc_tracts_2010.geojson.gz",
        AreaColumns(id="BoroCT2010", name=None),
        dissolve=True,
    )
    return density_universe(areas, week("America/New_York"), None)


@cache
def stations(folder: Path) -> DensityUniverse:
    import pyarrow.csv as pacsv

    listed = pacsv.read_csv(folder / "bayarea_bikeshare14" / "stations.csv").to_pylist()
    # A station that was moved is listed again.
    rows = {row["station_id"]: row for row in listed}.values()
    areas = tuple(
        Area(
            id=str(row["station_id"]),
            name=row["name"],
            shape=shapely.box(
                row["long"] - AROUND, row["lat"] - AROUND, row["long"] + AROUND, row["lat"] + AROUND
            ),
        )
        for row in rows
    )
    return density_universe(Areas(areas=areas), week("America/Los_Angeles"), None)


def index_of(universe: DensityUniverse, names: Any) -> IntArray:
    index = np.full(1000, -1, dtype=np.int64)
    for key, position in universe.areas.index.items():
        index[int(key)] = position
    return np.asarray(index[names])


def check_ins(
    folder: Path, people: int | None = None, *, fine: bool = False, seed: int = 3
) -> Crowd:
    import pyarrow.parquet as pq

    table = pq.read_table(folder / "gowalla_nyc" / "checkins.parquet")
    user, lon, lat = (table[name].to_numpy() for name in ("user", "lon", "lat"))
    # New York is five hours behind, or four: one clock is enough for a study.
    hour = hour_of_week(table["utc"].to_numpy() - np.timedelta64(4, "h"))
    universe = tracts(folder) if fine else zones(folder)
    site = AreaIndex(universe.areas).locate(lon, lat).astype(np.int64)
    if people is not None:
        kept = some_people(user, people, seed)
        user, site, hour = user[kept], site[kept], hour[kept]
    return crowd_of(universe, PEOPLE, user, site, hour)


def bike_trips(
    folder: Path,
    who: str | None,
    limits: VisitLimits,
    *,
    end: str = "start",
    part: float = 1.0,
    months: tuple[int, ...] = tuple(range(1, 13)),
) -> Crowd:
    import pyarrow.parquet as pq

    table = pq.read_table(folder / "bayarea_bikeshare14" / "trips.parquet")
    universe = stations(folder)
    site = index_of(universe, table[f"{end}_terminal"].to_numpy())
    times = table[f"{end}_date"].to_numpy()
    hour, month = hour_of_week(times), times.astype("datetime64[M]").astype(np.int64) % 12 + 1
    person = np.arange(len(site))
    if who is not None:
        person = np.unique(
            table[who].to_numpy(zero_copy_only=False).astype(str), return_inverse=True
        )[1]
    kept = (np.random.default_rng(5).random(len(site)) < part) & np.isin(month, months)
    return crowd_of(universe, limits, person[kept], site[kept], hour[kept])


def taxi_trips(folder: Path, count: int | None = None, *, end: str = "PU") -> Crowd:
    import pyarrow.parquet as pq

    table = pq.read_table(folder / "nyc_green_taxi" / "trips.parquet")
    universe = zones(folder)
    site = index_of(universe, table[f"{end}LocationID"].to_numpy())
    hour = hour_of_week(
        table["lpep_pickup_datetime" if end == "PU" else "lpep_dropoff_datetime"].to_numpy()
    )
    trip = np.arange(len(site))
    if count is not None:
        kept = some_people(trip, count, 4)
        trip, site, hour = trip[kept], site[kept], hour[kept]
    return crowd_of(universe, EVENTS, trip, site, hour)


def callers(people: int, towers: int, areas: int, seed: int) -> Crowd:
    city = paris(seed, people=people, towers=towers, areas=areas)
    universe = density_universe(city.areas, week(city.zone), city.towers)
    sites = universe.sites
    tower = city.tower.astype(np.int64)
    site = tower if sites is None else sites.site[tower]
    return crowd_of(universe, PEOPLE, city.person.astype(np.int64), site, city.second // 3600)


def movers(people: int, seed: int, side: int = 12) -> Crowd:
    """Returns couriers, who visit several places in an hour, among people who stay in one.

    One in five is a courier: 2 to 6 hours a week, 3 to 9 places in each, mostly in the middle of
    the town. Everybody else is seen in 1 to 8 hours, once in each, anywhere.
    """
    random = np.random.default_rng(seed)
    courier = np.arange(people) < people // 5
    hours = np.where(courier, random.integers(2, 7, people), random.integers(1, 9, people))
    owner = np.repeat(np.arange(people), hours)
    busy = np.array([1, 1, 1, 1, 1, 2, 4, 7, 9, 8, 7, 8, 9, 8, 7, 8, 9, 10, 9, 7, 5, 4, 2, 1])
    when = random.choice(HOURS, len(owner), p=np.tile(busy, 7) / (7 * busy.sum()))
    stops = np.where(courier[owner], random.integers(3, 10, len(owner)), 1)
    owner, when = np.repeat(owner, stops), np.repeat(when, stops)
    spread = np.where(courier[owner], side / 8, side / 3)[:, None]
    at = np.clip(random.normal(side / 2, spread, (len(owner), 2)), 0, side - 1).astype(np.int64)
    return crowd_of(squares(side), PEOPLE, owner, at[:, 0] * side + at[:, 1], when)


@cache
def squares(side: int) -> DensityUniverse:
    """Returns a town of so many squares by so many, each about a kilometre wide."""
    step = 0.01
    areas = tuple(
        Area(id=f"{i}-{j}", name=None, shape=shapely.box(*(step * np.array([i, j, i + 1, j + 1]))))
        for i in range(side)
        for j in range(side)
    )
    return density_universe(Areas(areas=areas), week("UTC"), None)


def sets() -> Iterator[tuple[str, Callable[[], Crowd]]]:
    """Yields names of sets that constants were chosen on, and how to make each."""
    yield "callers 500", lambda: callers(500, 60, 40, 2)
    yield "callers 2k", lambda: callers(2_000, 90, 70, 7)
    yield "callers 20k", lambda: callers(20_000, 60, 40, 1)
    yield "callers 136k", lambda: callers(136_000, 400, 300, 3)
    yield "movers 10k", lambda: movers(10_000, 31)
    if folder := data():
        yield "check-ins of 500", lambda: check_ins(folder, 500)
        yield "check-ins", lambda: check_ins(folder)
        yield "bikes as a fleet", lambda: bike_trips(folder, "bike_id", PEOPLE)
        yield "riders by zip code", lambda: bike_trips(folder, "zip_code", PEOPLE)
        yield "taxi trips 20k", lambda: taxi_trips(folder, 20_000)
        yield "bike trips", lambda: bike_trips(folder, None, EVENTS)
        yield "taxi trips", lambda: taxi_trips(folder)
        yield "bike returns, a tenth", lambda: bike_trips(folder, None, EVENTS, end="end", part=0.1)
        yield "taxi drop-offs 100k", lambda: taxi_trips(folder, 100_000, end="DO")


def held_out() -> Iterator[tuple[str, Callable[[], Crowd]]]:
    """Yields names of sets that were kept apart and looked at since, and how to make each."""
    yield "callers 60k", lambda: callers(60_000, 250, 120, 8)
    yield "callers 2m", lambda: callers(2_000_000, 1303, 989, 9)
    if folder := data():
        yield "check-ins of 2k by tract", lambda: check_ins(folder, 2_000, fine=True)
        yield "bikes of half a year", lambda: bike_trips(folder, "bike_id", PEOPLE, part=0.5)


def unseen() -> Iterator[tuple[str, Callable[[], Crowd]]]:
    """Yields names of sets that nothing was chosen on, and how to make each."""
    yield "callers 6k", lambda: callers(6_000, 150, 100, 21)
    yield "callers 40k", lambda: callers(40_000, 120, 90, 22)
    yield "movers 25k", lambda: movers(25_000, 32, side=16)
    if folder := data():
        yield "other check-ins of 3k", lambda: check_ins(folder, 3_000, seed=17)
        yield (
            "bikes of spring",
            lambda: bike_trips(folder, "bike_id", PEOPLE, end="end", months=(3, 4, 5)),
        )
        yield "bike trips of autumn", lambda: bike_trips(folder, None, EVENTS, months=(9, 10, 11))
        yield "taxi drop-offs 30k", lambda: taxi_trips(folder, 30_000, end="DO")
