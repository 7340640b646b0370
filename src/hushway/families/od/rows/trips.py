"""Where the protected trips are, and which of their columns holds what."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from hushway.tables.clock import Clock
from hushway.tables.columns import roles_of


@dataclass(frozen=True, kw_only=True)
class TripColumns:
    """Which column of the trips holds what.

    Ids are compared exactly, as text: "1", " 1", "01" and "1.0" are four different persons.

    Attributes:
        person: Whose trip it is; without it only unit "trip" is possible.
        origin: Id of the place where the trip starts.
        destination: Id of the place where it ends.
        time: When it starts.
        trip_id: If given, rows of one person with the same trip id count once, and rows of one trip
            id are together one unit "trip".
    """

    person: str | None = None
    origin: str = "origin"
    destination: str = "destination"
    time: str = "time"
    trip_id: str | None = None

    def __post_init__(self) -> None:
        roles_of(self)

    @property
    def roles(self) -> dict[str, str]:
        """The columns in use, by purpose."""
        return roles_of(self)


@dataclass(frozen=True)
class TripsSource:
    """The protected trips: a CSV or Parquet file, a folder of them, or a glob.

    Attributes:
        path: A file, a folder (searched with its subfolders) or a glob such as `2026/*.parquet`.
        columns: Which column holds what.
        clock: "wall" for times on the agency's wall clock, without an offset; "instant" for times
            in UTC or with an offset.
    """

    path: Path | str
    columns: TripColumns
    clock: Clock = "wall"
    noun: ClassVar[str] = "trips"
