"""Where numbers of a series have changed, so that what lies beyond tells nothing any more."""

from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray

# Two numbers that are more deviations apart than this are not of the same size.
_SURPRISE: Final = 2.5
# Steps on both sides of a change that is so many deviations large tell nothing of each other.
_BREAK: Final = 3.0
_NOTHING: Final = 1e-12


def doubted(
    apart: FloatArray,
    variance: FloatArray,
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
    """Returns 1 for steps and places that have not changed on the way to one step, else 0.

    Args:
        own: Numbers of that step by place, and their variances.
        steps: The same of other steps, by (step, place).
        away: How many steps each is away; later ones have a negative number.
    """
    values, variance = steps
    same = np.ones_like(values)
    for side in (away > 0, away < 0):
        order = np.flatnonzero(side)[np.argsort(np.abs(away[side]))]
        if len(order):
            line = np.vstack([own[0], values[order]])
            same[order] = _before_break(line, np.vstack([own[1], variance[order]]))
    return same


def _before_break(line: FloatArray, variance: FloatArray) -> FloatArray:
    """Returns 1 for the rows but the first that come before a column's surest break, else 0.

    A break is where the mean of what is nearer to the first row and that of what is further differ
    by more than their noise.
    """
    sure = 1 / np.maximum(variance, _NOTHING)
    near, nearer = np.cumsum(sure, axis=0)[:-1], np.cumsum(sure * line, axis=0)[:-1]
    far, further = (np.cumsum(each[::-1], axis=0)[-2::-1] for each in (sure, sure * line))
    surprise = (nearer / near - further / far) ** 2 / (1 / near + 1 / far)
    broken = surprise.max(axis=0) > _BREAK**2
    last = np.where(broken, surprise.argmax(axis=0), len(surprise))
    return (np.arange(len(surprise))[:, None] < last).astype(np.float64)
