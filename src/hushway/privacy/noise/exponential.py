"""The exponential mechanism's draw: candidate i with weight exp(-rate * score_i)."""

from fractions import Fraction
from itertools import accumulate

from hushway.privacy.noise.enclosure import exp_enclosure
from hushway.privacy.noise.inversion import IntArray
from hushway.privacy.noise.law import share
from hushway.privacy.randomness import BitSource

_START_BITS = 192


def exponential_choice(source: BitSource, scores: IntArray, rate: Fraction) -> int:
    """Returns the position of one candidate; lower scores are likelier. Exact for whole scores."""
    steps = (scores - scores.min()).tolist()
    bits = _START_BITS
    uniform = int.from_bytes(source.words(bits // 64).tobytes(), "little")
    while True:
        found = _search(steps, rate, uniform, bits)
        if found is not None:
            return found
        uniform = uniform << 64 | int(source.words(1)[0])
        bits += 64


def _search(steps: list[int], rate: Fraction, uniform: int, bits: int) -> int | None:
    """Returns the candidate of [uniform, uniform+1) / 2^bits, or None if that leaves it open."""
    wide = bits + 64
    of_step = {step: exp_enclosure(rate * step, wide) for step in set(steps)}
    lows = list(accumulate(of_step[step][0] for step in steps))
    highs = list(accumulate(of_step[step][1] for step in steps))
    whole = lows[-1], highs[-1]
    for i, part in enumerate(zip(lows, highs, strict=True)):
        last = i == len(steps) - 1
        low, high = (1 << bits, 1 << bits) if last else share(part, whole, bits)
        if uniform + 1 <= low:
            return i
        if uniform < high:
            return None
    return None
