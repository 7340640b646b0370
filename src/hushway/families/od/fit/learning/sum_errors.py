"""Errors of sums of estimates, calibrated by sums that were measured.

Errors of cells are correlated in a way that their own variances do not show. Where sums were
measured, the sums of the estimates can be compared with them, which tells by how much variances
have to be inflated.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.privacy.noise.inversion import NoiseLaw

# Errors of sums are learnt for this many classes of their size, of at least so many sums each.
_SIZES, _IN_EACH = 8, 16
# Variance of a squared draw over the squared variance: 5 for Laplace noise, 2 for Gaussian.
_KURTOSIS: Final = 5.0
_FIRM: Final = 4.0
_NOTHING: Final = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class SumErrors:
    """What a family of measured sums says about the estimates of its cells.

    Attributes:
        noise: The variance of a sum to reconcile cells with: the more the errors of cells are
            correlated, the smaller it is.
        spread: Variance inflation: by how much more sums vary than their cells do.
        variances: The variance of every sum after reconciliation.
    """

    noise: float
    spread: float
    variances: FloatArray

    @staticmethod
    def of(*, noisy: IntArray, noise: float, cells: "SumsOfCells") -> "SumErrors":
        """Compares noisy sums, and the variance of their noise, with sums of estimates."""
        noise = max(noise, _NOTHING)
        missed = noisy - cells.estimates
        own = max(float(cells.variances.sum()), _NOTHING)
        # Of many sums only what noise does not explain counts against the cells. Few sums are known
        # better than they can be compared, so there the cells are in doubt.
        doubt = (1 - 2 / math.sqrt(len(missed))) * _hidden(noise, len(missed))
        more = float(np.sum(missed**2 - noise)) - doubt
        believed = noise / max(1.0, more / own)
        varied = _by_size(missed, cells.variances, noise)
        # How much of each sum is the cells' own, once both are together.
        share = believed / (believed + cells.yielding)
        return SumErrors(
            noise=believed,
            spread=max(1.0, float(varied.sum()) / own),
            # A sum of whole counts may be off by almost one more.
            variances=share**2 * varied + (1 - share) ** 2 * noise + 1 / 3,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class SumsOfCells:
    """The sums of estimates, of their variances, and of their `yielding_variance`."""

    estimates: FloatArray
    variances: FloatArray
    yielding: FloatArray


def _by_size(missed: FloatArray, own: FloatArray, noise: float) -> FloatArray:
    """Returns the variance of every sum before it was measured, by classes of size.

    What noise hides is counted with it: one standard deviation of what a class can show.
    """
    varied = np.empty_like(own)
    classes = min(_SIZES, max(1, len(own) // _IN_EACH))
    for some in np.array_split(np.argsort(own, kind="stable"), classes):
        seen = max(float(np.sum(missed[some] ** 2 - noise)), 0.0) + _hidden(noise, len(some))
        varied[some] = own[some] * max(1.0, seen / max(float(own[some].sum()), _NOTHING))
    return varied


def _hidden(noise: float, count: int) -> float:
    """Returns one standard deviation of the sum of so many squared draws."""
    return noise * math.sqrt(_KURTOSIS * count)


def yielding_variance(variance: FloatArray, law: NoiseLaw) -> FloatArray:
    """Returns the variances that cells are reconciled with.

    A cell gives way to sums as far as its posterior allows, but the less the more of its value
    comes from its own measurement: what sums are missing was not seen, so it is elsewhere.
    """
    return np.asarray(variance / (1 + _FIRM * variance / float(law.variance)))
