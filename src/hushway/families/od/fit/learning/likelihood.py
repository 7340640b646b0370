"""How likely a noisy value is, and which count stands behind it, for every prior mean of a grid.

A count varies around its prior mean, and exact noise of a known law is added to it. The tables
here hold, for each prior and each class of noisy values, the probability of such a value and the
first two moments of the count given the value. They are small, whatever the number of cells.

How far counts stray from their prior means is a mixture. A component is a law of a factor whose
mean is 1, on a grid of logarithms, so that it moves along with the prior. Each is a gamma law of
some shape, and may be zero-inflated: most counts are empty and the others larger for it. Because
every component has mean 1, so has every mixture of them.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import gammaln

from hushway.arrays import FloatArray, IntArray
from hushway.privacy.noise.gaussian import DiscreteGaussian
from hushway.privacy.noise.inversion import NoiseLaw
from hushway.privacy.noise.laplace import DiscreteLaplace

# The distance of two expectations on the grid, as a logarithm: a factor of 1.42.
STEP: Final = 0.35
# A factor goes this many steps up or down: from 1/270 to 270.
REACH: Final = 16
# Column 0 is the factor 0; then come the steps from -REACH to REACH.
COLUMNS: Final = 2 * REACH + 2
# The column of the factor 1.
UNCHANGED: Final = REACH + 1

_SHAPES: Final = (0.3, 1.0, 3.0, 10.0, math.inf)
_SHAPES_OF_THE_FULL: Final = (1.0, 4.0, math.inf)


def factors(reach: int = REACH) -> FloatArray:
    """Returns the factor of each column."""
    return np.concatenate([[0.0], np.exp(STEP * np.arange(-reach, reach + 1))])


def mixture_components(reach: int = REACH) -> FloatArray:
    """Returns one law a row: the probability of each column's factor. Every mean is 1."""
    laws = [_law(shape, 0, reach) for shape in _SHAPES]
    # How much larger the counts are that are not empty: 2 steps are twice as large.
    laws += [
        _law(shape, steps, reach)
        for steps in range(2, reach - 1, 2)
        for shape in _SHAPES_OF_THE_FULL
    ]
    return np.array(laws)


def _law(shape: float, steps: int, reach: int) -> FloatArray:
    """Returns a gamma law around a factor of so many steps, zero-inflated so that its mean is 1."""
    factor = factors(reach)[1:]
    relative = factor * math.exp(-STEP * steps)
    if math.isinf(shape):
        weights = (np.arange(-reach, reach + 1) == steps).astype(np.float64)
    else:
        # The density of a logarithm, so the power is the shape and not one less.
        weights = np.exp(shape * (np.log(relative) - relative))
        weights /= weights.sum()
    # The grid is coarse and ends somewhere: what is missing to the mean is put right by the zeros
    # or, where there are none, by moving all factors a little.
    mean = float(weights @ factor)
    if mean < 1:
        weights = _leaning(weights, factor)
        mean = float(weights @ factor)
    full = 1 / mean
    return np.concatenate([[1 - full], full * weights])


def _leaning(weights: FloatArray, factor: FloatArray) -> FloatArray:
    """Returns weights tilted towards large factors until their mean is at least 1."""
    lean = np.log1p(factor)
    low, high = 0.0, 8.0
    for _ in range(60):
        middle = (low + high) / 2
        if _leant(weights, lean, middle) @ factor < 1:
            low = middle
        else:
            high = middle
    return _leant(weights, lean, high)


def _leant(weights: FloatArray, lean: FloatArray, much: float) -> FloatArray:
    leant = weights * np.exp(much * (lean - lean[-1]))
    return np.asarray(leant / leant.sum())


# The smallest expectation of the grid; whatever expects less is as good as empty.
LEAST: Final = math.log(1e-5)
# An expectation stands for all within half a step, which spreads counts like a gamma law does.
_SHAPE: Final = 12 / STEP**2
# From here on counts are taken as normal; below, every whole number is looked at.
_MANY: Final = 2000.0
# Any value may turn up, however unlikely: then the count is taken as it was measured. This times
# the squared probability of no noise: the wider the noise, the larger the counts that it could
# pretend, and the less it is to be believed.
_SURPRISE: Final = 1e-10
# Classes of values are this many standard deviations wide, up to so many of them from 0.
_FINE, _FAR = 1 / 30, 8.0
# Beyond, a class is as wide as this share of its values.
_WIDE: Final = 0.06
# From this variance on the sum of a Gaussian curve and its integral differ by less than 1e-33.
_SMOOTH: Final = 4.0
# Values beyond this share one class.
_MOST: Final = 1 << 22


@dataclass(frozen=True, kw_only=True, eq=False)
class ValueClasses:
    """Classes of noisy values: narrow where noise decides, wide where counts are large.

    Attributes:
        starts: The lowest value of each class; the first one holds all values below it, too.
        centres: A value in the middle of each class.
        exact: Whether a class is narrow, so that a count depends on the class alone; in wide ones
            it moves with the value.
    """

    starts: IntArray
    centres: FloatArray
    exact: IntArray

    def of(self, values: IntArray) -> IntArray:
        """Returns the class of each value."""
        return np.maximum(np.searchsorted(self.starts, values, side="right") - 1, 0)

    def follow(self, counts: FloatArray, values: IntArray) -> None:
        """Moves counts along with their values within wide classes, in place."""
        narrow = int(self.exact.sum())
        if narrow < len(self.starts):
            wide = values >= self.starts[narrow]
            offset = values[wide] - self.centres[self.of(values[wide])]
            counts[wide] = np.maximum(counts[wide] + offset, 0.0)


def value_classes(values: IntArray, deviation: float) -> ValueClasses:
    """Returns classes for some noisy values, given the standard deviation of their noise."""
    width = max(1, math.ceil(deviation * _FINE))
    near = width * math.ceil((_FAR * deviation + 8) / width)
    highest = int(min(max(values.max(initial=0), 1), _MOST))
    edges = list(range(-near, min(near, highest) + width, width))
    narrow = len(edges) - 1
    while edges[-1] <= highest:
        edges.append(edges[-1] + max(width, int(_WIDE * edges[-1])))
    starts = np.array(edges)
    middles = (starts[:-1] + starts[1:] - 1) / 2
    return ValueClasses(
        starts=starts[:-1],
        centres=middles,
        exact=(np.arange(len(middles)) < narrow).astype(np.int64),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Likelihood:
    """Tables by prior mean (rows) and class of noisy values (columns).

    Attributes:
        expectations: The grid, ascending.
        probability: How likely a value of the class is.
        first: The same times the mean of the count, given the value.
        second: The same times the mean of its square.
    """

    expectations: FloatArray
    probability: FloatArray
    first: FloatArray
    second: FloatArray

    @property
    def size(self) -> int:
        """Number of expectations."""
        return len(self.expectations)

    def nearest(self, expected: FloatArray) -> IntArray:
        """Returns the place of each prior on the grid."""
        logs = np.log(np.maximum(expected, 1e-300))
        return np.asarray(np.clip(np.rint((logs - LEAST) / STEP), 0, self.size - 1), np.int64)

    def steps(self, reach: int) -> IntArray:
        """Returns, for each prior and step of a factor, the place it leads to."""
        places = np.arange(self.size)[:, None] + np.arange(-reach, reach + 1)[None, :]
        return np.asarray(np.clip(places, 0, self.size - 1))


def likelihood_of(law: NoiseLaw, classes: ValueClasses, highest: float) -> Likelihood:
    """Returns the tables for a law of noise, up to the highest prior that matters."""
    top = max(highest, float(classes.centres[-1]), 1.0)
    grid = np.exp(LEAST + STEP * np.arange(math.ceil((math.log(top) - LEAST) / STEP) + 1))
    deviation = math.sqrt(law.variance)
    tables = np.array(
        [
            _moments(law, classes.centres, expected, deviation)
            if expected <= _MANY
            else _normal_moments(classes.centres, expected, deviation)
            for expected in grid
        ]
    )
    measured = np.maximum(classes.centres, 0.0)
    surprise = _SURPRISE * float(_mass(law, np.zeros(1))[0]) ** 2
    tables[:, 0] += surprise
    tables[:, 1] += surprise * measured
    tables[:, 2] += surprise * (measured**2 + deviation**2)
    return Likelihood(
        expectations=grid, probability=tables[:, 0], first=tables[:, 1], second=tables[:, 2]
    )


def with_censored(tables: Likelihood, law: NoiseLaw, threshold: int) -> Likelihood:
    """Returns the tables with one more class, the last: all values below a threshold."""
    deviation = math.sqrt(law.variance)
    hidden = np.array(
        [_censored_moments(law, threshold, expected, deviation) for expected in tables.expectations]
    )
    return Likelihood(
        expectations=tables.expectations,
        probability=np.column_stack([tables.probability, hidden[:, 0]]),
        first=np.column_stack([tables.first, hidden[:, 1]]),
        second=np.column_stack([tables.second, hidden[:, 2]]),
    )


def _censored_moments(
    law: NoiseLaw, threshold: int, expected: float, deviation: float
) -> tuple[float, float, float]:
    counts, weights = _counts_for(expected, deviation)
    below = weights * _mass_below(law, threshold - counts)
    return float(below.sum()), float(below @ counts), float(below @ counts**2)


def _moments(
    law: NoiseLaw, values: FloatArray, expected: float, deviation: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Adds up over all counts that the expectation allows."""
    counts, weights = _counts_for(expected, deviation)
    mass = _mass(law, values[None, :] - counts[:, None])
    return weights @ mass, (weights * counts) @ mass, (weights * counts**2) @ mass


def _counts_for(expected: float, deviation: float) -> tuple[FloatArray, FloatArray]:
    """Returns the counts that a prior allows (negative binomial), and how probable each is."""
    width = math.sqrt(expected + expected**2 / _SHAPE)
    low, high = max(0, int(expected - 7 * width)), int(expected + 9 * width) + 8
    # Steps that neither the noise nor the law of the count itself can tell from single counts.
    step = max(1, int(min(deviation, width) / 4))
    counts = np.arange(low, high + 1, step, dtype=np.float64)
    logs = (
        gammaln(counts + _SHAPE)
        - gammaln(counts + 1)
        + counts * math.log(expected / (expected + _SHAPE))
    )
    weights = np.exp(logs - logs.max())
    return counts, np.asarray(weights / weights.sum())


def _normal_moments(
    values: FloatArray, expected: float, deviation: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The same for large counts, where both laws are as good as normal."""
    own, noise = expected + expected**2 / _SHAPE, deviation**2
    both = own + noise
    density = np.exp(-((values - expected) ** 2) / (2 * both)) / math.sqrt(2 * math.pi * both)
    mean = np.maximum(expected + (values - expected) * own / both, 0.0)
    return density, density * mean, density * (mean**2 + own * noise / both)


def _mass(law: NoiseLaw, noise: FloatArray) -> FloatArray:
    """Returns the probability of some noise, interpolated between whole numbers."""
    if isinstance(law, DiscreteLaplace):
        rate = 1 / float(law.scale)
        return np.asarray(math.tanh(rate / 2) * np.exp(-rate * np.abs(noise)))
    if isinstance(law, DiscreteGaussian):
        variance = float(law.sigma_squared)
        return np.asarray(np.exp(-(noise**2) / (2 * variance)) / _gaussian_total(variance))
    raise TypeError(f"no likelihood is known for {type(law).__name__}")


def _mass_below(law: NoiseLaw, limits: FloatArray) -> FloatArray:
    """Returns the probability of less noise than each limit, a whole number."""
    if isinstance(law, DiscreteLaplace):
        rate = 1 / float(law.scale)
        # From the limit on, and below it, what is left is a geometric series.
        tail = np.exp(-rate * np.where(limits > 0, limits, 1 - limits)) / (1 + math.exp(-rate))
        return np.asarray(np.where(limits > 0, 1 - tail, tail))
    reach = math.ceil(12 * math.sqrt(law.variance)) + 1
    every = np.cumsum(_mass(law, np.arange(-reach, reach + 1, dtype=np.float64)))
    place = np.clip(limits.astype(np.int64) - 1 + reach, -1, 2 * reach)
    return np.where(place < 0, 0.0, every[np.maximum(place, 0)])


def _gaussian_total(variance: float) -> float:
    """Returns the sum of a Gaussian curve over all whole numbers."""
    if variance > _SMOOTH:
        return math.sqrt(2 * math.pi * variance)
    whole = np.arange(1, math.ceil(12 * math.sqrt(variance)) + 1)
    return 1 + 2 * float(np.exp(-(whole**2) / (2 * variance)).sum())
