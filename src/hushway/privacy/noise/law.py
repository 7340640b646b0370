"""What the curator asks of a noise law, and enclosures that follow from it."""

from fractions import Fraction
from typing import Protocol

from hushway.arrays import IntArray
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
