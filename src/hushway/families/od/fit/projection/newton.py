"""The dual solved over cells that have been seen: Newton steps, a polish, and a certificate."""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray
from hushway.families.od.fit.projection.newton_direction import NewtonSolver, newton_solver
from hushway.families.od.fit.projection.optimality import (
    Certified,
    Multipliers,
    OrderedCells,
    certify,
)
from hushway.families.od.fit.projection.problem import DualProblem, Tails
from hushway.numerics.double_double import dot

# Newton's method with a line search on a convex, piecewise quadratic function.
#
# Each piece belongs to a set of active cells; on the right piece one full step lands on the
# minimum. Without a search along the direction the method may cycle between pieces.

# The part of a cell that each group counts as active which a full step would wake up.
_RESISTANCE = 0.03
# Steps with resistance are many fewer, but only without it is an end guaranteed.
_RESISTED_STEPS = 30


@dataclass(frozen=True, kw_only=True, eq=False)
class Point:
    """Multipliers by element, shifts by group, and what lies above the shifts."""

    multipliers: FloatArray
    shifts: FloatArray
    tails: Tails


@dataclass(frozen=True, kw_only=True, eq=False)
class Descent:
    """The last point, Newton steps taken, and whether the active set or the bound has converged."""

    point: Point
    steps: int
    settled: bool


def descend(
    system: DualProblem,
    directions: NewtonSolver,
    cells: OrderedCells,
    multipliers: FloatArray,
    *,
    close: float,
    most_steps: int,
) -> Descent:
    """Takes Newton steps until the active cells no longer change or the distance allowed is small.

    Args:
        cells: The cells that may be active.
        close: A distance from the best fit that is small enough, as a share of the fitted total.
    """
    shifts = system.shifts(multipliers)
    point = Point(multipliers=multipliers, shifts=shifts, tails=cells.tails(shifts))
    nothing = np.zeros(system.groups)
    resisting = nothing
    for step in range(most_steps):
        residual = system.residual(point.multipliers, point.tails.excess)
        if system.bound(residual) <= close * max(1.0, float(point.tails.excess.sum())):
            return Descent(point=point, steps=step, settled=True)
        before = point.tails.counts
        exact = not np.any(resisting)
        direction = directions.solve(before + resisting, residual, _COARSE)
        ray = Ray(system, cells, point, residual, direction)
        resisting = _resistance(ray, before) if step < _RESISTED_STEPS else nothing
        if exact and np.any(resisting):
            exact = False
            direction = directions.solve(before + resisting, residual, _COARSE)
            ray = Ray(system, cells, point, residual, direction)
        point, full = ray.advance()
        if exact and full and np.array_equal(before, point.tails.counts):
            return Descent(point=point, steps=step + 1, settled=True)
    return Descent(point=point, steps=most_steps, settled=False)


class Ray:
    """A line search from a point; the full step is evaluated at once."""

    def __init__(
        self,
        system: DualProblem,
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


def _resistance(ray: Ray, before: FloatArray) -> FloatArray:
    """Returns what to count as active in groups that a step much too long would wake up.

    A direction sees only active cells. Where few are, it sees no reason not to go a thousand times
    too far, and the search along it would leave next to nothing for all other groups.
    """
    waking = ray.full.counts > before if ray.overshoots else np.zeros(len(before), dtype=bool)
    return np.where(waking, _RESISTANCE, 0.0)


_MOST_STEPS = 80
# NewtonSolver of the polish, where they are not found by a factorisation.
_FINE = 1e-4
_COARSE = 1e-2
# The polish stops here: what is left is less than rounding in the values that are returned.
_POLISHED = 1e-4
_MOST_POLISHING = 30
# Weights are let in gradually if all at once did not lead to the minimum.
_CAPS = (1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8)


@dataclass(frozen=True, kw_only=True, eq=False)
class Solved:
    """The best point that was found, and the steps it took."""

    certified: Certified
    steps: int


def approach(
    system: DualProblem,
    directions: NewtonSolver,
    cells: OrderedCells,
    multipliers: FloatArray,
    *,
    close: float,
) -> Descent:
    """Descends with rough directions; see `descend`."""
    return descend(
        system,
        directions,
        cells,
        multipliers,
        close=close,
        most_steps=_MOST_STEPS,
    )


def solve(
    system: DualProblem,
    directions: NewtonSolver,
    cells: OrderedCells,
    multipliers: FloatArray,
    *,
    tolerance: float,
) -> Solved:
    """Returns the best multipliers, as well as they can be found."""
    descent = approach(system, directions, cells, multipliers, close=_POLISHED * tolerance)
    found = _polish(system, directions, cells, descent.point.multipliers, tolerance)
    if found.certified.bound <= tolerance * _total(found.certified):
        return Solved(certified=found.certified, steps=descent.steps + found.steps)
    gradual = _gradual(system, cells, tolerance)
    better = min(found, gradual, key=lambda one: one.certified.bound)
    steps = descent.steps + found.steps + gradual.steps
    return Solved(certified=better.certified, steps=steps)


def _gradual(system: DualProblem, cells: OrderedCells, tolerance: float) -> Solved:
    """Continuation in the weights: few steps lead to the minimum of small ones."""
    multipliers = np.zeros(len(system.counts))
    steps = 0
    largest = float(system.weights.max(initial=0.0))
    for cap in (*(cap for cap in _CAPS if cap < largest), largest):
        capped = system.capped(cap)
        directions = newton_solver(capped)
        descent = descend(
            capped,
            directions,
            cells,
            multipliers,
            close=_POLISHED * tolerance if cap == largest else _COARSE,
            most_steps=4 * _MOST_STEPS,
        )
        multipliers = descent.point.multipliers
        steps += descent.steps
    found = _polish(system, directions, cells, multipliers, tolerance)
    return Solved(certified=found.certified, steps=steps + found.steps)


def _polish(
    system: DualProblem,
    directions: NewtonSolver,
    cells: OrderedCells,
    multipliers: FloatArray,
    tolerance: float,
) -> Solved:
    """Takes Newton steps in double-double for as long as they help."""
    start = Multipliers(high=multipliers, low=np.zeros_like(multipliers))
    best = certify(system, cells, start)
    for step in range(_MOST_POLISHING):
        fine = best.bound <= _POLISHED * tolerance * _total(best)
        if fine and best.bound < best.gap:
            return Solved(certified=best, steps=step)
        move = directions.solve(best.counts, best.residual, _FINE)
        found = certify(system, cells, best.multipliers.moved(move))
        if not found.bound < best.bound:
            return Solved(certified=best, steps=step + 1)
        best = found
    return Solved(certified=best, steps=_MOST_POLISHING)


def _total(certified: Certified) -> float:
    return max(1.0, float(certified.totals.sum()))


# A direction from a point, and how far to go along it.
#
# The slope of the objective along a direction is increasing and piecewise linear. It needs one
# number per group, so trying a length is much cheaper than finding another direction.

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
