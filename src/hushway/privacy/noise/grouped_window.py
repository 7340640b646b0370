"""Noise known to be below one threshold, looked at down to another."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushway.arrays import BoolArray, IntArray
from hushway.privacy.noise.enclosure import Enclosure
from hushway.privacy.noise.inversion import WORD_BITS, Uniform
from hushway.privacy.noise.law import NoiseLaw, between, share
from hushway.privacy.randomness import BitSource

EVERYTHING = int(np.iinfo(np.int64).min)
"""The threshold that every value reaches."""

NOTHING = int(np.iinfo(np.int64).max)
"""The threshold that no value reaches: that of a group nobody has looked at."""

_LEVEL_BITS = 64


@dataclass(frozen=True)
class Window:
    """The values that come to light: low <= Z < high, given Z < high.

    Attributes:
        law: The noise.
        low: The new threshold; at EVERYTHING the window has no lower end.
        high: The old threshold; at NOTHING the window has no upper end.
    """

    law: NoiseLaw
    low: int
    high: int

    @cached_property
    def level(self) -> int:
        """A whole k, as large as an enclosure of 64 bits tells, with chance <= 2^-k."""
        _, most = self.chance(_LEVEL_BITS)
        return _LEVEL_BITS - (most - 1).bit_length()

    def chance(self, bits: int) -> Enclosure:
        """Encloses 2^bits * P(Z >= low | Z < high)."""
        if self.low == EVERYTHING:
            return 1 << bits, 1 << bits
        if self.high == NOTHING:
            return self.law.mass_from(self.low, bits)
        wide = bits + 64
        part = between(self.law, self.low, self.high, wide)
        from_high = self.law.mass_from(self.high, wide)
        return share(part, ((1 << wide) - from_high[1], (1 << wide) - from_high[0]), bits)

    def stay(self, source: BitSource, count: int) -> BoolArray:
        """Tosses a coin of probability chance * 2^level for each of some candidates.

        A chance may be nearer to 1 than any number of bits can tell; so a word that an enclosure
        leaves open draws more bits of its own, and nothing waits for the chance's 63rd bit.
        """
        low, high = self._coin(2 * WORD_BITS)
        words = source.words(count) >> np.uint64(1)
        coins: BoolArray = words < np.uint64(low >> WORD_BITS)
        for i in np.flatnonzero(~coins & (words <= np.uint64(high >> WORD_BITS))):
            coins[i] = Uniform(int(words[i]), WORD_BITS, source).below(self._coin)
        return coins

    def _coin(self, bits: int) -> Enclosure:
        return self.chance(bits + self.level)

    def noise(self, source: BitSource, count: int) -> IntArray:
        """Returns independent noise, given low <= Z < high."""
        if self.low == EVERYTHING and self.high == NOTHING:
            return self.law.draw(source, count)
        if self.low == EVERYTHING:
            # The law is symmetric: given Z < high, Z is as -Z given Z >= 1 - high.
            return -self.law.draw_between(source, count, 1 - self.high, None)
        high = None if self.high == NOTHING else self.high
        return self.law.draw_between(source, count, self.low, high)
