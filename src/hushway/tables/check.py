"""What is wrong with the protected rows, for the steward's own screen."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from hushway.errors import DataError
from hushway.tables.found import RowsFound

# The account that would spend is still to be opened: the one thing that may wait after a check.
UNOPENED = "unopened_account"

Severity = Literal["refuse", "drop", "warn", "note"]


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One kind of trouble with the rows.

    Privacy:
        Counts rows exactly. It is for the steward's own screen and never enters a release, a log or
        an error's message.

    Attributes:
        kind: A short name; those of `Policy`, or a note such as `duplicate_rows`.
        message: What was found, as a sentence without any id or place of a row.
        count: How many rows it concerns, if they can be counted.
        advice: What the steward can do about it.
        severity: What the plan says: "refuse", "drop", "warn" if something is likely wrong, or
            "note" if the rows are counted.
    """

    kind: str
    message: str
    count: int | None
    advice: str
    severity: Severity

    @property
    def rule(self) -> Severity:
        """What the plan says."""
        return self.severity

    @property
    def refused(self) -> bool:
        """Whether the plan refuses to go on."""
        return self.severity == "refuse"


@dataclass(frozen=True, kw_only=True, repr=False)
class RowsChecked:
    """What a check of the rows gave.

    Privacy:
        Exact, for the steward's own screen.

    Attributes:
        problems: Kinds of rows that are in trouble.
        verdicts: What is to be said of the rows as a whole.
        found: What they are like; None if nobody can tell.
    """

    problems: tuple[Problem, ...] = ()
    verdicts: tuple[Problem, ...] = ()
    found: RowsFound | None = None

    @property
    def everything(self) -> tuple[Problem, ...]:
        """Verdicts and problems, what is refused first."""
        both = (*self.verdicts, *self.problems)
        return tuple(sorted(both, key=lambda problem: not problem.refused))


def refuse_problems(problems: Iterable[Problem]) -> None:
    """Refuses to go on if the plan says so.

    Raises:
        DataError: The plan refuses one of the problems; the message has no count in it.
    """
    refused = [problem.kind.replace("_", " ") for problem in problems if problem.refused]
    if refused:
        raise DataError(
            f"The rows cannot be used as the plan says: {', '.join(refused)}.",
            advice="Nothing was spent. See them with: hushway check PLAN; then correct plan or "
            "rows, or let the plan's [problems] drop them.",
        )


Rule = Literal["drop", "refuse"]


@dataclass(frozen=True, kw_only=True)
class Policy:
    """A rule for each kind of row that cannot be counted: drop it, or refuse to go on.

    Privacy:
        Dropping looks at one row and at public lists, or at rows of one unit alone, so it costs
        nothing. Refusing tells whoever sees it that such a row exists: it is for the steward's eyes
        and happens before anything is counted.

    Attributes:
        unknown_place: The origin or the destination is not in the public list.
        outside_window: The time is outside the window's days or outside service hours.
        null_value: Person, origin, destination, time or trip id is empty; a person or a trip id
            also if it is made of blanks.
        unparsable_time: The time is not ISO 8601, or does not suit the clock.
        malformed_row: A line of a CSV file has more or fewer fields than the first, quotes that do
            not close within it, or bytes that are not UTF-8.
        include_intrazonal: The trip ends where it began, and such trips have no cells.
        impossible_time: The wall clock never showed this time: it went forward.
        impossible_position: Longitude or latitude is not a number of degrees on Earth.
        duplicate_trip_id: Rows share a trip id; one of them counts.
        most_dropped: The largest share of rows that may be dropped before nothing is published.
            With 1 that never happens, whatever the rows are.
    """

    unknown_place: Rule = "drop"
    outside_window: Rule = "drop"
    null_value: Rule = "drop"
    unparsable_time: Rule = "drop"
    malformed_row: Rule = "drop"
    intrazonal: Rule = "drop"
    impossible_time: Rule = "drop"
    impossible_position: Rule = "drop"
    duplicate_trip_id: Rule = "drop"
    most_dropped: Fraction = Fraction(1, 2)
