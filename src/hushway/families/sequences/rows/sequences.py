"""Where protected sequences are that somebody has put together already: one row each."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from hushway.errors import DataError
from hushway.tables.layout import Clock, Columns


@dataclass(frozen=True, kw_only=True)
class SequenceColumns(Columns):
    """Which column of the sequences holds what.

    Attributes:
        person: Whose sequence it is; without it every row is a unit of its own.
        stops: Ids of the places in order: a list of texts or of whole numbers in Parquet, or a text
            with a separator.
    """

    person: str | None = None
    stops: str = "stops"


@dataclass(frozen=True)
class SequencesSource:
    """The protected sequences: a CSV or Parquet file, a folder of them, or a glob.

    Attributes:
        path: A file, a folder (searched with its subfolders) or a glob such as `2026/*.parquet`.
        columns: Which column holds what.
        separator: What stands between two stops if they are written as a text. Nothing is trimmed,
            but an empty text between two separators is no stop.
    """

    path: Path | str
    columns: SequenceColumns
    separator: str = " "
    noun: ClassVar[str] = "sequences"
    clock: ClassVar[None] = None

    def __post_init__(self) -> None:
        if not self.separator:
            raise DataError(
                "Stops cannot be told apart without a separator.",
                advice='Name what stands between two stops, such as " " or ">".',
            )


@dataclass(frozen=True, kw_only=True)
class TapColumns(Columns):
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
