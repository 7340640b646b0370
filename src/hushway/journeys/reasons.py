"""How the end of a ride is known, or why it is not, in words for the steward."""

from typing import Final

import ibis.expr.types as ir

from hushway.engine.row_checks import Words

_FINE: Final = "Nothing: it follows from taps of the same card and from the timetable."
_COUNTED: Final = 'Counted as going to "not known".'

# By the names that `hushway.journeys.chaining` gives.
REASONS: Final[Words] = {
    "exit": ("The end is known: the card was used to get off.", _FINE),
    "next_tap": ("The end is inferred: the card was used nearby next.", _FINE),
    "first_stop": ("The end is inferred: back to the first stop of the day.", _FINE),
    "next_day": ("The end is inferred: where the card was first used on the next day.", _FINE),
    "nothing_follows": (
        "The end is not known: no other tap of the card on this day or the next.",
        _COUNTED,
    ),
    "too_far": (
        "The end is not known: the line goes nowhere near the next tap.",
        f"{_COUNTED} Raise taps.walk_m if people walk further.",
    ),
    "round_trip": ("The end is not known: the next tap is where the ride began.", _COUNTED),
    "not_on_line": (
        "The end is not known: by the timetable the line goes nowhere from this stop.",
        f"{_COUNTED} Use a timetable of the same days, with the ids that taps use.",
    ),
    "unknown_line": (
        "The end is not known: the line is not in the timetable.",
        f"{_COUNTED} Lines are named by route_id; use a timetable of the same days.",
    ),
    "unknown_stop": (
        "Nothing is known: the stop is not in the timetable.",
        "Such taps are not counted. Stops are named by stop_id; use a timetable of the same days.",
    ),
    "no_stop": (
        "Nothing is known: the tap names no stop, and no trip or point tells it.",
        "Such taps are not counted. Name more columns in taps.columns, if there are any.",
    ),
}


def reason_kinds(rows: ir.Table) -> dict[str, ir.BooleanValue]:
    """Returns for which rows each reason holds; nothing where rows have none."""
    if "rule" not in rows.columns:
        return {}
    return {name: rows.rule == name for name in REASONS}
