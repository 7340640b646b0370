"""An exponential function and a bit source that share nothing with the code under test."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

Bounds = tuple[int, int]


class ScriptedSource:
    """Plays given words, then one filler word for ever; counts what was asked for."""

    name = "scripted (NOT PRIVATE)"
    private = False

    def __init__(self, words: Sequence[int], then: int) -> None:
        self._words = list(words)
        self._then = then
        self.asked = 0

    def words(self, count: int) -> NDArray[np.uint64]:
        self.asked += count
        played, self._words = self._words[:count], self._words[count:]
        return np.array(played + [self._then] * (count - len(played)), dtype=np.uint64)


@pytest.fixture(scope="session")
def scripted() -> Callable[[Sequence[int], int], ScriptedSource]:
    return ScriptedSource


@pytest.fixture(scope="session")
def exp_bounds() -> Callable[[Fraction, int], Bounds]:
    """low <= 2^bits * exp(-x) <= high, in whole numbers only.

    x is halved until it is below 1/256, the alternating Taylor series stops after a negative term
    (a lower bound) or a positive one (an upper bound), and the result is squared back, rounded
    outwards at every step.
    """

    def bounds(exponent: Fraction, bits: int) -> Bounds:
        halvings = 8 + int(exponent).bit_length()
        wide = bits + halvings + 64
        scaled = (exponent.numerator << wide) // (exponent.denominator << halvings)
        low, high = _taylor(scaled + 1, wide)[0], _taylor(scaled, wide)[1]
        for _ in range(halvings):
            low, high = low * low >> wide, (high * high >> wide) + 1
        shift = wide - bits
        return low >> shift, (high >> shift) + 1

    return bounds


def _taylor(y: int, wide: int) -> Bounds:
    """Bounds of 2^wide * exp(-y / 2^wide) for a small y >= 0."""
    term_low = term_high = 1 << wide
    low = high = 0
    i = 0
    while True:
        sign = -1 if i % 2 else 1
        low += sign * (term_low if sign > 0 else term_high)
        high += sign * (term_high if sign > 0 else term_low)
        if term_high <= 1:
            # The rest of the alternating series is smaller than the last term, so 1 covers it.
            return low - 1, high + 1
        i += 1
        term_low = (term_low * y >> wide) // i
        term_high = -(-((term_high * y >> wide) + 1) // i)
