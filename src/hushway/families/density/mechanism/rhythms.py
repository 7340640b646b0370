"""Noisy series of many cells, cleaned by what they have in common.

Places of one city follow a few rhythms: homes, offices, evenings out. Each noisy series is a sum
of the city's own shape, of patterns that many cells share in different doses, and of a remainder of
its own whose neighbouring bins move together. All three are learnt from the noisy series
themselves, after the known variance of the noise has been taken out; then every series is replaced
by its expectation under what was learnt (a Wiener filter). Where nothing can be told from noise,
the city's shape is what remains. Everything here sees noisy numbers only.
"""

from dataclasses import dataclass

import numpy as np
from scipy.fft import dct, idct
from scipy.linalg import toeplitz

from hushway.arrays import FloatArray, IntArray

# A shape has no bin below this part of its mean: relative remainders would be divided by nothing.
_FAINTEST = 0.01
# Remainders further apart than this many bins are taken for unrelated; nearer ones count less and
# less.
_MEMORY = 36
# How often the weights of cells are told anew from what they are weights of.
_ROUNDS = 2
# Factors by which a cell's variance around the shape may differ from the usual one.
_FACTORS = np.array([0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0])


@dataclass(frozen=True, kw_only=True, eq=False)
class Rhythms:
    """What series of many cells have in common, for series that sum to 1.

    Attributes:
        shape: The city's shape; sums to about 1.
        ways: Orthonormal columns: directions in which cells differ from the shape.
        strengths: Variance of cells along each direction.
        patterns: How many directions stand out from the noise by themselves.
        doubt: Variance of the noise in each bin of the shape itself.
        weights: How much of the shape comes from each cell; they sum to 1.
    """

    shape: FloatArray
    ways: FloatArray
    strengths: FloatArray
    patterns: int
    doubt: float
    weights: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Cleaned:
    """Series without most of their noise.

    Attributes:
        values: The expected series, one row a cell.
        variance: The expected square of what each value is still off by.
    """

    values: FloatArray
    variance: FloatArray


def learn_rhythms(series: FloatArray, totals: FloatArray, variance: float) -> Rhythms:
    """Learns what noisy series have in common.

    Args:
        series: Noisy series, one row a cell.
        totals: About how much each row sums to, above 0: the size of the cell.
        variance: Variance of the noise in every entry.
    """
    unit = series / totals[:, None]
    noise = variance / totals**2
    weights = _weights(unit, totals, noise)
    shape = weights @ unit
    # The mean that series with a sum of 1 should have: of nothing but noise it may be 0 or less.
    shape = np.maximum(shape, _FAINTEST / len(shape))
    apart = unit - shape
    found = (apart * weights[:, None]).T @ apart
    level = float(weights @ noise)
    crowding = len(shape) * float((weights**2).sum())
    shared, patterns = _shared(found, shape, level, crowding)
    rest = found - shared - level * np.eye(len(shape))
    strengths, ways = np.linalg.eigh(shared + _own(rest, shape))
    return Rhythms(
        shape=shape,
        ways=ways,
        strengths=np.maximum(strengths, 0.0),
        patterns=patterns,
        doubt=float(weights**2 @ noise),
        weights=weights,
    )


def clean(series: FloatArray, totals: FloatArray, variance: float, rhythms: Rhythms) -> Cleaned:
    """Replaces noisy series by their expectation under what was learnt.

    Some places differ from the city's shape more than others do. How much more is told for each
    cell by itself, by the likelihood of its noisy series.

    Args:
        series: The noisy series that the rhythms were learnt from.
        totals: About how much each row sums to, above 0.
        variance: Variance of the noise in every entry.
        rhythms: What was learnt.
    """
    noise = (variance / totals**2)[:, None]
    along = (series / totals[:, None] - rhythms.shape) @ rhythms.ways
    signal = _boldness(along, noise, rhythms.strengths)[:, None] * rhythms.strengths
    # A series differs from the shape that was found also by what the shape is off by.
    trust = (signal + rhythms.doubt) / (signal + rhythms.doubt + noise)
    values = rhythms.shape + (along * trust) @ rhythms.ways.T
    # Its own noise is in the shape too: few cells do not average it away.
    again = 1 + 2 * (1 - trust) * rhythms.weights[:, None]
    left = (trust * noise * again) @ (rhythms.ways**2).T
    return Cleaned(values=values * totals[:, None], variance=left * totals[:, None] ** 2)


def _weights(unit: FloatArray, totals: FloatArray, noise: FloatArray) -> FloatArray:
    """Returns how much each cell says about what is common: 1 over its noise and its own ways."""
    shape = totals @ unit / totals.sum()
    weights = totals / totals.sum()
    for _ in range(_ROUNDS):
        beyond = ((unit - shape) ** 2).mean(axis=1) - noise
        sure = 1 / noise**2
        spread = max(float(sure @ beyond / sure.sum()), _FAINTEST * float(noise.min()))
        weights = 1 / (noise + spread)
        weights /= weights.sum()
        shape = weights @ unit
    return np.asarray(weights, dtype=np.float64)


def _boldness(along: FloatArray, noise: FloatArray, strengths: FloatArray) -> FloatArray:
    """Returns by what factor the variance of each cell around the shape is larger than usual."""
    fit = np.empty((len(_FACTORS), len(along)))
    for i, factor in enumerate(_FACTORS):
        spread = factor * strengths + noise
        fit[i] = -(along**2 / spread + np.log(spread)).sum(axis=1) - np.log(factor) ** 2 / 2
    return np.asarray(_FACTORS[fit.argmax(axis=0)], dtype=np.float64)


def _shared(
    found: FloatArray, shape: FloatArray, level: float, crowding: float
) -> tuple[FloatArray, int]:
    """Returns the covariance of the patterns that stand out from noise, and their number.

    White noise alone spreads the eigenvalues of a sample up to level * (1 + sqrt(crowding))^2
    (Marchenko and Pastur 1967). It blows up those of a true pattern, and turns the pattern away
    from its direction, by known amounts (Baik and Silverstein 2006; Paul 2007). The first is
    undone. The second lays noise over a pattern, alike in all bins; patterns are large where the
    shape is, so their faint bins are drawn towards 0.
    """
    values, ways = np.linalg.eigh(found)
    above = values > level * (1 + np.sqrt(crowding)) ** 2
    excess = values[above] - level * (1 + crowding)
    root = np.sqrt(np.maximum(excess**2 - 4 * crowding * level**2, 0.0))
    strengths = (excess + root) / 2
    clear = strengths / level
    straight = np.maximum(1 - crowding / clear**2, 0.0) / (1 + crowding / clear)
    true = straight * (shape**2 / (shape**2).sum())[:, None]
    patterns = ways[:, above] * (true / (true + (1 - straight) / len(shape)))
    return (patterns * strengths) @ patterns.T, int(above.sum())


def _own(rest: FloatArray, shape: FloatArray) -> FloatArray:
    """Returns the covariance of what is each cell's own, as if it were alike at all times of day.

    Relative to the shape it depends on the distance in time alone, so that it can be averaged over
    all pairs of bins at that distance.
    """
    bins = len(shape)
    memory = min(_MEMORY, bins)
    squares = np.outer(shape, shape)
    relative = np.zeros(bins)
    for distance in range(memory):
        weight = np.diagonal(squares, distance)
        mean = (np.diagonal(rest, distance) * weight).sum() / (weight**2).sum()
        relative[distance] = mean * (1 - distance / memory)
    values, ways = np.linalg.eigh(toeplitz(relative))
    return np.asarray((ways * np.maximum(values, 0.0)) @ ways.T * squares)


def best_cuts(series: FloatArray, variance: float) -> IntArray:
    """Returns how many first coefficients of each noisy series to keep, at least one.

    To keep a coefficient costs the variance of its noise; to drop it costs its true square, which
    the noisy square minus the variance estimates without bias (Stein's unbiased risk estimate). The
    cut with the least estimated cost is taken. It sees the noisy series only.

    Args:
        series: Noisy series, one row each.
        variance: Variance of the noise in every entry.
    """
    gains = 2 * variance - dct(series, norm="ortho", axis=1) ** 2
    return np.asarray(np.cumsum(gains, axis=1).argmin(axis=1) + 1, dtype=np.int64)


def cut(series: FloatArray, cuts: IntArray) -> FloatArray:
    """Returns series made of their first coefficients alone."""
    coefficients = dct(series, norm="ortho", axis=1)
    kept = np.arange(series.shape[1]) < cuts[:, None]
    return np.asarray(idct(np.where(kept, coefficients, 0.0), norm="ortho", axis=1))


def cut_variance(bins: int, cuts: IntArray, variance: float) -> FloatArray:
    """Returns the variance of the noise that is left in every entry of cut series."""
    squares = idct(np.eye(bins), norm="ortho", axis=1) ** 2
    # Row i holds the i-th cosine, so the sum over the first k rows is what k coefficients carry.
    return np.asarray(variance * np.cumsum(squares, axis=0)[cuts - 1])
