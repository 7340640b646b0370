"""Where the protected traces are: one row for each position of somebody on the move."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from hushway.tables.clock import Clock
from hushway.tables.columns import roles_of


@dataclass(frozen=True, kw_only=True)
class TraceColumns:
    """Which column of the traces holds what.

    Ids are compared exactly, as text: "1", " 1", "01" and "1.0" are four different persons.

    Attributes:
        person: Whose position it is: a person, a phone, a vehicle.
        trip: Id of the trip, if there is one: a person's positions with another id are another
            trip. Trips are also split where a person was not heard of for long.
        time: When it was taken.
        lon: Longitude in WGS84 degrees.
        lat: Latitude.
        speed: Speed as the device measured it, if it did. Ways are found from positions and times,
            so it is checked for its type and not read.
        heading: Heading, likewise.
    """

    person: str = "person"
    trip: str | None = None
    time: str = "time"
    lon: str = "lon"
    lat: str = "lat"
    speed: str | None = None
    heading: str | None = None

    def __post_init__(self) -> None:
        roles_of(self)

    @property
    def roles(self) -> dict[str, str]:
        """The columns in use, by purpose."""
        return roles_of(self)


@dataclass(frozen=True)
class TracesSource:
    """The protected traces: a CSV or Parquet file, a folder of them, or a glob.

    Attributes:
        path: A file, a folder (searched with its subfolders) or a glob such as `2026/*.parquet`.
        columns: Which column holds what.
        clock: "wall" for times on the agency's wall clock, without an offset; "instant" for times
            in UTC or with an offset.
    """

    path: Path | str
    columns: TraceColumns
    clock: Clock = "wall"
    noun: ClassVar[str] = "traces"
