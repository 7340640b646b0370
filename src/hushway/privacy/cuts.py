"""Where to cut series: how many first cosine coefficients are worth the noise that they carry."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.fft import dct

from hushway.arrays import IntArray
from hushway.errors import PrivacyError
from hushway.privacy.public_facts import public_facts
from hushway.privacy.query import Cells, Query

# Below it a float64 holds scores with far more digits than the rounding to whole ones leaves.
_LARGEST_COUNT = 1 << 40


@public_facts
@dataclass(frozen=True, kw_only=True)
class CutQuery:
    """One cut for each of several series of counts.

    To keep k coefficients of the orthonormal cosine transform costs the norm of those cut off and
    sqrt(k) times the noise on each that is kept. The score of k is that cost, in whole numbers.

    Attributes:
        name: What is chosen.
        base: The counts: series of one length, one after the other.
        length: Length of a series.
        noise: Standard deviation of the noise that kept coefficients will carry: a public number.
    """

    name: str
    base: Query
    length: int
    noise: Fraction

    def __post_init__(self) -> None:
        if self.length < 1 or self.base.cells.size % self.length or self.noise <= 0:
            raise PrivacyError(
                "The counts are not series of one length, or the noise is not positive.",
                advice="Report this as a bug; nothing was measured.",
            )

    @property
    def cells(self) -> Cells:
        """The candidates: as many for each series as it is long."""
        return self.base.cells

    @staticmethod
    def kept(candidate: int) -> int:
        """Returns how many coefficients a candidate keeps: at least the first."""
        return candidate + 1

    def scores(self, counts: IntArray) -> Iterator[IntArray]:
        """Yields the scores of every series. Called by the curator only.

        Privacy:
            The norm of a tail moves by no more than the series does, since the transform is
            orthonormal. Rounding to whole numbers adds at most 1, and floating point far less than
            another 1 for counts below 2^40; larger ones are cut off, which brings two series only
            closer to each other.
        """
        kept = np.arange(1, self.length + 1)
        noise = np.sqrt(kept) * float(self.noise)
        held = np.minimum(counts, _LARGEST_COUNT).reshape(-1, self.length)
        for series in held.astype(np.float64):
            squares = dct(series, norm="ortho") ** 2
            tails = np.cumsum(squares[::-1])[::-1]
            beyond = np.sqrt(np.append(tails[1:], 0.0))
            yield np.rint(beyond + noise).astype(np.int64)


def noise_of(sigma_squared: Fraction) -> Fraction:
    """Returns a standard deviation as a fraction, for a `CutQuery`."""
    return Fraction(math.sqrt(sigma_squared)).limit_denominator(10**6)
