"""Where the protected taps are: one row for each time that somebody was seen at a place."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from hushway.tables.clock import Clock
from hushway.tables.columns import roles_of


@dataclass(frozen=True, kw_only=True)
class TapColumns:
    """Which column of the taps holds what.

    Ids are compared exactly, as text: "1", " 1", "01" and "1.0" are four different persons.

    Attributes:
        person: Whose tap it is: a person, a card, a ticket. Taps of one make a sequence.
        location: Id of the place.
        time: When it was.
    """

    person: str = "person"
    location: str = "location"
    time: str = "time"

    def __post_init__(self) -> None:
        roles_of(self)

    @property
    def roles(self) -> dict[str, str]:
        """The columns in use, by purpose."""
        return roles_of(self)


@dataclass(frozen=True)
class TapsSource:
    """The protected taps: a CSV or Parquet file, a folder of them, or a glob.

    Attributes:
        path: A file, a folder (searched with its subfolders) or a glob such as `2026/*.parquet`.
        columns: Which column holds what.
        clock: "wall" for times on the agency's wall clock, without an offset; "instant" for times
            in UTC or with an offset.
    """

    path: Path | str
    columns: TapColumns
    clock: Clock = "wall"
    noun: ClassVar[str] = "taps"
