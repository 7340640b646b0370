"""What the curator asks of a noise law, and enclosures that follow from it."""

from fractions import Fraction
from typing import Protocol

from hushway.arrays import IntArray
from hushway.errors import PrivacyError
from hushway.privacy.noise.inversion import Enclosure
from hushway.privacy.randomness import BitSource


class NoiseLaw(Protocol):
    """A symmetric law on the integers that can be drawn exactly."""

    @property
    def variance(self) -> Fraction:
        """The variance, or a number just above it."""
        ...

    def draw(self, source: BitSource, count: int) -> IntArray:
        """Returns independent noise."""
        ...

    def mass_from(self, threshold: int, bits: int) -> Enclosure:
        """Encloses 2^bits * P(Z >= threshold)."""
        ...

    def draw_between(self, source: BitSource, count: int, low: int, high: int | None) -> IntArray:
        """Returns independent noise, given low <= Z < high (no upper end if None)."""
        ...


def between(law: NoiseLaw, low: int, high: int | None, bits: int) -> Enclosure:
    """Encloses 2^bits * P(low <= Z < high)."""
    from_low = law.mass_from(low, bits)
    if high is None:
        return from_low
    from_high = law.mass_from(high, bits)
    return max(0, from_low[0] - from_high[1]), from_low[1] - from_high[0]


def share(part: Enclosure, whole: Enclosure, bits: int) -> Enclosure:
    """Encloses 2^bits * part / whole."""
    low = (part[0] << bits) // whole[1]
    return low, min(1 << bits, -(-(part[1] << bits) // max(1, whole[0])))


def expected_above(law: NoiseLaw, size: int, threshold: int) -> float:
    """Returns the expected number of empty cells that reach a threshold, for forecasts."""
    bits = 256
    low, high = law.mass_from(threshold, bits)
    return float(size * Fraction(low + high, 1 << (bits + 1)))


def threshold_for(law: NoiseLaw, size: int, expected: float) -> int:
    """Returns the lowest threshold above 0 that at most `expected` empty cells reach on average.

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
