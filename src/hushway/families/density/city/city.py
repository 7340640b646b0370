"""A synthetic city of calls: public areas and towers, and events that belong to nobody."""

import json
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path

import numpy as np
import shapely
from numpy.typing import NDArray

from hushway.arrays import Int32Array, IntArray
from hushway.geography.areas import Areas
from hushway.geography.locations import Locations
from hushway.numerics.compiled import compiled


@dataclass(frozen=True, kw_only=True, eq=False)
class CityVisits:
    """Distinct (person, tower, hour), in the order of persons and hours.

    Attributes:
        hour: Its hour, from Monday 00:00 on.
    """

    person: Int32Array
    tower: NDArray[np.int16]
    hour: NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.person)


@dataclass(frozen=True, kw_only=True, eq=False)
class DensityCity:
    """A city with a week of calls and messages. The arrays cannot be written to.

    Events are in the order of persons, and of time within each person.

    Attributes:
        first_day: The first day of the events, a Monday.
        people: Number of persons; each has at least one event.
        person: The person of each event, from 0 on.
        second: When it happened: wall-clock seconds since the first day began.
    """

    name: str
    zone: str
    first_day: date
    last_day: date
    areas: Areas
    towers: Locations
    people: int
    person: Int32Array
    tower: NDArray[np.int16]
    second: Int32Array

    def __post_init__(self) -> None:
        for column in (self.person, self.tower, self.second):
            column.flags.writeable = False

    def __len__(self) -> int:
        return len(self.person)

    @property
    def hours(self) -> int:
        """Number of hours of the week or weeks."""
        return ((self.last_day - self.first_day).days + 1) * 24

    def visits(self) -> CityVisits:
        """Returns the distinct (person, tower, hour) of the events."""
        person, tower, hour = distinct_visits(
            self.person, self.tower, self.second, len(self.towers)
        )
        return CityVisits(person=person, tower=tower, hour=hour)

    @cached_property
    def counts(self) -> IntArray:
        """Distinct persons by tower (row) and hour (column): the exact truth."""
        visits = self.visits()
        cell = visits.tower.astype(np.int64) * self.hours + visits.hour
        size = len(self.towers) * self.hours
        return np.bincount(cell, minlength=size).reshape(len(self.towers), self.hours)

    def write(self, folder: Path) -> None:
        """Writes events.parquet, towers.csv and areas.geojson.

        Events have person, tower and time, a wall-clock time without a zone. Towers have id, name,
        lon, lat and zone, which is their district. Areas have id and name, in degrees (CRS84).
        """
        # pyarrow takes a noticeable part of a second to load, and most users of a city never write
        # it.
        from hushway.study.city_files import write_locations

        folder.mkdir(parents=True, exist_ok=True)
        write_locations(self.towers, folder / "towers.csv")
        write_areas(self.areas, folder / "areas.geojson")
        write_events(self, folder / "events.parquet")


@compiled
def distinct_visits(
    person: Int32Array, tower: NDArray[np.int16], second: Int32Array, towers: int
) -> tuple[Int32Array, NDArray[np.int16], NDArray[np.int16]]:
    """Returns person, tower and hour of the visits, from events ordered by person and time."""
    # As persons and hours only go up, it is enough to know when each tower was last seen.
    seen = np.full(towers, -1, dtype=np.int64)
    is_new = np.zeros(len(person), dtype=np.bool_)
    count = 0
    for event in range(len(person)):
        stamp = np.int64(person[event]) * 1_000 + second[event] // 3_600
        if seen[tower[event]] != stamp:
            seen[tower[event]] = stamp
            is_new[event] = True
            count += 1
    who = np.empty(count, dtype=np.int32)
    where = np.empty(count, dtype=np.int16)
    when = np.empty(count, dtype=np.int16)
    at = 0
    for event in range(len(person)):
        if is_new[event]:
            who[at] = person[event]
            where[at] = tower[event]
            when[at] = second[event] // 3_600
            at += 1
    return who, where, when


def write_areas(areas: Areas, path: Path) -> None:
    """Writes id, name and shape of every area as GeoJSON."""
    features = [
        {
            "type": "Feature",
            "properties": {"id": area.id, "name": area.name},
            "geometry": json.loads(shapely.to_geojson(area.shape)),
        }
        for area in areas.areas
    ]
    crs = {"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}}
    collection = {"type": "FeatureCollection", "crs": crs, "features": features}
    path.write_text(json.dumps(collection) + "\n", encoding="utf-8")


def write_events(city: DensityCity, path: Path) -> None:
    """Writes person, tower and time of every event, in the order of the city."""
    import pyarrow as pa
    from pyarrow import parquet

    from hushway.study.city_files import number_column, table_of

    midnight = np.datetime64(city.first_day, "s").astype(np.int64)
    codes = number_column(city.tower, pa.int16())
    columns = {
        "person": number_column(city.person, pa.int32()),
        "tower": pa.DictionaryArray.from_arrays(codes, pa.array(city.towers.ids)),
        "time": number_column(midnight + city.second, pa.timestamp("s")),
    }
    parquet.write_table(table_of(columns), path)
