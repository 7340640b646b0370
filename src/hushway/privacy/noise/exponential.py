"""The exponential mechanism's draw: candidate i with weight exp(-rate * score_i)."""

from fractions import Fraction
from itertools import accumulate

import numpy as np

from hushway.arrays import BoolArray, IntArray
from hushway.errors import PrivacyError
from hushway.privacy.noise.inversion import draw_until_kept, exp_enclosure, share
from hushway.privacy.randomness import BitSource

_START_BITS = 192


def exponential_choice(source: BitSource, scores: IntArray, rate: Fraction) -> int:
    """Returns the position of one candidate; lower scores are likelier. Exact for whole scores.

    A score is chosen first, with the weights of all its candidates together, then one of these:
    the sums have as many terms as there are different scores, not candidates.
    """
    levels, sizes = np.unique(scores, return_counts=True)
    steps = [level - int(levels[0]) for level in levels.tolist()]
    level = _choose(source, list(zip(sizes.tolist(), steps, strict=True)), rate)
    candidates = np.flatnonzero(scores == levels[level])
    return int(candidates[uniform_below(source, 1, len(candidates))[0]])


def _choose(source: BitSource, levels: list[tuple[int, int]], rate: Fraction) -> int:
    """Returns the position of one (size, steps), with weight size * exp(-rate * steps)."""
    bits = _START_BITS
    uniform = int.from_bytes(source.words(bits // 64).tobytes(), "little")
    while True:
        found = _search(levels, rate, uniform, bits)
        if found is not None:
            return found
        uniform = uniform << 64 | int(source.words(1)[0])
        bits += 64


def _search(levels: list[tuple[int, int]], rate: Fraction, uniform: int, bits: int) -> int | None:
    """Returns the level of [uniform, uniform+1) / 2^bits, or None if that leaves it open."""
    wide = bits + 64
    weights = [(size, exp_enclosure(rate * steps, wide)) for size, steps in levels]
    lows = list(accumulate(size * low for size, (low, _) in weights))
    highs = list(accumulate(size * high for size, (_, high) in weights))
    whole = lows[-1], highs[-1]
    for i, part in enumerate(zip(lows, highs, strict=True)):
        last = i == len(levels) - 1
        low, high = (1 << bits, 1 << bits) if last else share(part, whole, bits)
        if uniform + 1 <= low:
            return i
        if uniform < high:
            return None
    return None


_LARGEST = 1 << 63


def uniform_below(source: BitSource, count: int, limit: int) -> IntArray:
    """Returns independent whole numbers, uniform on 0 .. limit-1.

    Words at or above the largest multiple of the limit are drawn again: every residue keeps the
    same number of words.
    """
    if not 1 <= limit <= _LARGEST:
        raise PrivacyError(
            "A uniform draw needs a limit between 1 and 2^63.", advice="Check the universe's size."
        )
    accepted = np.uint64((1 << 64) // limit * limit - 1)

    def propose(missing: int) -> tuple[IntArray, BoolArray]:
        words = source.words(missing)
        return (words % np.uint64(limit)).astype(np.int64), words <= accepted

    return draw_until_kept(count, propose)
