"""Coins with probability exp(-rate * steps) for many different whole numbers of steps at once.

Written in base 256, exp(-rate * steps) is a product over the digits, so the coin is the AND of one
coin a digit, and all coins that can ever be needed come from a table of 8 * 256 certified
thresholds.
"""

from fractions import Fraction
from functools import partial

import numpy as np

from hushway.arrays import BoolArray, IntArray, WordArray
from hushway.privacy.noise.bernoulli import floor_of
from hushway.privacy.noise.enclosure import Enclosure, exp_enclosure
from hushway.privacy.noise.inversion import WORD_BITS, Uniform
from hushway.privacy.randomness import BitSource

_BASE_BITS = 8
_BASE = 1 << _BASE_BITS
_DIGITS = 8


class StepCoin:
    """Exact coins that come up true with probability exp(-rate * steps)."""

    def __init__(self, rate: Fraction) -> None:
        self._rate = rate
        self._thresholds: WordArray = np.array(
            [[self._floor(place, digit) for digit in range(_BASE)] for place in range(_DIGITS)],
            dtype=np.uint64,
        )

    def toss(self, source: BitSource, steps: IntArray) -> BoolArray:
        """Returns one coin for each number of steps (0 <= steps < 2^63)."""
        alive = np.arange(len(steps))
        for place in reversed(range(_DIGITS)):
            digits = steps[alive] >> (place * _BASE_BITS) & (_BASE - 1)
            tossed = digits > 0
            if tossed.any():
                alive = alive[self._toss_digit(source, place, digits)]
        coins = np.zeros(len(steps), dtype=np.bool_)
        coins[alive] = True
        return coins

    def _toss_digit(self, source: BitSource, place: int, digits: IntArray) -> BoolArray:
        words = source.words(len(digits)) >> np.uint64(1)
        limits = self._thresholds[place][digits]
        coins: BoolArray = words < limits
        for i in np.flatnonzero(words == limits):
            uniform = Uniform(int(words[i]), WORD_BITS, source)
            coins[i] = uniform.below(partial(self._enclose, place, int(digits[i])))
        return coins

    def _enclose(self, place: int, digit: int, bits: int) -> Enclosure:
        return exp_enclosure(self._rate * (digit << place * _BASE_BITS), bits)

    def _floor(self, place: int, digit: int) -> int:
        return floor_of(partial(self._enclose, place, digit))
