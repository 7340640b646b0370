"""What riders do on one day: from home to a usual destination, sometimes aside, and back."""

from dataclasses import dataclass, replace

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.families.od.city.demand import Corridors
from hushway.families.od.city.figures import (
    OPENS_MINUTE,
    PERIOD_MINUTES,
    PERIODS,
    WINDOW,
    Day,
    Figures,
)
from hushway.families.od.city.rhythm import Leg, rhythm_of
from hushway.families.od.city.window import WindowTrips
from hushway.study.chance import draw, pick

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
