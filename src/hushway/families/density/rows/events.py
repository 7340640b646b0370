"""Where the protected events are: one row for each time that somebody was seen somewhere."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from hushway.errors import DataError
from hushway.tables.clock import Clock
from hushway.tables.columns import roles_of


@dataclass(frozen=True, kw_only=True)
class EventColumns:
    """Which column of the events holds what: a place's id, or a position.

    Ids are compared exactly, as text: "1", " 1", "01" and "1.0" are four different persons.

    Attributes:
        person: Whose event it is: a person, a phone, a card.
        location: Id of the place, such as a phone tower; None if events carry positions.
        lon: Longitude in WGS84 degrees, if events carry positions.
        lat: Latitude, likewise.
        time: When it was.
    """

    person: str = "person"
    location: str | None = "location"
    lon: str | None = None
    lat: str | None = None
    time: str = "time"

    def __post_init__(self) -> None:
        roles_of(self)
        position = (self.lon is not None, self.lat is not None)
        if position not in ((True, True), (False, False)) or (self.location is None) != all(
            position
        ):
            raise DataError(
                "The columns of events must name either a location, or a longitude and a latitude.",
                advice="Name the column of places; or set it to None, and name lon and lat.",
            )

    @property
    def roles(self) -> dict[str, str]:
        """The columns in use, by purpose."""
        return roles_of(self)


@dataclass(frozen=True)
class EventsSource:
    """The protected events: a CSV or Parquet file, a folder of them, or a glob.

    Attributes:
        path: A file, a folder (searched with its subfolders) or a glob such as `2026/*.parquet`.
        columns: Which column holds what.
        clock: "wall" for times on the agency's wall clock, without an offset; "instant" for times
            in UTC or with an offset.
    """

    path: Path | str
    columns: EventColumns
    clock: Clock = "wall"
    noun: ClassVar[str] = "events"
