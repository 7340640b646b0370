"""The papers' own OD mechanisms, for comparison only: nothing here can be published."""

from fractions import Fraction

import numpy as np

from hushway.arrays import IntArray
from hushway.privacy.internal import Internal
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.query import ExactCounts
from hushway.privacy.randomness import BitSource

# Noise in steps of 1/1024 trip: as fine as the paper's real-valued noise shows after flooring.
_STEP_BITS = 10


def floored_laplace(
    counts: ExactCounts, *, size: int, epsilon: Fraction, source: BitSource
) -> Internal[IntArray]:
    """Returns the trip counts of the Laplace baseline of the CBDP paper (AAMAS 2018).

    The paper adds real-valued Laplace noise of scale 1/epsilon to every cell and keeps whole,
    non-negative counts. Its printed totals fit rounding down, not to the nearest: an empty cell
    then holds 1/(2(exp(epsilon) - 1)) trips on average. Our own release adds whole noise, which
    needs no rounding and has a mean of exp(-epsilon)/(1 - exp(-2 epsilon)) there.
    """
    law = DiscreteLaplace((1 << _STEP_BITS) / epsilon)
    values = law.draw(source, size) >> _STEP_BITS
    values[counts.cells] += counts.values
    return Internal(np.maximum(values, 0))
