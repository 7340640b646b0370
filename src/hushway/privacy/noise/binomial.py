"""The exact binomial law for up to 1e12 trials and a chance that is only known by enclosures.

Inversion that visits the outcomes outwards from the most likely one: the expected number of steps
is about the standard deviation, not the number of trials. Every partial sum is an enclosure; if the
uniform number falls between its two ends, more bits of both are drawn.
"""

from collections.abc import Iterator

from hushway.errors import PrivacyError
from hushway.privacy.noise.enclosure import (
    Enclosure,
    Probability,
    exp_of_interval,
    log_binomial_mass,
)
from hushway.privacy.randomness import BitSource

_START_BITS = 192
_MOST_TRIALS = 1 << 62


def binomial(source: BitSource, trials: int, chance: Probability) -> int:
    """Returns one draw of the number of successes.

    Raises:
        PrivacyError: There are more trials than the sampler is certified for.
    """
    if not 0 <= trials <= _MOST_TRIALS:
        raise PrivacyError(
            "A binomial draw needs between 0 and 2^62 trials.", advice="Check the universe's size."
        )
    bits = _START_BITS
    # Fixed once: if the order of the outcomes moved with the precision, so would what U stands for.
    mode = _likeliest(trials, chance)
    uniform = _bits(source, bits)
    while True:
        found = _search(_outwards(trials, mode, chance, bits), uniform)
        if found is not None:
            return found
        uniform = uniform << bits | _bits(source, bits)
        bits *= 2


def _search(outcomes: Iterator[tuple[int, Enclosure]], uniform: int) -> int | None:
    """Returns the outcome of [uniform, uniform+1) / 2^bits, or None if that leaves it open."""
    low_sum = high_sum = 0
    for outcome, (low, high) in outcomes:
        low_sum, high_sum = low_sum + low, high_sum + high
        if uniform + 1 <= low_sum:
            return outcome
        if uniform < high_sum:
            return None
    return None


def _likeliest(trials: int, chance: Probability) -> int:
    bits = _wide(trials, _START_BITS)
    return min(trials, (trials + 1) * max(0, chance(bits)[0]) >> bits)


def _wide(trials: int, bits: int) -> int:
    """Returns how many bits the masses need for their sums to show in `bits` bits."""
    return bits + 64 + trials.bit_length()


def _outwards(
    trials: int, mode: int, chance: Probability, bits: int
) -> Iterator[tuple[int, Enclosure]]:
    """Yields outcomes with enclosures of 2^bits * mass, from the likeliest outwards."""
    wide = _wide(trials, bits)
    low, high = chance(wide)
    one = 1 << wide
    if low <= 0 or high >= one:
        yield from _extreme(trials, (low, high), wide, bits)
        return
    centre = exp_of_interval(log_binomial_mass(trials, mode, (low, high), wide), wide)
    odds = (low << wide) // (one - low), -(-(high << wide) // (one - high))
    against = ((one - high) << wide) // high, -(-((one - low) << wide) // low)
    up = down = centre
    above = below = mode
    yield mode, _narrow(centre, wide - bits)
    while above < trials or below > 0:
        if above < trials:
            up = _times(up, odds, (trials - above, above + 1), wide)
            above += 1
            yield above, _narrow(up, wide - bits)
        if below > 0:
            down = _times(down, against, (below, trials - below + 1), wide)
            below -= 1
            yield below, _narrow(down, wide - bits)


def _extreme(
    trials: int, chance: Enclosure, wide: int, bits: int
) -> Iterator[tuple[int, Enclosure]]:
    """Yields the near-certain outcome of a chance not told from 0 or 1 (Bernoulli's inequality)."""
    low, high = chance
    one = 1 << wide
    if trials == 0 or low <= 0:
        certain, away = 0, trials * high
        exact = trials == 0 or high <= 0
    else:
        certain, away = trials, trials * (one - low)
        exact = low >= one
    floor = one if exact else max(0, one - away)
    yield certain, _narrow((floor, one), wide - bits)


def _times(mass: Enclosure, ratio: Enclosure, fraction: tuple[int, int], wide: int) -> Enclosure:
    by, over = fraction
    low = (mass[0] * ratio[0] >> wide) * by // over
    high = -(-((mass[1] * ratio[1] >> wide) + 1) * by // over)
    return low, high


def _narrow(mass: Enclosure, shift: int) -> Enclosure:
    return mass[0] >> shift, (mass[1] >> shift) + 1


def _bits(source: BitSource, bits: int) -> int:
    return int.from_bytes(source.words(bits // 64).tobytes(), "little")
