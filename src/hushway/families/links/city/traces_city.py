"""A synthetic city of traces: public roads, positions that belong to nobody, and the truth."""

from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.families.links.matching.traces import Traces, Ways
from hushway.families.links.public.roads import RoadNetwork


@dataclass(frozen=True, kw_only=True, eq=False)
class TraceCity:
    """A road network with traces of trips. The arrays cannot be written to.

    Trips are in the order of persons, and of time within each person.

    Attributes:
        first_day: The first day of the traces.
        person: The person of each trip.
        trip: The number of each trip among those of its person, from 0 on.
        start: Where the positions of each trip begin; one entry more than trips.
        lon: Longitude of each position, WGS84 degrees, as the device has it.
        lat: Latitude likewise.
        seconds: When it was taken: wall-clock seconds since the first day began.
        speed: Speed in km/h as the device reports it, or NaN.
        heading: Direction in degrees from north, clockwise, or NaN.
        truth: The links that each trip really took, and the true link of every position.
        first_person: The number of the person that the next three columns begin with.
        fleet: Whether each person is a vehicle of a fleet.
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
        # pyarrow takes a noticeable part of a second to load, and most users of a city never write
        # it.
        from hushway.families.links.city.files import write_gmns, write_traces

        folder.mkdir(parents=True, exist_ok=True)
        write_gmns(self.roads, folder)
        write_traces([self], folder / "traces.parquet")
