"""One dense noisy vector over a huge universe, drawn only as far as anyone has looked.

Nearly all cells of a mobility table are empty, and an empty cell is pure noise. How many of the m
hidden empty cells reach a threshold is binomial; which ones is a uniform subset; what they show is
the noise law above the threshold. Drawing these three is the same, in law, as drawing every cell
and looking (Cormode, Procopiuc, Srivastava and Tran 2012, theorem 4.1 of the prefix-tree paper,
made exact). A later, lower threshold continues the same vector: hidden cells are known to be below
the old threshold, so the three draws are conditional on that.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hushway.errors import PrivacyError
from hushway.privacy.noise.binomial import binomial
from hushway.privacy.noise.enclosure import Enclosure
from hushway.privacy.noise.inversion import IntArray
from hushway.privacy.noise.law import NoiseLaw, between, share
from hushway.privacy.noise.uniform import uniform_subset
from hushway.privacy.randomness import BitSource


@dataclass(frozen=True, kw_only=True)
class Shown:
    """The cells of a noisy vector that reach a threshold, ascending, and their noisy values."""

    cells: IntArray
    values: IntArray


class LazyVector:
    """A noisy vector that exists in full in law, and in memory only where it was looked at.

    Privacy:
        Holds noisy values only; the exact counts given to the constructor are not kept.
    """

    def __init__(
        self, *, law: NoiseLaw, size: int, cells: IntArray, counts: IntArray, source: BitSource
    ) -> None:
        self._law = law
        self._size = size
        self._source = source
        self._occupied = cells
        self._noisy = counts + law.draw(source, len(counts))
        self._empty_shown = Shown(cells=cells[:0], values=counts[:0])
        self._threshold: int | None = None

    def reveal(self, threshold: int) -> Shown:
        """Returns all cells at or above the threshold, the same ones at every call."""
        if self._threshold is None or threshold < self._threshold:
            self._look_lower(threshold)
        empty = self._empty_shown.values >= threshold
        reached = self._noisy >= threshold
        cells = np.concatenate([self._occupied[reached], self._empty_shown.cells[empty]])
        values = np.concatenate([self._noisy[reached], self._empty_shown.values[empty]])
        order = np.argsort(cells)
        return Shown(cells=cells[order], values=values[order])

    def _look_lower(self, threshold: int) -> None:
        """Draws the empty cells between the new threshold and the old one."""
        taken = np.sort(np.concatenate([self._occupied, self._empty_shown.cells]))
        hidden = self._size - len(taken)
        above = self._threshold
        count = binomial(
            self._source, hidden, lambda bits: _chance(self._law, threshold, above, bits)
        )
        if count:
            ranks = uniform_subset(self._source, count, hidden)
            cells = _skip(ranks, taken)
            values = self._law.draw_between(self._source, count, threshold, above)
            shown = self._empty_shown
            self._empty_shown = Shown(
                cells=np.concatenate([shown.cells, cells]),
                values=np.concatenate([shown.values, values]),
            )
        self._threshold = threshold


def expected_above(law: NoiseLaw, size: int, threshold: int) -> float:
    """Returns the expected number of empty cells that reach a threshold, for forecasts."""
    bits = 256
    low, high = law.mass_from(threshold, bits)
    return float(size * Fraction(low + high, 1 << (bits + 1)))


def threshold_for(law: NoiseLaw, size: int, expected: float) -> int:
    """Returns the lowest threshold that at most `expected` empty cells reach on average.

    Raises:
        PrivacyError: The expected number is not positive.
    """
    if not expected > 0:
        raise PrivacyError(
            "The expected number of false cells must be greater than 0.",
            advice="Choose for example 100: so many cells without any trip will appear by chance.",
        )
    low, high = 0, 1
    while expected_above(law, size, high) > expected:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if expected_above(law, size, middle) > expected:
            low = middle
        else:
            high = middle
    return high


def _chance(law: NoiseLaw, low: int, high: int | None, bits: int) -> Enclosure:
    """Encloses 2^bits * P(Z >= low | Z < high)."""
    if high is None:
        return law.mass_from(low, bits)
    wide = bits + 64
    part = between(law, low, high, wide)
    from_high = law.mass_from(high, wide)
    return share(part, ((1 << wide) - from_high[1], (1 << wide) - from_high[0]), bits)


def _skip(ranks: IntArray, taken: IntArray) -> IntArray:
    """Turns ranks among the cells that are not taken into cell numbers."""
    before = taken - np.arange(len(taken))
    return ranks + np.searchsorted(before, ranks, side="right")
