"""What follows from the rows as a whole: refusals, warnings, and suggestions that nobody takes up.

Privacy:
    A refusal tells whoever sees it one thing about the rows, and no guarantee covers that. Plans
    with `most_dropped = "1"` never refuse for the number of rows that can be counted.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from hushway.tables.check import Policy, Problem, Severity
from hushway.tables.found import LimitFound, RowsFound, TimesFound

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
            advice=f'{_LOOK} to "1".',
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
