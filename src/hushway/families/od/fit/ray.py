"""A direction from a point, and how far to go along it.

The slope of the objective along a direction is increasing and piecewise linear. It needs one number
per group, so trying a length is much cheaper than finding another direction.
"""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray
from hushway.families.od.fit.ordered import OrderedCells
from hushway.families.od.fit.problem import Tails
from hushway.families.od.fit.system import System
from hushway.numerics.dot import dot

# A full step is taken if the slope is within these shares of what it was: a step that goes too far
# may turn it around, one that stops short must have used up most of it.
_TOO_FAR = 0.9
_TOO_SHORT = 0.3
# A searched step is taken once the slope has dropped to this share.
_ENOUGH = 0.5
_SEARCHES = 60
# Relative size of rounding errors in a slope, with room to spare.
_ROUNDING = 1e-13
# Trial lengths keep this far from the ends of their bracket, so that it always shrinks.
_INSIDE = 0.05


@dataclass(frozen=True, kw_only=True, eq=False)
class Point:
    """Multipliers, and what follows from them.

    Attributes:
        multipliers: One per element.
        shifts: One per group.
        tails: What lies above the shifts.
    """

    multipliers: FloatArray
    shifts: FloatArray
    tails: Tails


class Ray:
    """A direction from a point; the full step is looked at at once.

    Attributes:
        full: What lies above the shifts after a full step.
        overshoots: Whether a full step goes much too far.
    """

    def __init__(
        self,
        system: System,
        cells: OrderedCells,
        point: Point,
        residual: FloatArray,
        direction: FloatArray,
    ) -> None:
        self._cells = cells
        self._point = point
        self._direction = direction
        self._shift_rates = system.shifts(direction)
        pull = point.multipliers / system.weights + system.counts
        self._pull = dot(direction, pull)
        self._bend = dot(direction, direction / system.weights)
        self._first = abs(dot(direction, residual))
        self._noise = _ROUNDING * (
            dot(np.abs(direction), np.abs(pull))
            + dot(np.abs(self._shift_rates), point.tails.excess)
        )
        self._full_slope, self.full = self._slope(1.0)
        self.overshoots = self._full_slope > max(_TOO_FAR * self._first, self._noise)

    def advance(self) -> tuple[Point, bool]:
        """Returns the point where to stop, and whether it is a full step away."""
        too_short = self._full_slope < -max(_TOO_SHORT * self._first, self._noise)
        length, tails = 1.0, self.full
        if self.overshoots or too_short:
            length, tails = self._search()
        arrived = Point(
            multipliers=self._point.multipliers + length * self._direction,
            shifts=self._point.shifts + length * self._shift_rates,
            tails=tails,
        )
        return arrived, length == 1.0

    def _slope(self, length: float) -> tuple[float, Tails]:
        tails = self._cells.tails(self._point.shifts + length * self._shift_rates)
        slope = self._pull + length * self._bend - dot(self._shift_rates, tails.excess)
        return slope, tails

    def _search(self) -> tuple[float, Tails]:
        """Doubles the length until the slope turns, then closes in on where it does."""
        enough = max(_ENOUGH * self._first, self._noise)
        low, low_slope = 0.0, -self._first
        length, slope, tails = 1.0, self._full_slope, self.full
        for _ in range(_SEARCHES):
            if slope > 0:
                break
            low, low_slope = length, slope
            length *= 2
            slope, tails = self._slope(length)
            if abs(slope) <= enough:
                return length, tails
        high, high_slope = length, slope
        for _ in range(_SEARCHES):
            share = low_slope / (low_slope - high_slope)
            length = low + min(max(share, _INSIDE), 1 - _INSIDE) * (high - low)
            slope, tails = self._slope(length)
            if abs(slope) <= enough:
                break
            if slope < 0:
                low, low_slope = length, slope
            else:
                high, high_slope = length, slope
        return length, tails
