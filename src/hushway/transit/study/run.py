"""One run of the transit study: a private table, the fleet sized by it, and a day of service.

Beside it stands what the CBDP paper prints (section 10, table 1).
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.od.city.ann_arbor import ann_arbor
from hushway.families.od.city.places import OPENS_MINUTE, PERIOD_MINUTES, WINDOW, Day
from hushway.families.od.mechanism.hierarchical import od_hierarchical
from hushway.families.od.mechanism.learned import od_learned, with_ends
from hushway.families.od.mechanism.shares import learned_shares, worth_measuring
from hushway.families.od.planning.trial import ODScene, run_once
from hushway.families.od.study.reproduce import MECHANISMS as TABLE_MECHANISMS
from hushway.families.od.study.reproduce import Maker, city_scene
from hushway.families.od.synthetic.published import published_trips
from hushway.geography.itineraries import Itineraries, RiderCosts, itineraries
from hushway.privacy.bound import Bound
from hushway.privacy.loss import PureLoss
from hushway.privacy.measured import Internal
from hushway.privacy.randomness import SeededSource
from hushway.release.mechanism import Mechanism
from hushway.study.results import Interval, interval_of
from hushway.transit.fleet import MEAN_WAIT_S, FleetPlan, size_fleet
from hushway.transit.legs import RiderTrips, draw_trips, in_order
from hushway.transit.operations import ServiceRules, Window, operate

DAYS: Final[tuple[Day, ...]] = ("weekday", "weekend")
CITY_SEED: Final = 2018
RULES: Final = ServiceRules()
TARGET_S: Final = MEAN_WAIT_S
COSTS: Final = RiderCosts()


def _second(period: int) -> int:
    return (OPENS_MINUTE + period * PERIOD_MINUTES) * 60


WINDOW_S: Final[Window] = (_second(WINDOW.start), _second(WINDOW.stop))


@dataclass(frozen=True, kw_only=True, eq=False)
class StudyDay:
    """What the runs of one day have in common.

    Attributes:
        operated: The window's trips at their true seconds: those that every fleet has to serve.
    """

    scene: ODScene
    routes: Itineraries
    operated: RiderTrips


@cache
def study_day(day: Day) -> StudyDay:
    """Returns a day of the matched city; every process makes it once."""
    city = ann_arbor(seed=CITY_SEED, day=day)
    trips = city.trips
    inside = (trips.period >= WINDOW.start) & (trips.period < WINDOW.stop)
    return StudyDay(
        scene=city_scene(city, periods=WINDOW),
        routes=itineraries(city.network, COSTS),
        operated=in_order(
            trips.departure_s[inside], trips.origin[inside], trips.destination[inside]
        ),
    )


TRUTH: Final = "truth"

# What is measured of a private table, and of the service by the fleet that it asks for.
TABLE_FIGURES: Final = ("private_trips", "private_cells", "sizing_s")
SERVICE_FIGURES: Final = (
    "shuttles",
    "leg_wait_s",
    "trip_wait_s",
    "idle_s",
    "in_vehicle_s",
    "unserved_legs",
)


def _tree(levels: int) -> Maker:
    """Returns a tree as the paper words it.

    The root is not measured, and nodes that are not positive are cut off before sums are made to
    add up.
    """

    def make(scene: ODScene, budget: PureLoss) -> Mechanism[Any, Any]:
        features = scene.features[1 : levels - 1]
        return od_hierarchical(scene.cells, features, budget=budget, prune=False, prune_early=True)

    return make


def _learned(scene: ODScene, budget: PureLoss) -> Mechanism[Any, Any]:
    """Returns what a plan without a mechanism gets."""
    one_trip = Bound.of_records(1)
    features = worth_measuring(with_ends(scene.cells, scene.features), budget, one_trip)
    shares = learned_shares(features, budget, one_trip)
    return od_learned(scene.cells, features, budget=budget, shares=shares)


MECHANISMS: Final[Mapping[str, Maker]] = {
    "O5": TABLE_MECHANISMS["O5"],
    "O4": TABLE_MECHANISMS["O4"],
    "O3": TABLE_MECHANISMS["O3"],
    "H5": _tree(5),
    "H4": _tree(4),
    "H3": _tree(3),
    "Laplace": TABLE_MECHANISMS["Laplace"],
    "default": TABLE_MECHANISMS["default"],
    "learned": _learned,
}


@dataclass(frozen=True, kw_only=True)
class Task:
    """One run to be done.

    Attributes:
        epsilon: The budget, as text; nothing if the exact table is used.
        mechanism: The mechanism, or "truth".
        run: Its number, which is the seed of the noise and of the moments of departure.
    """

    day: Day
    epsilon: str | None
    mechanism: str
    run: int

    def __str__(self) -> str:
        budget = "" if self.epsilon is None else f", ε = {self.epsilon}"
        return f"{self.day}{budget}: {self.mechanism}, run {self.run + 1}"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came out of a task."""

    task: Task
    figures: dict[str, float]


def run_task(task: Task) -> Internal[Outcome]:
    """Sizes a fleet by a private table and operates it on the true trips."""
    day = _ready(task.day)
    cells, counts = _table(task, day.scene)
    trips = draw_trips(day.scene.cells, cells, counts, seed=task.run)
    start = time.perf_counter()
    plan = _sized(day, trips)
    seconds = time.perf_counter() - start
    figures = {
        "private_trips": float(counts.sum()),
        "private_cells": float((counts > 0).sum()),
        "sizing_s": seconds,
        **_service(day, plan),
    }
    return Internal(Outcome(task=task, figures=figures))


def true_fleet(day: Day) -> Internal[tuple[FleetPlan, RiderTrips]]:
    """Returns the fleet sized by the exact table, and the trips drawn for it."""
    here = study_day(day)
    truth = here.scene.truth
    trips = draw_trips(here.scene.cells, truth.cells, truth.values, seed=0)
    return Internal((_sized(here, trips), trips))


@cache
def _ready(day: Day) -> StudyDay:
    # Compiles and fills caches, so that the seconds are those of the sizing.
    true_fleet(day)
    return study_day(day)


def _table(task: Task, scene: ODScene) -> tuple[IntArray, IntArray]:
    if task.epsilon is None:
        return scene.truth.cells, scene.truth.values
    mechanism = MECHANISMS[task.mechanism](scene, PureLoss(Fraction(task.epsilon)))
    table = run_once(mechanism, scene, SeededSource(task.run))
    # Whoever simulates with a table that learnt draws a day from it, as `evaluate` does.
    drawn = published_trips(table).drawn(task.run)
    return drawn.cells, drawn.counts


def _sized(day: StudyDay, trips: RiderTrips) -> FleetPlan:
    return size_fleet(day.routes, trips, rules=RULES, window_s=WINDOW_S, mean_wait_s=TARGET_S)


def _service(day: StudyDay, plan: FleetPlan) -> dict[str, float]:
    found = operate(day.routes, day.operated, plan.sizes, rules=RULES, window_s=WINDOW_S)
    return {
        "shuttles": float(plan.shuttles),
        "leg_wait_s": found.mean_leg_wait_s,
        "trip_wait_s": found.mean_trip_wait_s,
        "idle_s": found.mean_idle_s,
        "in_vehicle_s": found.mean_in_vehicle_s,
        "unserved_legs": float(found.unserved_legs),
    }


_Setting = tuple[str, str | None, str]


@dataclass(frozen=True, kw_only=True)
class ODMTSReproduction:
    """Everything that was measured: internal, computed against the (synthetic) truth."""

    runs: int
    trips: dict[Day, int]
    outcomes: tuple[Outcome, ...]

    @property
    def days(self) -> tuple[Day, ...]:
        """The days."""
        return tuple(dict.fromkeys(outcome.task.day for outcome in self.outcomes))

    @property
    def settings(self) -> tuple[_Setting, ...]:
        """Every day, budget and mechanism that was run; the truth has no budget."""
        return tuple(self._figures)

    def mechanisms(self, day: str, epsilon: str) -> tuple[str, ...]:
        """Returns the mechanisms that were run on a day at a budget."""
        return tuple(name for *where, name in self.settings if where == [day, epsilon])

    def epsilons(self, day: str) -> tuple[str, ...]:
        """Returns the budgets of a day, the largest first."""
        budgets = {epsilon for when, epsilon, _ in self.settings if when == day and epsilon}
        return tuple(sorted(budgets, key=float, reverse=True))

    def values(self, day: str, epsilon: str | None, mechanism: str, figure: str) -> FloatArray:
        """Returns one number of every run."""
        rows = self._figures[day, epsilon, mechanism]
        return np.array([row[figure] for row in rows])

    def of(self, day: str, epsilon: str | None, mechanism: str, figure: str) -> Interval:
        """Returns the mean of a number over the runs."""
        return interval_of(self.values(day, epsilon, mechanism, figure))

    def true(self, day: str, figure: str) -> Interval:
        """Returns the mean of a number when the fleet is sized by the exact table."""
        return self.of(day, None, TRUTH, figure)

    def errors(self, day: str, epsilon: str, mechanism: str, figure: str) -> FloatArray:
        """Returns the relative error of a number in every run, against the mean of the truth."""
        true = self.true(day, figure).mean
        return np.abs(self.values(day, epsilon, mechanism, figure) - true) / true

    def error(self, day: str, epsilon: str, mechanism: str, figure: str) -> Interval:
        """Returns the mean relative error of a number over the runs."""
        return interval_of(self.errors(day, epsilon, mechanism, figure))

    @cached_property
    def _figures(self) -> dict[_Setting, list[dict[str, float]]]:
        found: dict[_Setting, list[dict[str, float]]] = {}
        for outcome in self.outcomes:
            task = outcome.task
            found.setdefault((task.day, task.epsilon, task.mechanism), []).append(outcome.figures)
        return found


# Best first: the order of the errors in the number of shuttles, on both days.
ORDER: Final = ("O5", "O4", "O3", "H5", "H4", "H3", "Laplace")

# Relative errors at a privacy budget of 1: of shuttles, waiting time of a trip, idle time.
TABLE_1: Final[dict[str, dict[str, tuple[float, float, float]]]] = {
    "weekday": {
        "O5": (0.158, 0.040, 0.061),
        "O4": (0.483, 0.003, 0.196),
        "O3": (0.510, 0.028, 0.145),
        "H5": (0.788, 0.028, 0.483),
        "H4": (1.262, 0.007, 0.578),
        "H3": (1.394, 0.029, 0.586),
        "Laplace": (1.518, 0.029, 0.587),
    },
    "weekend": {
        "O5": (0.252, 0.005, 0.004),
        "O4": (0.843, 0.024, 0.049),
        "O3": (0.891, 0.024, 0.051),
        "H5": (2.647, 0.025, 0.150),
        "H4": (3.694, 0.026, 0.159),
        "H3": (3.704, 0.024, 0.172),
        "Laplace": (4.371, 0.021, 0.192),
    },
}

# The last row: what the system does when it is planned by the exact trips; times in seconds.
PRINTED_TRUTH: Final[dict[str, tuple[float, float, float]]] = {
    "weekday": (99, 135.0, 5130),
    "weekend": (48, 127.8, 4779),
}
