"""What the transit study measures, and what the CBDP paper prints (section 10, table 1)."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from hushway.arrays import FloatArray
from hushway.families.od.city.places import Day
from hushway.study.results import Interval, interval_of
from hushway.transit.study.run import TRUTH, Outcome

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
