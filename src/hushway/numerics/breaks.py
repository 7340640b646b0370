"""Breaks in lines of noisy numbers: from which step on, going back, numbers are other ones."""

from collections.abc import Callable, Sequence

import numpy as np

from hushway.arrays import FloatArray, IntArray

# A precision of nothing at all.
_NOTHING = 1e-12


def unchanged(
    away: IntArray, surprise: Callable[[IntArray], FloatArray], cells: int, sure: float
) -> FloatArray:
    """Returns 1 for (step, cell) if the cell has not changed on the way to this step, else 0.

    Args:
        away: How many steps each step is away, later ones below 0.
        surprise: How surprising a break before each of some steps would be, the nearest first.
        sure: Breaks of more than this have been.
    """
    same = np.ones((len(away), cells))
    for side in (away > 0, away < 0):
        order = np.flatnonzero(side)[np.argsort(np.abs(away[side]))]
        if len(order):
            same[order] = _before_break(surprise(order), sure)
    return same


def surprise_of(lines: Sequence[tuple[FloatArray, FloatArray]], most: float = np.inf) -> FloatArray:
    """Returns how surprising a break after each row but the last is, added up over lines.

    A break is where the mean of what is nearer to the first row and that of what is further differ
    by more than their noise: the squared difference in deviations.

    Args:
        lines: Numbers by (step, cell) with their variances, the step itself first.
        most: No line counts for more than this.
    """
    found = np.zeros(())
    for line, variance in lines:
        sure = 1 / np.maximum(variance, _NOTHING)
        near, nearer = np.cumsum(sure, axis=0)[:-1], np.cumsum(sure * line, axis=0)[:-1]
        far, further = sure.sum(axis=0) - near, (sure * line).sum(axis=0) - nearer
        each = (nearer / near - further / far) ** 2 / (1 / near + 1 / far)
        found = found + np.minimum(each, most)
    return found


def _before_break(surprise: FloatArray, sure: float) -> FloatArray:
    """Returns 1 for the steps that come before a cell's surest break, else 0."""
    broken = surprise.max(axis=0) > sure
    last = np.where(broken, surprise.argmax(axis=0), len(surprise))
    return (np.arange(len(surprise))[:, None] < last).astype(np.float64)
