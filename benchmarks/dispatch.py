"""Times a day of shuttles: ten thousand legs in two hours, 100 shuttles in four zones.

The city is the synthetic Ann Arbor with twice its trips, from eight to ten. The opponent is the
same simulation by the interpreter, in a process of its own and on a tenth of the trips; both must
give the same day. It says what compiling is worth, no more: rows of numbers are slow to read for
the interpreter. Also timed is sizing the fleet for the city with its own trips, and how much of
that are the bounds.

Bar: ten thousand legs in one second, after compilation.
"""

import sys
from typing import Any

import numpy as np

# Needed before anything is compiled: the interpreter reads fields of rows in another way.
if __name__ == "__main__" and "--job" in sys.argv:
    from hushway.numerics import compiled as records

    plain_rows = records.rows
    records.rows = lambda count, **fields: plain_rows(count, **fields).view(np.recarray)

from harness import in_process, print_figures, serve_job, timed
from hushway.families.od.city.ann_arbor import ann_arbor
from hushway.geography.itineraries import Itineraries, itineraries
from hushway.transit.fleet import MEAN_WAIT_S, size_fleet
from hushway.transit.fleet_bounds import fewest_shuttles
from hushway.transit.legs import RiderTrips, in_order, planned_legs
from hushway.transit.operations import Operations, ServiceRules, operate

WINDOW_S = 8 * 3600, 10 * 3600
FLEET = (23, 19, 38, 20)
RULES = ServiceRules()
SCALE, PART = 2, 10
RUNS = 7
LIMIT_S = 1.0


def riders(scale: int, part: int = 1) -> tuple[Itineraries, RiderTrips]:
    """The ways of the city, and every so-manieth of its trips in the window."""
    city = ann_arbor(seed=1, scale=scale)
    trips = city.trips
    chosen = np.flatnonzero((trips.departure_s >= WINDOW_S[0]) & (trips.departure_s < WINDOW_S[1]))[
        ::part
    ]
    return itineraries(city.network), in_order(
        trips.departure_s[chosen], trips.origin[chosen], trips.destination[chosen]
    )


def day_of(routes: Itineraries, trips: RiderTrips, part: int = 1) -> Operations:
    fleet = [max(1, count // part) for count in FLEET]
    return operate(routes, trips, fleet, rules=RULES, window_s=WINDOW_S)


def tenth(runs: int) -> dict[str, float]:
    """Times a tenth of the trips with about a tenth of the shuttles."""
    routes, trips = riders(SCALE, PART)
    day_of(routes, trips, PART)
    seconds, day = timed(lambda: day_of(routes, trips, PART), runs)
    return {"seconds": seconds, "legs": len(day.leg), "waits_s": int(day.leg_wait_s.sum())}


def interpreted() -> dict[str, float]:
    """Times a tenth by the interpreter, in a process that compiles nothing."""
    return in_process(__file__, NUMBA_DISABLE_JIT="1")


def sizing() -> dict[str, float]:
    """Times the fleet of the city with its own trips, and its bounds alone."""
    routes, trips = riders(1)

    def bounds() -> list[int]:
        every = planned_legs(routes, trips, shuttle_wait_s=MEAN_WAIT_S)
        shuttle_s = routes.network.shuttle_s
        return [fewest_shuttles(legs, shuttle_s, RULES).shuttles for legs in every]

    bounds()
    bounds_s, _ = timed(bounds, 3)
    seconds, plan = timed(lambda: size_fleet(routes, trips, rules=RULES, window_s=WINDOW_S), 3)
    return {
        "weekday_trips": len(trips),
        "size_fleet_seconds": seconds,
        "of_these_bounds_seconds": bounds_s,
        "shuttles": plan.shuttles,
        "shuttles_at_least": plan.at_least,
    }


def main() -> dict[str, Any]:
    """Measures, prints and returns the numbers."""
    routes, trips = riders(SCALE)
    first, _ = timed(lambda: day_of(routes, trips))
    seconds, day = timed(lambda: day_of(routes, trips), RUNS)
    ours, theirs = tenth(RUNS), interpreted()
    figures: dict[str, Any] = {
        "first_call_seconds": first,
        "legs": len(day.leg),
        "unserved_legs": day.unserved_legs,
        "shuttles_of_day": sum(FLEET),
        "seconds": seconds,
        "over_limit": seconds / LIMIT_S,
        "legs_per_second": len(day.leg) / seconds,
        "tenth_seconds": ours["seconds"],
        "tenth_interpreted_seconds": theirs["seconds"],
        "interpreted_over_ours": theirs["seconds"] / ours["seconds"],
        "same_day": (ours["legs"], ours["waits_s"]) == (theirs["legs"], theirs["waits_s"]),
    }
    figures |= sizing()
    bars = {"seconds": f"below {LIMIT_S:g}", "over_limit": "below 1", "same_day": "1"}
    print_figures(figures, bars, ".5g")
    return figures


if __name__ == "__main__":
    serve_job(lambda: tenth(1))
    main()
