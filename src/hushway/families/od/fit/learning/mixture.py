"""Components of the mixtures that say how far counts stray from their prior means.

A component is a law of a factor whose mean is 1, on a grid of logarithms, so that it moves along
with the prior. Each is a gamma law of some shape, and may be zero-inflated: most counts are empty
and the others larger for it. Because every component has mean 1, so has every mixture of them.
"""

import math
from typing import Final

import numpy as np

from hushway.arrays import FloatArray

# The distance of two expectations on the grid, as a logarithm: a factor of 1.42.
STEP: Final = 0.35
# A factor goes this many steps up or down: from 1/270 to 270.
REACH: Final = 16
# Column 0 is the factor 0; then come the steps from -REACH to REACH.
COLUMNS: Final = 2 * REACH + 2
# The column of the factor 1.
UNCHANGED: Final = REACH + 1

_SHAPES: Final = (0.3, 1.0, 3.0, 10.0, math.inf)
_SHAPES_OF_THE_FULL: Final = (1.0, 4.0, math.inf)


def factors(reach: int = REACH) -> FloatArray:
    """Returns the factor of each column."""
    return np.concatenate([[0.0], np.exp(STEP * np.arange(-reach, reach + 1))])


def mixture_components(reach: int = REACH) -> FloatArray:
    """Returns one law a row: the probability of each column's factor. Every mean is 1."""
    laws = [_law(shape, 0, reach) for shape in _SHAPES]
    # How much larger the counts are that are not empty: 2 steps are twice as large.
    laws += [
        _law(shape, steps, reach)
        for steps in range(2, reach - 1, 2)
        for shape in _SHAPES_OF_THE_FULL
    ]
    return np.array(laws)


def _law(shape: float, steps: int, reach: int) -> FloatArray:
    """Returns a gamma law around a factor of so many steps, zero-inflated so that its mean is 1."""
    factor = factors(reach)[1:]
    relative = factor * math.exp(-STEP * steps)
    if math.isinf(shape):
        weights = (np.arange(-reach, reach + 1) == steps).astype(np.float64)
    else:
        # The density of a logarithm, so the power is the shape and not one less.
        weights = np.exp(shape * (np.log(relative) - relative))
        weights /= weights.sum()
    # The grid is coarse and ends somewhere: what is missing to the mean is put right by the zeros
    # or, where there are none, by moving all factors a little.
    mean = float(weights @ factor)
    if mean < 1:
        weights = _leaning(weights, factor)
        mean = float(weights @ factor)
    full = 1 / mean
    return np.concatenate([[1 - full], full * weights])


def _leaning(weights: FloatArray, factor: FloatArray) -> FloatArray:
    """Returns weights tilted towards large factors until their mean is at least 1."""
    lean = np.log1p(factor)
    low, high = 0.0, 8.0
    for _ in range(60):
        middle = (low + high) / 2
        if _leant(weights, lean, middle) @ factor < 1:
            low = middle
        else:
            high = middle
    return _leant(weights, lean, high)


def _leant(weights: FloatArray, lean: FloatArray, much: float) -> FloatArray:
    leant = weights * np.exp(much * (lean - lean[-1]))
    return np.asarray(leant / leant.sum())
