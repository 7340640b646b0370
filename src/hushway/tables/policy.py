"""What becomes of rows that cannot be counted."""

from dataclasses import dataclass
from typing import Literal

Rule = Literal["drop", "refuse"]


@dataclass(frozen=True, kw_only=True)
class Policy:
    """A rule for each kind of row that cannot be counted: drop it, or refuse to go on.

    Privacy:
        Dropping looks at one row and at public lists, or at rows of one unit alone, so it costs
        nothing. Refusing tells whoever sees it that such a row exists: it is for the steward's eyes
        and happens before anything is counted.

    Attributes:
        unknown_location: The origin or the destination is not in the public list.
        outside_window: The time is outside the window's days or outside service hours.
        null_value: Person, origin, destination, time or trip id is empty; a person or a trip id
            also if it is made of blanks.
        unparsable_time: The time is not ISO 8601, or does not suit the clock.
        malformed_row: A row of a CSV file has more or fewer fields than the first line, or holds
            bytes that are not UTF-8.
        same_place: The trip ends where it began, and such trips have no cells.
        impossible_time: The wall clock never showed this time: it went forward.
        impossible_position: Longitude or latitude is not a number of degrees on Earth.
        duplicate_trip_id: Rows share a trip id; one of them counts.
    """

    unknown_location: Rule = "drop"
    outside_window: Rule = "drop"
    null_value: Rule = "drop"
    unparsable_time: Rule = "drop"
    malformed_row: Rule = "drop"
    same_place: Rule = "drop"
    impossible_time: Rule = "drop"
    impossible_position: Rule = "drop"
    duplicate_trip_id: Rule = "drop"
