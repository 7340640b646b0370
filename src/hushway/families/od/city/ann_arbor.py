"""A synthetic Ann Arbor that adds up to published figures.

The figures are those of Fioretto, Lee and Van Hentenryck (AAMAS 2018). The public geography depends
on the number of places and on nothing else. Trips depend on the seed, and add up to the published
figures whatever the seed is. See docs/researchers/cities.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.errors import PlanError
from hushway.families.od.city.city import City, Trips
from hushway.families.od.city.demand import (
    Corridors,
    Leg,
    WindowTrips,
    corridors_of,
    fill_window,
    rhythm_of,
)
from hushway.families.od.city.places import (
    CLOSES_MINUTE,
    FIRST_DAYS,
    OPENS_MINUTE,
    PERIOD_MINUTES,
    PERIODS,
    PLACES,
    WINDOW,
    ZONE,
    Day,
    Figures,
    ann_arbor_network,
    day_of,
    figures_for,
    lay_out,
)
from hushway.families.od.public.cells import ODCells
from hushway.geography.itineraries import MODES, itineraries
from hushway.geography.periods import Periods
from hushway.numerics.chance import draw, generator, pick, shuffle

# How many trips riders plan for a day: mostly there and back, and a tail of people who ride all day
# long.
MOST_TRIPS = 12
_PLANS = np.array([0.24, 0.56, 0.08, 0.07, *(1.0 / np.arange(5, MOST_TRIPS + 1) ** 2.5)])
_PLANS[4:] *= 0.05 / _PLANS[4:].sum()
_CUMULATIVE_PLANS = np.cumsum(_PLANS)

_HURRIED_FROM = 4
_ASIDE = 0.14
_CAME_BY_SHUTTLE = 0.7
_LAST = PERIODS - 1


@dataclass(frozen=True, kw_only=True)
class DayTrips:
    """The trips of one day, with riders that are known by their corridor alone.

    Attributes:
        corridor: The corridor of every rider of the day.
        rider: The rider of every trip, a position in `corridor`.
        leg: Which of the corridor's trips it is.
        second: Departure in seconds after local midnight.
    """

    corridor: IntArray
    rider: IntArray
    leg: IntArray
    second: IntArray


@dataclass(kw_only=True)
class _Legs:
    """Trips while they are being drawn, as pieces to be joined."""

    rider: list[IntArray]
    leg: list[IntArray]
    period: list[IntArray]

    def add(self, rider: IntArray, leg: IntArray, period: IntArray) -> None:
        self.rider.append(rider)
        self.leg.append(leg)
        self.period.append(period)

    def __len__(self) -> int:
        return sum(len(piece) for piece in self.rider)


@dataclass(frozen=True, kw_only=True)
class _Underway:
    """Riders in the middle of their day: their last trip, and how many more they make."""

    rider: IntArray
    leg: IntArray
    period: IntArray
    left: IntArray
    hurried: IntArray

    def only(self, which: BoolArray) -> "_Underway":
        return _Underway(
            rider=self.rider[which],
            leg=self.leg[which],
            period=self.period[which],
            left=self.left[which],
            hurried=self.hurried[which],
        )


def ride(
    window: WindowTrips,
    corridors: Corridors,
    *,
    day: Day,
    figures: Figures,
    rng: np.random.Generator,
) -> DayTrips:
    """Draws the rest of the day around the matched window, to the exact number of trips."""
    legs = _Legs(rider=[], leg=[], period=[])
    known = _live_through_window(legs, window, day, rng)
    # The window holds an eighth of the day's trips and its riders make little more than two each,
    # so that three quarters of the day are left to the others, give or take very little.
    plans = _plans_that_add_up(figures.trips - len(legs), rng)
    _live_outside_window(legs, np.arange(known, known + len(plans)), plans, day, rng)
    corridor = np.empty(known + len(plans), dtype=np.int64)
    corridor[window.rider] = window.corridor
    corridor[known:] = draw(rng, corridors.rate[day], len(plans))
    return _on_the_clock(corridor, legs, rng)


def _live_through_window(
    legs: _Legs, window: WindowTrips, day: Day, rng: np.random.Generator
) -> int:
    """Adds all trips of the window's riders, before and after it too; returns how many ride."""
    legs.add(window.rider, window.leg, window.period)
    order = np.argsort(window.rider * PERIODS + window.period, kind="stable")
    rider, start, made = np.unique(window.rider[order], return_index=True, return_counts=True)
    first, last = order[start], order[start + made - 1]
    planned = pick(_CUMULATIVE_PLANS, rng.random(len(rider))) + 1

    # Whoever rides home in the window left it before, if they came by shuttle or bus at all.
    came = (window.leg[first] == Leg.BACK) & (planned > made)
    came &= rng.random(len(rider)) < _CAME_BY_SHUTTLE
    early = rhythm_of(day).start(
        np.full(came.sum(), Leg.OUT), np.full(came.sum(), WINDOW.start - 1), rng.random(came.sum())
    )
    legs.add(rider[came], np.full(came.sum(), Leg.OUT), early)

    riders = _Underway(
        rider=rider,
        leg=window.leg[last],
        period=window.period[last],
        left=planned - made - came,
        hurried=_hurried(planned),
    )
    _go_on(legs, riders, day, rng)
    return len(rider)


def _plans_that_add_up(trips: int, rng: np.random.Generator) -> IntArray:
    """Draws how many trips each further rider makes, so that all make `trips` together."""
    plans = pick(_CUMULATIVE_PLANS, rng.random(trips)) + 1
    made = np.cumsum(plans)
    riders = int(np.searchsorted(made, trips)) + 1
    plans = plans[:riders]
    plans[-1] -= made[riders - 1] - trips
    return plans


def _live_outside_window(
    legs: _Legs, rider: IntArray, plans: IntArray, day: Day, rng: np.random.Generator
) -> None:
    """Adds all trips of riders who are not on their way in the window."""
    rhythm = rhythm_of(day)
    leg = np.where(rng.random(len(rider)) < rhythm.back_first, Leg.BACK, Leg.OUT).astype(np.int64)
    period = rhythm.start(leg, _LAST - (plans - 1), rng.random(len(rider)))
    legs.add(rider, leg, period)
    riders = _Underway(rider=rider, leg=leg, period=period, left=plans - 1, hurried=_hurried(plans))
    _go_on(legs, riders, day, rng)


def _go_on(legs: _Legs, riders: _Underway, day: Day, rng: np.random.Generator) -> None:
    """Adds the trips that are left of every rider's plan, each from where the last one ended."""
    rhythm = rhythm_of(day)
    while len(riders.rider):
        riders = riders.only(riders.left > 0)
        count = len(riders.rider)
        leg = _next_leg(riders.leg, riders.left, rng.random(count))
        # The end of the day is kept free for what is still to come: a plan is always carried out.
        latest = _LAST - (riders.left - 1)
        period = rhythm.go_on(riders.hurried, leg, riders.period, latest, rng.random(count))
        legs.add(riders.rider, leg, period)
        riders = replace(riders, leg=leg, period=period, left=riders.left - 1)


def _hurried(plans: IntArray) -> IntArray:
    """Returns 1 for riders with so many trips that they cannot stay long anywhere."""
    return (plans >= _HURRIED_FROM).astype(np.int64)


def _next_leg(leg: IntArray, left: IntArray, uniform: FloatArray) -> IntArray:
    """Returns the trip that follows another: nobody goes aside with their last trip."""
    aside = (left > 1) & (uniform < _ASIDE)
    after_out = np.where(aside, Leg.ASIDE, Leg.BACK)
    after = np.where(leg == Leg.ASIDE, Leg.ASIDE_BACK, Leg.OUT)
    return np.where(leg == Leg.OUT, after_out, after).astype(np.int64)


def _on_the_clock(corridor: IntArray, legs: _Legs, rng: np.random.Generator) -> DayTrips:
    """Gives every trip a second; two trips of one rider are half an hour apart at least."""
    rider, leg, period = (np.concatenate(p) for p in (legs.rider, legs.leg, legs.period))
    order = np.argsort(rider * PERIODS + period, kind="stable")
    rider, leg, period = rider[order], leg[order], period[order]
    # Trips of one rider in adjoining half-hours form a run; seconds that ascend in a run keep the
    # distance.
    breaks = (np.diff(rider) != 0) | (np.diff(period) != 1)
    run = np.concatenate([[0], np.cumsum(breaks)])
    length_s = PERIOD_MINUTES * 60
    within = (rng.random(len(run)) * length_s).astype(np.int64)
    within = np.sort(run * length_s + within) - run * length_s
    second = (OPENS_MINUTE + PERIOD_MINUTES * period) * 60 + within
    return DayTrips(corridor=corridor, rider=rider, leg=leg, second=second)


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
        cells=ODCells(locations=locations, periods=periods, include_intrazonal=False),
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


# Of a corridor's riders, one in five stays away even on its busiest day.
_SPARE = 1.25
_HABIT_NOISE = 1.5


def name_riders(
    days: Sequence[DayTrips], corridors: int, rng: np.random.Generator
) -> list[IntArray]:
    """Returns, for each day, the person behind every rider: numbers without gaps or meaning.

    People keep to their corridor, and those who ride often on one day tend to do so on the others.
    """
    if len(days) == 1:
        return [shuffle(rng, len(days[0].corridor))]
    sizes = [np.bincount(day.corridor, minlength=corridors) for day in days]
    living = np.ceil(np.max(sizes, axis=0) * _SPARE).astype(np.int64)
    present = [_present(living, size, rng) for size in sizes]
    ever = np.zeros(int(living.sum()), dtype=bool)
    for people in present:
        ever[people] = True
    number = np.full(len(ever), -1)
    number[ever] = shuffle(rng, int(ever.sum()))
    return [_assign(day, number[people], rng) for day, people in zip(days, present, strict=True)]


def _present(living: IntArray, size: IntArray, rng: np.random.Generator) -> IntArray:
    """Chooses `size` of the `living` people of each corridor, in ascending order."""
    corridor = np.repeat(np.arange(len(living)), living)
    order = np.lexsort((rng.random(len(corridor)), corridor))
    rank = np.arange(len(corridor)) - np.repeat(np.cumsum(living) - living, living)
    return np.sort(order[rank < size[corridor]])


def _assign(day: DayTrips, people: IntArray, rng: np.random.Generator) -> IntArray:
    """Gives a corridor's people, in order, to its riders of the day, the busiest first."""
    made = np.bincount(day.rider, minlength=len(day.corridor))
    busyness = made + _HABIT_NOISE * rng.random(len(made))
    person = np.empty(len(made), dtype=np.int64)
    person[np.lexsort((-busyness, day.corridor))] = people
    return person
