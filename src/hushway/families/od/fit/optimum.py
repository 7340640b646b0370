"""The best multipliers for cells that have been seen: Newton, then a polish, then proof."""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray
from hushway.families.od.fit.directions import Directions, directions_of
from hushway.families.od.fit.newton import Descent, descend
from hushway.families.od.fit.optimality import Certified, Multipliers, certify
from hushway.families.od.fit.ordered import OrderedCells
from hushway.families.od.fit.system import System

_MOST_STEPS = 80
# Directions of the polish, where they are not found by a factorisation.
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
    system: System,
    directions: Directions,
    cells: OrderedCells,
    multipliers: FloatArray,
    *,
    close: float,
) -> Descent:
    """Descends to within some share of the fitted total of the best multipliers."""
    return descend(
        system,
        directions,
        cells,
        multipliers,
        close=close,
        accuracy=_COARSE,
        most_steps=_MOST_STEPS,
    )


def solve(
    system: System,
    directions: Directions,
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


def _gradual(system: System, cells: OrderedCells, tolerance: float) -> Solved:
    """Starts with small weights, where few steps lead to the minimum, and raises them."""
    multipliers = np.zeros(len(system.counts))
    steps = 0
    largest = float(system.weights.max(initial=0.0))
    for cap in (*(cap for cap in _CAPS if cap < largest), largest):
        capped = system.capped(cap)
        directions = directions_of(capped)
        descent = descend(
            capped,
            directions,
            cells,
            multipliers,
            close=_POLISHED * tolerance if cap == largest else _COARSE,
            accuracy=_COARSE,
            most_steps=4 * _MOST_STEPS,
        )
        multipliers = descent.point.multipliers
        steps += descent.steps
    found = _polish(system, directions, cells, multipliers, tolerance)
    return Solved(certified=found.certified, steps=steps + found.steps)


def _polish(
    system: System,
    directions: Directions,
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
