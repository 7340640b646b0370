"""Turns counts of rows into sentences for the steward."""

from typing import Final

from hushway.families.density.rows.events import EventColumns
from hushway.families.links.rows.traces import TraceColumns
from hushway.families.od.rows.trips import TripColumns
from hushway.families.sequences.rows.sequences import SequenceColumns
from hushway.families.sequences.rows.taps import TapColumns
from hushway.tables.check import Problem, Severity
from hushway.tables.policy import Policy

Words = dict[str, tuple[str, str]]

# A list that is filled from the rows is not public: an entry would say that somebody was there.
_UNKNOWN = (
    "Leave it out, unless a source other than these rows lists it; or correct it: ids are compared "
    'as text, and "7" is not "7.0".'
)

_LOOK_SHARED = "Ids that look shared by many people: {shared:,}, with {share:.3g} % of the rows."
_TOO_MANY = f"{_LOOK_SHARED} No person makes so many rows."
_TWO_PLACES = f"{_LOOK_SHARED} They are in two places at once, again and again."
_LEAVE_OUT = (
    "A shared id counts as one person: most of its rows will not count, and those who share it are "
    "protected only together. Leave these rows out,"
)
_OWN_TICKET = f"{_LEAVE_OUT} give each ticket an id of its own, or protect single"

TRIP_WORDS: Final[Words] = {
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
    "unknown_location": (
        "The origin or the destination is not in the public list of locations.",
        _UNKNOWN,
    ),
    "outside_window": (
        "The time is outside the window's days or outside service hours.",
        "Check that window, service hours and time zone are what you meant.",
    ),
    "same_place": (
        "The trip ends where it began, and such trips have no cells.",
        "Leave it so, or count all such trips: same_place = true.",
    ),
    "duplicate_trip_id": (
        "A trip id appears again; rows{within} that share one are counted once.",
        "Check how the trips were put together.",
    ),
    "duplicate_rows": (
        "A row repeats another: same {alike}. Both are counted.",
        "Check whether files overlap; a column of trip ids would tell.",
    ),
    "shared_ids": (
        _TOO_MANY,
        f'{_OWN_TICKET} trips (unit = "trip").',
    ),
}


_STOP_WORDS: Words = {
    "unknown_location": (
        "The location is not in the public list of locations.",
        _UNKNOWN,
    ),
    "long_records": (
        "A stop comes after the first ones of its record that count, and is left out.",
        "Leave it so: a taller tree costs accuracy, and these rows must not choose the height.",
    ),
    "shared_ids": (
        _TOO_MANY,
        f'{_OWN_TICKET} records (unit = "record").',
    ),
}

_ANY_ROWS = ("null_value", "unparsable_time", "malformed_row", "impossible_time")

TAP_WORDS: Final[Words] = {
    **{kind: TRIP_WORDS[kind] for kind in _ANY_ROWS},
    **_STOP_WORDS,
    "outside_window": TRIP_WORDS["outside_window"],
    "duplicate_rows": (
        "A row repeats another: same {alike}. Both are counted, as two stops.",
        "Check whether files overlap.",
    ),
}

SEQUENCE_WORDS: Final[Words] = {
    **{kind: TRIP_WORDS[kind] for kind in ("null_value", "malformed_row")},
    **_STOP_WORDS,
}

EVENT_WORDS: Final[Words] = {
    **{kind: TRIP_WORDS[kind] for kind in _ANY_ROWS},
    "impossible_position": (
        "Longitude or latitude is not a number of degrees on Earth.",
        "Write WGS84 degrees: longitude from -180 to 180, latitude from -90 to 90.",
    ),
    "unknown_location": (
        "The place is not in the public list, or lies in none of the public areas.",
        _UNKNOWN,
    ),
    "outside_window": TRIP_WORDS["outside_window"],
    "duplicate_rows": (
        "A row repeats another: same {alike}. Together they are one visit.",
        "Leave it so: nobody counts twice in a bin.",
    ),
    "shared_ids": (
        _TOO_MANY,
        f"{_LEAVE_OUT} or give each phone an id of its own.",
    ),
}

TRACE_WORDS: Final[Words] = {
    **{kind: TRIP_WORDS[kind] for kind in _ANY_ROWS},
    "impossible_position": EVENT_WORDS["impossible_position"],
    "unknown_location": (
        "The position is not in the surroundings of the road network.",
        "Check the network; or leave it so: such positions are dropped.",
    ),
    "outside_window": TRIP_WORDS["outside_window"],
    "duplicate_rows": (
        "A row repeats another: same {alike}. Together they are one position.",
        "Leave it so: nobody is twice at one time.",
    ),
    "far_from_roads": (
        "Of some people's positions: further than {far:g} m from every road.",
        "Check that the network holds all roads; a few such positions are usual.",
    ),
    "trips_too_short": (
        "Of {tried:,} trips tried: too short to find a way.",
        "Check how often positions are taken.",
    ),
    "trips_off_road": (
        "Of {tried:,} trips tried: not near roads for long enough to find a way.",
        "Check that the network holds all roads.",
    ),
    "trips_without_route": (
        "Of {tried:,} trips tried: near roads that no route connects.",
        "Check the directions of the network's links, and that they share their nodes.",
    ),
    "trips_broken": (
        "Of {tried:,} trips tried: a way with gaps in it, whose parts count.",
        "Leave it so if they are few; many mean that roads are missing.",
    ),
    "shared_ids": (
        _TWO_PLACES,
        f"{_LEAVE_OUT} or give each device an id of its own.",
    ),
}


def problems_of(
    found: dict[str, int],
    columns: TripColumns | TapColumns | SequenceColumns | EventColumns | TraceColumns,
    policy: Policy,
    words: Words = TRIP_WORDS,
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
        "within": "" if columns.person is None else " of one person",
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
