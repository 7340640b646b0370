"""Where protected sequences are, what makes one, and how much of it is counted."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from hushway.errors import DataError, PlanError
from hushway.geography.periods import Periods
from hushway.privacy.bound import Bound, Unit
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


RecordSpan = Literal["day", "window"]


@dataclass(frozen=True, kw_only=True)
class SequenceRule:
    """How rows become records, and how many of them count.

    Attributes:
        max_stops: Stops of a record that count: its first ones.
        max_records: Most records of one person; without meaning for unit "record".
        window: The public days and service hours; taps outside are dropped. Needed for taps.
        record: What one record of taps is: a person's taps of one day of the window, or all of
            them.
        keep_times: Whether the period of each stop is counted with it.
    """

    max_stops: int
    max_records: int = 1
    window: Periods | None = None
    record: RecordSpan = "day"
    keep_times: bool = False

    def __post_init__(self) -> None:
        if type(self.max_stops) is not int or self.max_stops < 1:
            raise PlanError(
                "A record must have room for at least one stop.",
                advice="Set the number of stops that count to 1 or more.",
            )
        if self.keep_times and self.window is None:
            raise PlanError(
                "Times cannot be kept without a window and its periods.",
                advice="Give the window, or leave times out.",
            )
        if self.keep_times and self.record == "window" and not self._is_one_day:
            raise PlanError(
                "Times of day cannot be kept in records that are longer than a day: periods "
                "would go back from one day to the next.",
                advice='Set record = "day", choose a window of one day, or leave times out.',
            )

    @property
    def periods(self) -> int:
        """Number of periods that stops are told apart by; 1 if times are not kept."""
        return len(self.window) if self.keep_times and self.window is not None else 1

    @property
    def _is_one_day(self) -> bool:
        return self.window is not None and self.window.first_day == self.window.last_day


def record_bound(unit: Unit, max_records: int) -> Bound:
    """Returns how far one unit can move the counts of one step of a prefix tree.

    Privacy:
        A record lies in at most one candidate of a step, so a person with at most `max_records`
        records adds at most that many, and all may fall into one candidate. A unit "record" is one
        of them. `bounded_records` enforces it.

    Raises:
        PrivacyError: `max_records` is not a whole number of at least 1.
    """
    return Bound.of_records(max_records if unit.has_many_records else 1)
