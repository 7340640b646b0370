"""The published figures that the synthetic Ann Arbor is matched to, and how they grow."""

import math
from dataclasses import dataclass
from datetime import date
from typing import Literal

Day = Literal["weekday", "weekend"]

ZONE = "America/Detroit"
OPENS_MINUTE = 6 * 60
CLOSES_MINUTE = 20 * 60
PERIOD_MINUTES = 30
PERIODS = (CLOSES_MINUTE - OPENS_MINUTE) // PERIOD_MINUTES

# The window that the paper gives figures for, 08:00-10:00, as half-hours counted from 06:00.
WINDOW = range(4, 8)

PLACES = 130
FIRST_DAYS: dict[Day, date] = {"weekday": date(2026, 3, 3), "weekend": date(2026, 3, 7)}


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What one day of demand must add up to, exactly.

    Attributes:
        trips: Trips of the whole day.
        window_trips: Trips that depart from 08:00 to 10:00.
        window_cells: Non-zero (origin, destination, half-hour) from 08:00 to 10:00.
    """

    trips: int
    window_trips: int
    window_cells: int


# Fioretto, Lee and Van Hentenryck, AAMAS 2018, section 6.
_WEEKDAY = Figures(trips=37_714, window_trips=4_878, window_cells=591)

# The paper prints no weekend counts. It sizes 48 shuttles for the weekend and 99 for the weekday
# (table 1), so demand is taken to be lower in the same proportion.
_WEEKEND_SHARE = 48 / 99


def day_of(moment: date) -> Day:
    """Returns which kind of day a date is."""
    return "weekend" if moment.weekday() >= 5 else "weekday"


def figures_for(day: Day, *, scale: int, places: int) -> Figures:
    """Returns the figures of a day in a city with `scale` times the trips and `places` locations.

    Trips grow with the scale. Cells in use grow more slowly, because most of the new riders travel
    where others already do: with the square root of the scale, and with the number of places. There
    are never more of them than ordered pairs of places, nor than half the trips.
    """
    share = 1.0 if day == "weekday" else _WEEKEND_SHARE
    window_trips = scale * round(_WEEKDAY.window_trips * share)
    cells = round(_WEEKDAY.window_cells * share * math.sqrt(scale) * places / PLACES)
    return Figures(
        trips=scale * round(_WEEKDAY.trips * share),
        window_trips=window_trips,
        window_cells=min(cells, window_trips // 2, places * (places - 1)),
    )
