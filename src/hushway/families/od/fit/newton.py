"""Newton's method with a line search on a convex, piecewise quadratic function.

Each piece belongs to a set of active cells; on the right piece one full step lands on the minimum.
Without a search along the direction the method may cycle between pieces.
"""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray
from hushway.families.od.fit.directions import Directions
from hushway.families.od.fit.ordered import OrderedCells
from hushway.families.od.fit.ray import Point, Ray
from hushway.families.od.fit.system import System

# The part of a cell that each group counts as active which a full step would wake up.
_RESISTANCE = 0.03
# Steps with resistance are many fewer, but only without it is an end guaranteed.
_RESISTED_STEPS = 30


@dataclass(frozen=True, kw_only=True, eq=False)
class Descent:
    """Where a descent ended.

    Attributes:
        point: The last point.
        steps: Number of Newton steps.
        settled: Whether the last step was a full one on the right piece, or small enough.
    """

    point: Point
    steps: int
    settled: bool


def descend(
    system: System,
    directions: Directions,
    cells: OrderedCells,
    multipliers: FloatArray,
    *,
    close: float,
    accuracy: float,
    most_steps: int,
) -> Descent:
    """Descends until the active cells no longer change or the distance allowed is small.

    Args:
        system: The margins.
        directions: Solves for directions of this system.
        cells: The cells that may be active.
        multipliers: Where to start.
        close: A distance from the best fit that is small enough, as a share of the fitted total.
        accuracy: Accuracy of directions, relative to the gradient.
        most_steps: When to give up.
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
        direction = directions.solve(before + resisting, residual, accuracy)
        ray = Ray(system, cells, point, residual, direction)
        resisting = _resistance(ray, before) if step < _RESISTED_STEPS else nothing
        if exact and np.any(resisting):
            exact = False
            direction = directions.solve(before + resisting, residual, accuracy)
            ray = Ray(system, cells, point, residual, direction)
        point, full = ray.advance()
        if exact and full and np.array_equal(before, point.tails.counts):
            return Descent(point=point, steps=step + 1, settled=True)
    return Descent(point=point, steps=most_steps, settled=False)


def _resistance(ray: Ray, before: FloatArray) -> FloatArray:
    """Returns what to count as active in groups that a step much too long would wake up.

    A direction sees only active cells. Where few are, it sees no reason not to go a thousand times
    too far, and the search along it would leave next to nothing for all other groups.
    """
    waking = ray.full.counts > before if ray.overshoots else np.zeros(len(before), dtype=bool)
    return np.where(waking, _RESISTANCE, 0.0)
