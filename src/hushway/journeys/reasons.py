"""How the end of a ride is known, or why it is not, in words for the steward."""

from typing import Final

import ibis.expr.types as ir

from hushway.engine.row_checks import Words

_FINE: Final = "Nothing: it follows from taps of the same card and from the timetable."
_COUNTED: Final = 'Counted as going to "not known".'
_LEFT_OUT: Final = "Counted only if an exit tells the end."

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
    "unknown_next": (
        "The end is not known: the stop of the next tap is not.",
        f"{_COUNTED} Stops are named by stop_id; use a timetable of the same days.",
    ),
    "too_far": (
        "The end is not known: the line goes nowhere near the next tap.",
        f"{_COUNTED} Raise taps.walk_m if people walk further.",
    ),
    "too_soon": (
        "The end is not known: the next tap is sooner than a vehicle could be there.",
        f"{_COUNTED} Check the clocks of what reads cards, and cards that many people use.",
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
    "no_service": (
        "The end is not known: the timetable has no service on the day.",
        f"{_COUNTED} Name a feed of that day besides, in taps.timetable.",
    ),
    "unknown_exit": (
        "The end is not known: the stop of the exit is not.",
        f"{_COUNTED} Stops are named by stop_id; use a timetable of the same days.",
    ),
    "unknown_stop": (
        "The beginning is not known: the stop is not in the timetable.",
        f"{_LEFT_OUT} Stops are named by stop_id; use a timetable of the same days.",
    ),
    "unknown_trip": (
        "The beginning is not known: the trip is not in the timetable of the day.",
        f"{_LEFT_OUT} Trips are named by trip_id; use a timetable of the same days.",
    ),
    "off_trip": (
        "The beginning is not known: by the timetable the trip runs at another time.",
        f"{_LEFT_OUT} Check data.clock; taps.vehicles would tell where the vehicle was.",
    ),
    "no_vehicle": (
        "The beginning is not known: the vehicle was seen at no stop in the 15 minutes before.",
        f"{_LEFT_OUT} Check that taps and taps.vehicles name vehicles and times alike.",
    ),
    "by_headway": (
        "The beginning is not known: the trip runs by a headway, with several vehicles at once.",
        f"{_LEFT_OUT} Name stops, or vehicles and where they were (taps.vehicle_locations).",
    ),
    "no_stop": (
        "The beginning is not known: no stop is named, and no trip, vehicle or point tells it.",
        f"{_LEFT_OUT} Name more columns in taps.columns, if there are any.",
    ),
    "transfer": ("The ride goes on with a journey that an earlier tap began.", _FINE),
    "journey": ("A journey of several rides, counted besides them.", _FINE),
    "got_off": ("The tap ended the ride before it.", _FINE),
    "exit_alone": (
        "Somebody got off, and no tap before it says where they got on.",
        "Not counted: a ride needs a beginning.",
    ),
    "other_action": (
        "The tap was neither to get on nor to get off.",
        "Not counted. Name what people who get on are called in taps.entries, if it was one.",
    ),
    "repeated_tap": ("The tap is there again, with the same card and id.", "One of them counts."),
}


def reason_kinds(rows: ir.Table) -> dict[str, ir.BooleanValue]:
    """Returns for which rows each reason holds; nothing where rows have none."""
    if "rule" not in rows.columns:
        return {}
    return {name: rows.rule == name for name in REASONS}
