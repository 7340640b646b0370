"""How far numbers of one question stray from step to step: learnt from all of them together.

Privacy:
    Everything here is computed from noisy values: no row, no budget.
"""

from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np

from hushway.arrays import FloatArray

# How many numbers of a question say how far they stray.
_ENOUGH: Final = 1 << 14
_NOTHING: Final = 1e-12


@dataclass(frozen=True, kw_only=True)
class Stray:
    """How far numbers stray from step to step, as a variance: at all, by size, by its square."""

    at_all: float
    by_size: float
    by_square: float

    def of(self, level: FloatArray) -> FloatArray:
        """Returns the variance for numbers of some size."""
        return np.asarray(self.at_all + self.by_size * level + self.by_square * level**2)


# What is tried for each of them; the first in parts of the noise.
_AT_ALL: Final = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 10.0)
_BY_SIZE: Final = (0.0, 0.3, 1.0, 3.0, 10.0)
_BY_SQUARE: Final = (0.0, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 10.0)
# Changes of this much, squared, are usual; larger ones are the less likely beforehand.
_USUAL: Final = 0.01
# Numbers are this far off, squared and in parts of their variance, this often: the tails of Laplace
# noise are wide, and some numbers have changed altogether.
_TAILS: Final = ((0.6, 0.78), (2.6, 0.19), (100.0, 0.03))


def learn_stray(
    apart: FloatArray, noise: FloatArray, level: FloatArray, times: FloatArray | float = 1.0
) -> Stray:
    """Returns how far numbers stray beyond their noise: what is tried, by how likely it is.

    Args:
        apart: How far the numbers of two steps are apart.
        level: About how large they are.
        times: How many times they stray, if one of two is an average.
    """
    some = slice(None, None, 1 + len(apart) // _ENOUGH)
    squared, noise, level = apart[some] ** 2, noise[some], level[some]
    times = np.broadcast_to(times, len(apart))[some]
    usual = float(np.median(noise))
    tried = np.array(
        [(one * usual, *rest) for one, *rest in product(_AT_ALL, _BY_SIZE, _BY_SQUARE)]
    )
    likely = np.array(
        [
            _likelihood(squared, noise + times * (one + two * level + three * level**2))
            for one, two, three in tried
        ]
    )
    weight = np.exp(likely - likely.max()) / (1 + tried[:, 2] / _USUAL)
    one, two, three = (weight @ tried / weight.sum()).tolist()
    return Stray(at_all=one, by_size=two, by_square=three)


def _likelihood(squared: FloatArray, variance: FloatArray) -> float:
    """Returns the logarithm of how likely numbers so far apart are, some of which have changed."""
    relative = squared / variance
    mixed = sum(share / width**0.5 * np.exp(-relative / (2 * width)) for width, share in _TAILS)
    return float((np.log(mixed + _NOTHING) - np.log(variance) / 2).sum())
