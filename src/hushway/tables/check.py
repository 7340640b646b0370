"""What is wrong with the protected rows, for the steward's own screen."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

from hushway.errors import DataError
from hushway.tables.profile import LimitFound, RowsFound, TimesFound

# The account that would spend is still to be opened: the one thing that may wait after a check.
UNOPENED = "unopened_account"
_TOO_FEW: Final = frozenset({"nothing_to_count", "too_many_dropped"})

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
        worth: What would be known of a release of so many rows; None if it would be refused.
    """

    problems: tuple[Problem, ...] = ()
    verdicts: tuple[Problem, ...] = ()
    found: RowsFound | None = None
    worth: str | None = None

    @property
    def everything(self) -> tuple[Problem, ...]:
        """Verdicts and problems, what is refused first."""
        both = (*self.verdicts, *self.problems)
        return tuple(sorted(both, key=lambda problem: not problem.refused))


def refuse_problems(problems: Iterable[Problem]) -> None:
    """Refuses to go on if the plan says so."""
    refused = [problem.kind for problem in problems if problem.refused]
    if refused:
        # To drop still more is no way out of rows of which too few are left.
        drop = "" if _TOO_FEW.intersection(refused) else ", or let the plan's [problems] drop them"
        raise DataError(
            f"The rows cannot be used as the plan says: {', '.join(refused).replace('_', ' ')}.",
            advice="Nothing was spent. See them with: hushway check PLAN; then correct plan or "
            f"rows{drop}.",
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
        unparsable_time: The time is not written as the plan says, or does not suit the clock.
        malformed_row: A line of a CSV file has more or fewer fields than the first, quotes that do
            not close within it, or bytes that are not of its encoding.
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


# Beyond this share something is likely wrong, with the rows or with the plan.
WARN_BEYOND: Final = Fraction(1, 20)

_CHOOSE = (
    'Choose it without these rows, or say parameters_chosen = "with these rows" in the plan. '
    "Nothing was changed."
)
_LOOK = (
    "Compare dates, places and columns found with those of the plan. If it is meant, raise "
    "most_dropped in [problems]"
)


def verdicts(found: RowsFound, policy: Policy) -> list[Problem]:
    """Returns what is to be said of the rows as a whole, what is refused first.

    Privacy:
        Exact numbers, for the steward's own screen.
    """
    every = [
        *_dropped(found, policy.most_dropped),
        *_swapped(found),
        *_implausible(found),
        *_window(found),
        *(_limit(limit) for limit in found.limits if limit.cut_off > WARN_BEYOND),
    ]
    return sorted(every, key=lambda problem: not problem.refused)


def _dropped(found: RowsFound, most: Fraction) -> Iterator[Problem]:
    share = Fraction(found.dropped, found.read)
    if share <= min(most, WARN_BEYOND):
        return
    rule: Severity = "refuse" if share > most else "warn"
    if found.kept == 0:
        yield Problem(
            kind="nothing_to_count",
            message="Not a single row can be counted as the plan says.",
            count=found.dropped,
            advice="The reasons below say what does not fit: compare dates, places, columns and "
            "the way times are written with those of the plan.",
            severity=rule,
        )
        return
    yield Problem(
        kind="too_many_dropped" if rule == "refuse" else "many_dropped",
        message=f"Of all rows {float(share):.1%} cannot be counted, for the reasons below.",
        count=found.dropped,
        advice=f"{_LOOK}." if rule == "refuse" else "Look at the reasons before you spend.",
        severity=rule,
    )


def _swapped(found: RowsFound) -> Iterator[Problem]:
    if found.swapped * 2 <= found.dropped:
        return
    if found.places_swapped:
        yield Problem(
            kind="swapped_places",
            message="Longitude and latitude of the plan's public places look swapped: as they are, "
            "they lie far from the plan's time zone and hold none of these rows, and the other way "
            "round they lie close to it and hold them.",
            count=found.swapped,
            advice="Correct the public file, or let the plan name its columns the other way round.",
            severity="warn",
        )
        return
    yield Problem(
        kind="swapped_position",
        message="Longitude and latitude look swapped: these rows lie nowhere in the plan's "
        "places, and would lie in them the other way round.",
        count=found.swapped,
        advice="Let the plan's lon name the column of longitudes, and lat that of latitudes. If "
        "they do, look at the public file.",
        severity="warn",
    )


def _implausible(found: RowsFound) -> Iterator[Problem]:
    people = found.people
    if people is not None and people.implausible_ids:
        yield Problem(
            kind="implausible_ids",
            message=f"Ids with implausibly many rows, more than {people.plausible:,} each: "
            f"{people.implausible_ids:,}.",
            count=people.implausible_rows,
            advice="Find out whether they are people. Those who share an id are protected only "
            "together.",
            severity="warn",
        )


def _window(found: RowsFound) -> Iterator[Problem]:
    times = found.times
    if times is None or found.dropped <= WARN_BEYOND * found.read or _within(times):
        return
    yield Problem(
        kind="another_window",
        message=f"The rows are from {times.first_day} to {times.last_day}, the plan's window is "
        f"from {times.window[0]} to {times.window[1]}.",
        count=None,
        advice=f"If the window is wrong, set another. {_CHOOSE}",
        severity="note",
    )


def _within(times: TimesFound) -> bool:
    first, last = times.window
    return first <= times.first_day and times.last_day <= last


def _limit(limit: LimitFound) -> Problem:
    return Problem(
        kind=f"limit_{limit.option}",
        message=f"The contribution limit {limit.option} = {limit.limit:,} leaves out "
        f"{limit.cut_off:.1%} of the {limit.what}. A limit of {limit.enough:,} would keep 95%.",
        count=None,
        advice=f"A larger limit means more noise. {_CHOOSE}",
        severity="note",
    )
