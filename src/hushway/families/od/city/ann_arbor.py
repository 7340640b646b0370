"""A synthetic Ann Arbor that adds up to published figures.

The figures are those of Fioretto, Lee and Van Hentenryck (AAMAS 2018). The public geography depends
on the number of places and on nothing else. Trips depend on the seed, and add up to the published
figures whatever the seed is. See docs/cities.md.
"""

from datetime import timedelta
from typing import Literal

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import PlanError
from hushway.families.od.city.city import City, Trips
from hushway.families.od.city.demand import Corridors, corridors_of
from hushway.families.od.city.figures import (
    CLOSES_MINUTE,
    FIRST_DAYS,
    OPENS_MINUTE,
    PERIOD_MINUTES,
    PLACES,
    ZONE,
    day_of,
    figures_for,
)
from hushway.families.od.city.network import ann_arbor_network
from hushway.families.od.city.places import lay_out
from hushway.families.od.city.population import name_riders
from hushway.families.od.city.riders import DayTrips, ride
from hushway.families.od.city.window import fill_window
from hushway.families.od.public.cells import ODCells
from hushway.geography.itineraries import MODES, itineraries
from hushway.geography.periods import Periods
from hushway.study.chance import generator

__all__ = ["City", "Trips", "ann_arbor"]

_FEWEST_PLACES, _MOST_PLACES = 40, 2_000
_MOST_DAYS = 28
_DAY_S = 24 * 60 * 60

# Streams of a seed: days use their calendar number, which is far above these.
_HABITS, _NAMES = 0, 1


def ann_arbor(
    *,
    seed: int,
    day: Literal["weekday", "weekend"] = "weekday",
    scale: int = 1,
    places: int = PLACES,
    days: int = 1,
) -> City:
    """Returns a synthetic Ann Arbor.

    Args:
        seed: Chooses the trips. The same seed gives the same city.
        day: Whether the first day is Tuesday 2026-03-03 or Saturday 2026-03-07.
        scale: How many times the published number of trips to make.
        places: Number of locations, 40 to 2,000. The published figures belong to 130.
        days: Number of consecutive days, up to 28, each a weekday or a weekend day by the calendar.
            The same riders travel on all of them, and each day has the figures of its kind.

    Raises:
        PlanError: A size is out of range.
    """
    _check(seed=seed, scale=scale, places=places, days=days)
    locations = lay_out(places)
    network = ann_arbor_network(locations)
    mode_of = itineraries(network).mode
    first_day = FIRST_DAYS[day]
    dates = [first_day + timedelta(days=i) for i in range(days)]

    # Habits are drawn from the weekday's figures: a weekend has the same corridors, less travelled.
    cells = figures_for("weekday", scale=scale, places=places).window_cells
    corridors = corridors_of(locations, mode_of, cells=cells, rng=generator(seed, _HABITS))
    each_day = []
    for date in dates:
        kind = day_of(date)
        rng = generator(seed, date.toordinal())
        figures = figures_for(kind, scale=scale, places=places)
        window = fill_window(corridors, mode_of, day=kind, figures=figures, rng=rng)
        each_day.append(ride(window, corridors, day=kind, figures=figures, rng=rng))
    people = name_riders(each_day, len(corridors), generator(seed, _NAMES))

    periods = Periods(
        zone=ZONE,
        first_day=first_day,
        last_day=dates[-1],
        opens=OPENS_MINUTE,
        closes=CLOSES_MINUTE,
        minutes=PERIOD_MINUTES,
    )
    mode_of.flags.writeable = False
    return City(
        name="Ann Arbor (synthetic)",
        cells=ODCells(locations=locations, periods=periods, same_place=False),
        network=network,
        modes=MODES,
        mode_of=mode_of,
        trips=_in_order_of_departure(each_day, people, corridors),
    )


def _in_order_of_departure(
    each_day: list[DayTrips], people: list[IntArray], corridors: Corridors
) -> Trips:
    """Joins the days into one table, sorted so that the order of rows says nothing of riders."""
    second = np.concatenate([day.second + number * _DAY_S for number, day in enumerate(each_day)])
    order = np.argsort(second, kind="stable")
    person = np.concatenate([who[day.rider] for day, who in zip(each_day, people, strict=True)])
    corridor = np.concatenate([day.corridor[day.rider] for day in each_day])[order]
    leg = np.concatenate([day.leg for day in each_day])[order]
    second = second[order]

    # Legs in the order of `Leg`: out, back, aside, back from aside.
    starts = np.stack([corridors.home, corridors.usual, corridors.usual, corridors.side])
    ends = np.stack([corridors.usual, corridors.home, corridors.side, corridors.home])
    period = (second % _DAY_S // 60 - OPENS_MINUTE) // PERIOD_MINUTES
    return Trips(
        rider=person[order],
        origin=starts[leg, corridor],
        destination=ends[leg, corridor],
        departure_s=second,
        period=period,
    )


def _check(*, seed: int, scale: int, places: int, days: int) -> None:
    if seed < 0:
        raise PlanError("A seed cannot be negative.", advice="Give 0 or any larger whole number.")
    if scale < 1:
        raise PlanError(
            f"The city cannot be made {scale} times its size.", advice="Give a scale of 1 or more."
        )
    if not _FEWEST_PLACES <= places <= _MOST_PLACES:
        raise PlanError(
            f"The city cannot have {places} places.",
            advice=f"Give a number from {_FEWEST_PLACES} to {_MOST_PLACES}.",
        )
    if not 1 <= days <= _MOST_DAYS:
        raise PlanError(
            f"The city cannot be made for {days} days.", advice=f"Give 1 to {_MOST_DAYS} days."
        )
