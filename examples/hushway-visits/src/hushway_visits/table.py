"""What is published: noisy answers, and the counts that follow from them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from hushway import families as hw

from hushway_visits.fit import Errors, Weights, least_squares
from hushway_visits.public import StopHours

_DIGITS = 2


@dataclass(frozen=True, kw_only=True, eq=False)
class VisitsTable:
    """Visits of every stop and period.

    Everything else follows from the three fields, so whoever has the noisy answers of a release can
    compute its counts again.

    Attributes:
        universe: The public stops and periods.
        answers: Noisy cells and, if measured, noisy totals by stop and by period.
        weights: What each answer is worth: public numbers.
    """

    universe: StopHours
    answers: tuple[hw.IntArray, ...]
    weights: Weights

    @cached_property
    def _fitted(self) -> hw.FloatArray:
        return least_squares(self.answers, self.weights)

    @cached_property
    def counts(self) -> hw.FloatArray:
        """Visits by (stop, period), in hundredths, not negative."""
        return _published(self._fitted)

    @cached_property
    def stop_totals(self) -> hw.FloatArray:
        """All visits of each stop; closer to the truth than a sum of counts."""
        return _published(self._fitted.sum(axis=1))

    @property
    def errors(self) -> Errors:
        """Standard errors, the same for all cells and for all stops."""
        return self.weights.errors


def _published(numbers: hw.FloatArray) -> hw.FloatArray:
    # Adding 0 turns -0 into 0.
    rounded: hw.FloatArray = np.maximum(np.round(numbers, _DIGITS), 0) + 0.0
    return rounded
