"""Turns counts of rows into sentences for the steward."""

from typing import Any, Final

import ibis
import ibis.expr.types as ir

from hushway.geography.periods import Periods
from hushway.tables.check import Policy, Problem, Severity
from hushway.tables.layout import Columns

Words = dict[str, tuple[str, str]]

# A list that is filled from the rows is not public: an entry would say that somebody was there.
UNKNOWN = (
    "Leave it out, unless a source other than these rows lists it; or correct it: ids are compared "
    'as text, and "7" is not "7.0".'
)

_LOOK_SHARED = "Ids that look shared by many people: {shared:,}, with {share:.3g} % of the rows."
TOO_MANY = f"{_LOOK_SHARED} No person makes so many rows."
TWO_PLACES = f"{_LOOK_SHARED} They are in two places at once, again and again."
LEAVE_OUT = (
    "A shared id counts as one person: most of its rows will not count, and those who share it are "
    "protected only together. Leave these rows out,"
)
OWN_TICKET = f"{LEAVE_OUT} give each ticket an id of its own, or protect single"

# For rows of any family, one row at a time.
ROW_WORDS: Final[Words] = {
    "null_value": (
        "No value for {empty}.",
        "Fill them in, or leave such rows out.",
    ),
    "unparsable_time": (
        "The time is not ISO 8601, or does not suit the clock.",
        "Write 2026-03-02T08:15:00 on a wall clock; instants may end in Z or an offset.",
    ),
    "malformed_row": (
        "A row of a CSV file has more or fewer fields than the first line, or is not UTF-8.",
        "Check how the files were written; such rows are dropped.",
    ),
    "impossible_time": (
        "The wall clock never showed this time: it went forward past it.",
        'Check the time zone; or the times are in UTC, then set clock = "instant".',
    ),
}

OUTSIDE_WINDOW = (
    "The time is outside the window's days or outside service hours.",
    "Check that window, service hours and time zone are what you meant.",
)

IMPOSSIBLE_POSITION = (
    "Longitude or latitude is not a number of degrees on Earth.",
    "Write WGS84 degrees: longitude from -180 to 180, latitude from -90 to 90.",
)


def problems_of(
    found: dict[str, int],
    columns: Columns,
    policy: Policy,
    words: Words,
    facts: dict[str, float] | None = None,
) -> list[Problem]:
    """Returns the problems that there are, those that the plan refuses first.

    Args:
        found: Number of rows of each kind, and of each column without a value (`null_person`).
        columns: Names for the sentences.
        policy: What the plan says.
        words: A message and an advice for each kind.
        facts: Numbers that a message names.
    """
    roles = columns.roles
    empty = [roles[role] for role in roles if found.get(f"null_{role}")]
    blanks = {
        "empty": ", ".join(map(repr, empty)),
        "within": " of one person" if "person" in roles else "",
        "alike": ", ".join(role for role in roles if role != "trip_id"),
        **(facts or {}),
    }
    problems = [
        Problem(
            kind=kind,
            message=message.format(**blanks),
            count=found[kind],
            advice=advice,
            severity=_severity(kind, policy),
        )
        for kind, (message, advice) in words.items()
        if found.get(kind)
    ]
    return sorted(problems, key=lambda problem: not problem.refused)


def _severity(kind: str, policy: Policy) -> Severity:
    rule: Severity = getattr(policy, kind, "note")
    return rule


def bucket_of(us: ir.IntegerValue, start_us: int, end_us: int, bucket_us: int) -> ir.IntegerValue:
    """Returns the start of the bucket of each time; null outside."""
    inside = (us >= start_us) & (us < end_us)
    # Only inside: far outside the difference would not fit into 64 bits.
    return inside.ifelse(us - (us - start_us) % bucket_us, ibis.null("int64"))


def in_gaps(us: ir.IntegerValue, skipped: Periods | None) -> ir.BooleanValue:
    """Says whether the wall clock of a window never showed these times."""
    gone = ibis.literal(value=False)
    for start, end in () if skipped is None else skipped.skipped_wall:
        gone |= (us >= start) & (us < end)
    return gone.fill_null(ibis.literal(value=False))


def rows_between(rows: ir.Table, start_us: int, end_us: int) -> ir.Table:
    """Returns whose rows were when: (person, us) of rows with a person and a time inside."""
    inside = rows.filter(rows.us >= start_us, rows.us < end_us)
    return inside.select("person", "us").drop_null(["person"])


def first_row(columns: dict[str, Any]) -> dict[str, int]:
    """Returns the only row of an answer."""
    return {name: int(values[0]) for name, values in columns.items()}
