"""Breaks in lines of noisy numbers: from which step on, going back, numbers are other ones."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray

# Two numbers that are more deviations apart than this are not of the same size.
_SURPRISE: Final = 2.5
# Steps on both sides of a change that is so many deviations large tell nothing of each other.
_BREAK: Final = 3.0
# A precision of nothing at all.
_NOTHING: Final = 1e-12


def doubted(
    apart: FloatArray,
    variance: FloatArray | float,
    expected_variance: FloatArray,
    surprise: float = _SURPRISE,
) -> FloatArray:
    """Returns the variances of expectations, larger where they are contradicted.

    Args:
        apart: How far numbers are from what was expected.
        variance: Variances of the numbers.
        surprise: From so many deviations on they are doubted.
    """
    beyond = apart**2 / (variance + expected_variance) / surprise**2
    return np.asarray(expected_variance * np.maximum(beyond, 1.0) ** 2)


def unchanged(
    own: tuple[FloatArray, FloatArray], steps: tuple[FloatArray, FloatArray], away: IntArray
) -> FloatArray:
    """Returns 1 for (step, cell) if its one number has not changed on the way to a step, else 0.

    Args:
        own: Numbers of that step by cell, and their variances.
        steps: The same of other steps, by (step, cell).
        away: How many steps each is away, later ones below 0.
    """

    def surprise(order: IntArray) -> FloatArray:
        line, variance = (
            np.vstack([mine, theirs[order]]) for mine, theirs in zip(own, steps, strict=True)
        )
        return surprise_of([(line, variance)])

    return unchanged_by(away, surprise, len(own[0]), _BREAK**2)


def unchanged_by(
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
        # From the other end, so that a sure number does not drown the others.
        far, further = (np.cumsum(each[::-1], axis=0)[-2::-1] for each in (sure, sure * line))
        each = (nearer / near - further / far) ** 2 / (1 / near + 1 / far)
        found = found + np.minimum(each, most)
    return found


def _before_break(surprise: FloatArray, sure: float) -> FloatArray:
    """Returns 1 for the steps that come before a cell's surest break, else 0."""
    broken = surprise.max(axis=0) > sure
    last = np.where(broken, surprise.argmax(axis=0), len(surprise))
    return (np.arange(len(surprise))[:, None] < last).astype(np.float64)
