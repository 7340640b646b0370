"""Which cells a fit asks to see: those that could be active, and a few more.

A hidden cell is below its group's threshold, so it cannot be active if the shift is at least the
threshold less 1: values are integers. A source may pay for every distinct threshold, so there are
never many.
"""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.od.fit.directions import Directions
from hushway.families.od.fit.forecast import Foreseeable
from hushway.families.od.fit.problem import CellSource
from hushway.families.od.fit.system import System

EVERYTHING = -(1 << 62)
"""A threshold that every cell reaches."""

_DISTINCT = 64
# Thresholds are this share below the shifts that are expected.
_SLACK = 0.2
# Lowered thresholds are this much of the noise below the shifts that were found, and not more than
# that below what they were: shifts are far too low while cells are missing.
_FURTHER = 0.5
_REACH = 3.0
# Forecasts are good enough once no shift moves by more than this share of the noise.
_STILL = 0.2
# A fit starts from a forecast this early: from below it finds the active cells in a few steps, from
# beside them in many.
_HEAD_START = 2


@dataclass(frozen=True, kw_only=True, eq=False)
class Beginning:
    """Where a fit begins.

    Attributes:
        multipliers: A first guess.
        thresholds: What it suggests to look at.
        scale: How far thresholds move at a time.
    """

    multipliers: FloatArray
    thresholds: IntArray
    scale: float


def begin(cells: CellSource, system: System, directions: Directions) -> Beginning:
    """Estimates the shifts by Newton steps from 0.

    Steps are full and not searched: a convex decreasing tail is undershot, so that estimated shifts
    are rather too low, which shows too many cells and not too few (Michelot 1986 projects onto the
    simplex in this way).
    """
    multipliers = np.zeros(len(system.counts))
    shifts = np.zeros(system.groups)
    if not isinstance(cells, Foreseeable):
        ones = np.ones(system.groups, dtype=np.int64)
        return Beginning(multipliers=multipliers, thresholds=ones, scale=1.0)
    forecast = cells.forecast()
    start = multipliers
    for step in range(forecast.steps):
        tails = forecast.tails(shifts)
        residual = system.residual(multipliers, tails.excess)
        multipliers = multipliers + directions.solve(tails.counts, residual, _STILL)
        before, shifts = shifts, system.shifts(multipliers)
        if step < _HEAD_START:
            start = multipliers
        if np.max(np.abs(shifts - before), initial=0.0) <= _STILL * forecast.scale:
            break
    thresholds = few_distinct(_just_above(shifts - _SLACK * np.abs(shifts)))
    return Beginning(multipliers=start, thresholds=thresholds, scale=forecast.scale)


def lowered(
    thresholds: IntArray, shifts: FloatArray, short: IntArray, scale: float, tries: int
) -> IntArray:
    """Returns lower thresholds for the groups that hid too much.

    Args:
        thresholds: What was asked for.
        shifts: What followed: too low where too much was hidden.
        short: The groups where that was so.
        scale: The scale of the noise.
        tries: How often this has happened before; every time it goes further.
    """
    old = thresholds[short]
    wanted = _just_above(shifts[short] - _FURTHER * scale)
    allowed = _just_above(old.astype(np.float64) - _REACH * scale * 2.0**tries)
    lower = thresholds.copy()
    lower[short] = np.minimum(np.maximum(wanted, allowed), old - 1)
    return np.minimum(few_distinct(lower), thresholds)


def few_distinct(thresholds: IntArray) -> IntArray:
    """Rounds thresholds down to a few levels: half of them evenly spaced, half quantiles."""
    real = thresholds[thresholds > EVERYTHING]
    if not len(real) or int(real.max()) - int(real.min()) < _DISTINCT - 1:
        return thresholds
    half = (_DISTINCT - 2) // 2
    ranks = np.linspace(0, len(real) - 1, half).astype(np.int64)
    even = np.linspace(real.min(), real.max(), half)
    levels = np.concatenate([np.partition(real, ranks)[ranks], np.floor(even).astype(np.int64)])
    # Rounding up in `linspace` must not leave anything below the lowest level.
    levels = np.unique(np.append(np.minimum(levels, real.max()), real.min()))
    rounded = thresholds.copy()
    rounded[thresholds > EVERYTHING] = levels[np.searchsorted(levels, real, side="right") - 1]
    return rounded


def _just_above(shifts: FloatArray) -> IntArray:
    """Returns the least integer above each shift; far below all values, everything."""
    within = shifts > EVERYTHING / 2
    return np.where(within, np.floor(np.where(within, shifts, 0.0)) + 1, float(EVERYTHING)).astype(
        np.int64
    )
