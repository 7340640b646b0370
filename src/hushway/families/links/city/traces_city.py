"""A synthetic city of traces: public roads, positions that belong to nobody, and the truth."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.families.links.matching.traces import Traces, Ways
from hushway.families.links.public.roads import RoadNetwork


@dataclass(frozen=True, kw_only=True, eq=False)
class TraceCity:
    """A road network with traces of trips. The arrays cannot be written to.

    Trips are in the order of persons, and of time within each person.

    Attributes:
        trip: The number of each trip among those of its person, from 0 on.
        start: Where the positions of each trip begin; one entry more than trips.
        lon: Longitude of each position, WGS84 degrees, as the device has it.
        seconds: When it was taken: wall-clock seconds since the first day began.
        speed: Speed in km/h as the device reports it, or NaN.
        heading: Direction in degrees from north, clockwise, or NaN.
        truth: The links that each trip really took, and the true link of every position.
        first_person: The number of the person that the next three columns begin with.
        home: The link at which each person lives, or at which the vehicle is kept.
        work: The link at which each person works; -1 for vehicles and people who do not work.
    """

    name: str
    roads: RoadNetwork
    zone: str
    first_day: date
    last_day: date
    person: IntArray
    trip: IntArray
    start: IntArray
    lon: FloatArray
    lat: FloatArray
    seconds: FloatArray
    speed: FloatArray
    heading: FloatArray
    truth: Ways
    first_person: int
    fleet: BoolArray
    home: IntArray
    work: IntArray

    def __post_init__(self) -> None:
        for column in (*vars(self).values(), *vars(self.truth).values()):
            if isinstance(column, np.ndarray):
                column.flags.writeable = False

    def __len__(self) -> int:
        return len(self.person)

    @property
    def people(self) -> int:
        """Number of persons, also those without a trip."""
        return len(self.home)

    @cached_property
    def traces(self) -> Traces:
        """The positions in metres on the plane of the roads."""
        x, y = np.ascontiguousarray(self.roads.plane.to_metres(self.lon, self.lat).T)
        return Traces(start=self.start, x=x, y=y, seconds=self.seconds)

    @property
    def first_link(self) -> IntArray:
        """The link on which each trip begins."""
        return self.truth.link[self.truth.start[:-1]]

    @property
    def last_link(self) -> IntArray:
        """The link on which each trip ends."""
        return self.truth.link[self.truth.start[1:] - 1]

    @property
    def driven_m(self) -> float:
        """Length of all links that somebody was on, each direction of a street by itself."""
        return float(self.roads.length[np.unique(self.truth.link)].sum())

    def write(self, folder: Path) -> None:
        """Writes traces.parquet, and the roads as node.csv and link.csv of GMNS.

        Traces have person, trip, time, lon, lat, speed and heading; a time is a wall-clock time
        without a zone. Homes, places of work and the truth are not written.
        """
        folder.mkdir(parents=True, exist_ok=True)
        write_gmns(self.roads, folder)
        write_traces([self], folder / "traces.parquet")


def write_traces(parts: Iterable[TraceCity], path: Path) -> None:
    """Writes person, trip, time, lon, lat, speed and heading of every position."""
    # pyarrow takes a noticeable part of a second to load, and most users of a city never write it.
    import pyarrow as pa
    from pyarrow import parquet

    whole = {"person": pa.int64(), "trip": pa.int64(), "time": pa.timestamp("ms")}
    real = dict.fromkeys(("lon", "lat", "speed", "heading"), pa.float64())
    schema = pa.schema({**whole, **real})
    with parquet.ParquetWriter(path, schema) as file:
        for part in parts:
            arrays = [
                # What a device does not report is missing, not a number that is none.
                pa.array(column, type=field.type, mask=np.isnan(column))
                for column, field in zip(_columns(part), schema, strict=True)
            ]
            file.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _columns(city: TraceCity) -> tuple[NDArray[Any], ...]:
    size = np.diff(city.start)
    midnight = np.datetime64(city.first_day, "ms").astype(np.int64)
    return (
        np.repeat(city.person, size),
        np.repeat(city.trip, size),
        midnight + np.rint(1_000 * city.seconds).astype(np.int64),
        city.lon,
        city.lat,
        city.speed,
        city.heading,
    )


# What the classes are called in the files, from 1 on.
_FACILITIES = ("", "motorway", "primary", "secondary", "tertiary", "residential")


def write_gmns(roads: RoadNetwork, folder: Path) -> None:
    """Writes the roads: one row for each node, and one for each direction of a street.

    Lengths are in metres, speeds in km/h, courses as WKT in WGS84 degrees.
    """
    with (folder / "node.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("node_id", "x_coord", "y_coord"))
        columns = roads.node_id, roads.node_lon, roads.node_lat
        rows.writerows(zip(*(column.tolist() for column in columns), strict=True))
    with (folder / "link.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(
            ("link_id", "name", "from_node_id", "to_node_id", "directed", "geometry", "length",
             "facility_type", "free_speed", "lanes")
        )  # fmt: skip
        rows.writerows(
            zip(
                roads.link_id.tolist(),
                roads.name.tolist(),
                roads.node_id[roads.tail].tolist(),
                roads.node_id[roads.head].tolist(),
                [1] * roads.links,
                _wkt(roads),
                roads.length.tolist(),
                [_FACILITIES[road_class] for road_class in roads.road_class.tolist()],
                roads.speed.tolist(),
                roads.lanes.astype(int).tolist(),
                strict=True,
            )
        )


def _wkt(roads: RoadNetwork) -> list[str]:
    # A float's own text is the shortest that reads back as the same number.
    point = [f"{x!r} {y!r}" for x, y in zip(roads.lon.tolist(), roads.lat.tolist(), strict=True)]
    start = roads.start.tolist()
    return [f"LINESTRING ({', '.join(point[begin:end])})" for begin, end in pairwise(start)]
