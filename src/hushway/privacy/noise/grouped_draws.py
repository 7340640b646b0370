"""The empty cells that come to light when groups are looked at below their old thresholds.

Hidden empty cells of all groups with the same old and the same new threshold are alike: each holds
noise known to be below the old threshold, and reaches the new one with the same chance p,
independently of all others. Candidates are drawn with the next power of two 2^-k >= p, and each
stays with probability p 2^k; so one binomial number and one uniform subset serve all cells of
similar chance, however many thresholds there are. What a cell shows is the noise law between its
two thresholds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import groupby

import numpy as np

from hushway.arrays import BoolArray, IntArray
from hushway.errors import PrivacyError
from hushway.privacy.noise.exponential import uniform_below
from hushway.privacy.noise.inversion import (
    WORD_BITS,
    Enclosure,
    NoiseLaw,
    Probability,
    Uniform,
    between,
    exp_of_interval,
    log_binomial_mass,
    share,
)
from hushway.privacy.noise.laplace import exactly
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


def draw_newly_shown(
    law: NoiseLaw, source: BitSource, hidden: IntArray, old: IntArray, new: IntArray
) -> tuple[IntArray, IntArray]:
    """Returns which hidden empty cells come to light, and what they show.

    Args:
        hidden: Number of hidden empty cells in each group.
        old: The threshold of each group that all of them are below.
        new: The threshold of each group that is looked at now.

    Returns:
        Ascending numbers of cells, the hidden cells of all groups being numbered through, and
        their values.
    """
    windows, groups = _windows(law, hidden, old, new)
    if not windows:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    cells = [int(hidden[some].sum()) for some in groups]
    candidates = _candidates(source, windows, cells)
    numbers, values = [], []
    pieces = np.split(candidates, np.searchsorted(candidates, np.cumsum(cells)[:-1]))
    for window, piece in zip(windows, pieces, strict=True):
        staying = piece[window.stay(source, len(piece))]
        numbers.append(staying)
        values.append(window.noise(source, len(staying)))
    return _in_order(
        np.concatenate(groups), hidden, np.concatenate(numbers), np.concatenate(values)
    )


def _windows(
    law: NoiseLaw, hidden: IntArray, old: IntArray, new: IntArray
) -> tuple[list[Window], list[IntArray]]:
    """Returns the windows that open, by level, and the groups of each."""
    lower = np.flatnonzero((new < old) & (hidden > 0))
    order = lower[np.lexsort((new[lower], old[lower]))]
    other = (np.diff(old[order]) != 0) | (np.diff(new[order]) != 0)
    groups = np.split(order, np.flatnonzero(other) + 1) if len(order) else []
    found = [(Window(law, int(new[some[0]]), int(old[some[0]])), some) for some in groups]
    found.sort(key=lambda pair: pair[0].level)
    return [window for window, _ in found], [some for _, some in found]


def _candidates(source: BitSource, windows: Sequence[Window], cells: Sequence[int]) -> IntArray:
    """Draws the candidates of all windows, whose cells are numbered through in this order."""
    counts, ranges = [], []
    sized = zip(windows, cells, strict=True)
    for level, together in groupby(sized, key=lambda pair: pair[0].level):
        trials = sum(count for _, count in together)
        counts.append(binomial(source, trials, exactly(Fraction(1, 1 << level))))
        ranges.append(trials)
    return uniform_subsets(source, counts, ranges)


def _in_order(
    groups: IntArray, hidden: IntArray, numbers: IntArray, values: IntArray
) -> tuple[IntArray, IntArray]:
    """Renumbers hidden cells from the given order of groups to their own, and sorts by that.

    A group's cells are one run in both orders, so runs are moved as a whole.
    """
    ends = np.cumsum(hidden[groups])
    run_ends = np.searchsorted(numbers, ends)
    lengths = np.diff(run_ends, prepend=0)
    shift = (np.cumsum(hidden) - hidden)[groups] - (ends - hidden[groups])
    target_ends = np.empty_like(run_ends)
    order = np.argsort(groups)
    target_ends[order] = np.cumsum(lengths[order])
    target = np.arange(len(numbers)) + np.repeat(target_ends - run_ends, lengths)
    sorted_numbers, sorted_values = np.empty_like(numbers), np.empty_like(values)
    sorted_numbers[target] = numbers + np.repeat(shift, lengths)
    sorted_values[target] = values
    return sorted_numbers, sorted_values


def uniform_subsets(source: BitSource, counts: Sequence[int], ranges: Sequence[int]) -> IntArray:
    """Returns one subset of each of several ranges, uniform among all of its size.

    The ranges are numbered through: the second begins where the first ends. A subset larger than
    half of its range is drawn as its complement, so repeats stay rare and memory grows with the
    answer.
    """
    if not all(0 <= count <= size for count, size in zip(counts, ranges, strict=True)):
        raise PrivacyError(
            "A subset cannot be larger than its universe.", advice="Check the universe's size."
        )
    bounds = np.cumsum([0, *ranges], dtype=np.int64)
    fewer = [min(count, size - count) for count, size in zip(counts, ranges, strict=True)]
    drawn = _distinct(source, fewer, bounds)
    swapped = [i for i, count in enumerate(counts) if count != fewer[i]]
    if not swapped:
        return drawn
    pieces = np.split(drawn, np.searchsorted(drawn, bounds[1:-1]))
    for i in swapped:
        everything = np.arange(bounds[i], bounds[i + 1])
        pieces[i] = np.delete(everything, pieces[i] - bounds[i])
    return np.concatenate(pieces)


def _distinct(source: BitSource, counts: Sequence[int], bounds: IntArray) -> IntArray:
    """Draws one number after another from each range, skipping repeats.

    Every round draws as many numbers as are missing, so there are never too many and the order in
    which they came does not matter; by symmetry every subset is equally likely.
    """
    chosen = np.empty(0, dtype=np.int64)
    wanted = np.array(counts, dtype=np.int64)
    missing = wanted
    while missing.any():
        drawn = [chosen]
        for i in np.flatnonzero(missing):
            size = int(bounds[i + 1] - bounds[i])
            drawn.append(bounds[i] + uniform_below(source, int(missing[i]), size))
        chosen = np.sort(np.concatenate(drawn))
        chosen = chosen[np.concatenate([[True], chosen[1:] != chosen[:-1]])]
        missing = wanted - np.diff(np.searchsorted(chosen, bounds))
    return chosen


# The exact binomial law for up to 1e12 trials and a chance that is only known by enclosures.
#
# Inversion that visits the outcomes outwards from the most likely one: the expected number of steps
# is about the standard deviation, not the number of trials. Every partial sum is an enclosure; if
# the uniform number falls between its two ends, more bits of both are drawn.

_START_BITS = 192
_MOST_TRIALS = 1 << 62


def binomial(source: BitSource, trials: int, chance: Probability) -> int:
    """Returns one draw of the number of successes."""
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
