"""Counts from noisy cells and noisy totals, by weighted least squares, and their errors.

Cells, stops, periods and the whole are orthogonal parts of a table of stops and periods: what two
stops differ by, what two periods differ by, the mean, and the rest. The noise is independent and
alike within each question, so the best linear estimate weights the answers part by part, and
neither a matrix nor an iteration is needed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from hushway import families as hw


@dataclass(frozen=True, kw_only=True)
class Errors:
    """Standard errors of what is estimated.

    Attributes:
        cell: Of the visits of a stop in a period.
        stop: Of all visits of a stop.
        period: Of all visits of a period.
        whole: Of all visits.
    """

    cell: float
    stop: float
    period: float
    whole: float


@dataclass(frozen=True, kw_only=True)
class Weights:
    """The variance of each orthogonal part after all answers were used, each of unit length.

    Attributes:
        shape: Number of stops, and of periods.
        by_stop: Precision that totals by stop add to a difference of stops; 0 without them.
        by_period: Precision that totals by period add to a difference of periods, likewise.
        rest: Variance of what neither totals by stop nor by period tell: that of a cell.
    """

    shape: tuple[int, int]
    by_stop: float
    by_period: float
    rest: float

    @classmethod
    def of(cls, shape: tuple[int, int], variances: Sequence[float]) -> "Weights":
        """Returns the weights for the noise of the cells and, if measured, of both totals."""
        cells, *totals = variances
        by_stop = by_period = 0.0
        if totals:
            by_stop, by_period = shape[1] / totals[0], shape[0] / totals[1]
        return cls(shape=shape, by_stop=by_stop, by_period=by_period, rest=cells)

    @property
    def stops(self) -> float:
        """Variance of a difference of stops."""
        return 1 / (1 / self.rest + self.by_stop)

    @property
    def periods(self) -> float:
        """Variance of a difference of periods."""
        return 1 / (1 / self.rest + self.by_period)

    @property
    def mean(self) -> float:
        """Variance of the mean, which all answers tell."""
        return 1 / (1 / self.rest + self.by_stop + self.by_period)

    @property
    def errors(self) -> Errors:
        """The standard errors of the estimate."""
        stops, periods = self.shape
        of_stops = (stops - 1) * self.stops
        of_periods = (periods - 1) * self.periods
        of_rest = (stops - 1) * (periods - 1) * self.rest
        return Errors(
            cell=math.sqrt((of_rest + of_stops + of_periods + self.mean) / (stops * periods)),
            stop=math.sqrt(periods * (of_stops + self.mean) / stops),
            period=math.sqrt(stops * (of_periods + self.mean) / periods),
            whole=math.sqrt(stops * periods * self.mean),
        )


def least_squares(answers: Sequence[hw.IntArray], weights: Weights) -> hw.FloatArray:
    """Returns the estimate of every (stop, period); it may be negative.

    Args:
        answers: Noisy cells and, if measured, noisy totals by stop and by period.
        weights: What each answer is worth.
    """
    cells = answers[0].reshape(weights.shape).astype(np.float64)
    if len(answers) == 1:
        return cells
    stops, periods = weights.shape
    # What totals say beyond the cells, for each cell of a stop or of a period.
    by_stop = (answers[1] - cells.sum(axis=1)) / periods
    by_period = (answers[2] - cells.sum(axis=0)) / stops
    of_stops = weights.stops * weights.by_stop * (by_stop - by_stop.mean())
    of_periods = weights.periods * weights.by_period * (by_period - by_period.mean())
    shift = weights.by_stop * by_stop.mean() + weights.by_period * by_period.mean()
    fitted: hw.FloatArray = cells + of_stops[:, None] + of_periods + weights.mean * shift
    return fitted
