"""Exact coins: a probability is a fraction, or any number that can be enclosed."""

from fractions import Fraction

import numpy as np

from hushway.arrays import BoolArray
from hushway.errors import PrivacyError
from hushway.privacy.noise.enclosure import Enclosure, Probability
from hushway.privacy.noise.inversion import WORD_BITS, Uniform
from hushway.privacy.randomness import BitSource


def exactly(fraction: Fraction) -> Probability:
    """Turns a fraction in [0, 1] into a probability that can be enclosed.

    Raises:
        PrivacyError: The fraction is not a probability.
    """
    if not isinstance(fraction, Fraction) or not 0 <= fraction <= 1:
        raise PrivacyError(
            "A probability must be a fraction between 0 and 1.",
            advice="Check the parameters of the draw.",
        )

    def enclose(bits: int) -> Enclosure:
        low, rest = divmod(fraction.numerator << bits, fraction.denominator)
        return low, low + (rest > 0)

    return enclose


def bernoulli(source: BitSource, count: int, probability: Probability) -> BoolArray:
    """Returns independent coins that are true with exactly the given probability."""
    words = source.words(count) >> np.uint64(1)
    threshold = floor_of(probability)
    coins = words < np.uint64(threshold)
    for i in np.flatnonzero(words == np.uint64(threshold)):
        coins[i] = Uniform(threshold, WORD_BITS, source).below(probability)
    return coins


def floor_of(probability: Probability) -> int:
    """Returns floor(2^63 * p), certified. p = 1 gives 2^63, which no 63-bit word reaches."""
    bits = 128
    while True:
        low, high = probability(bits)
        floor = low >> (bits - WORD_BITS)
        if floor == high >> (bits - WORD_BITS):
            return floor
        bits *= 2
