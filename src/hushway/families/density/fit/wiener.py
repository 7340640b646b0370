"""Noisy series of many cells, denoised by what they have in common: an empirical Wiener filter.

Places of one city follow a few rhythms: homes, offices, evenings out. Each noisy series is a sum
of the city's own shape, of patterns that many cells share in different doses (principal
components), and of a remainder of its own that is stationary in time. The covariances of all three
are estimated from the noisy series, after the known variance of the noise has been taken out; then
every series is replaced by its expectation. Where nothing can be told from noise, the city's shape
is what remains. Everything here sees noisy numbers only.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import toeplitz

from hushway.arrays import FloatArray, IntArray

# A shape has no bin below this part of its mean: relative remainders would be divided by nothing.
_FAINTEST = 0.01
# Remainders further apart than this many bins are taken for unrelated; nearer ones count less and
# less.
_MEMORY = 36
# How often the weights of cells are told anew from what they are weights of.
_WEIGHT_ROUNDS = 2
# Factors by which a cell's variance around the shape may differ from the usual one.
_FACTORS = np.array([0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0])


@dataclass(frozen=True, kw_only=True, eq=False)
class SeriesModel:
    """What series of many cells have in common, for series that sum to 1.

    Attributes:
        shape: The city's shape; sums to about 1.
        ways: Orthonormal columns: directions in which cells differ from the shape.
        strengths: Variance of cells along each direction.
        patterns: How many directions stand out from the noise by themselves.
        doubt: Variance of the noise in each bin of the shape itself.
        weights: How much of the shape comes from each cell; they sum to 1.
        kept: The share of noise that smoothing left in the shape.
    """

    shape: FloatArray
    ways: FloatArray
    strengths: FloatArray
    patterns: int
    doubt: float
    weights: FloatArray
    kept: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Cleaned:
    """Series without most of their noise.

    Attributes:
        values: The expected series, one row a cell.
        variance: The expected square of what each value is still off by.
        leverage: By how much each value moves with its own noisy one.
    """

    values: FloatArray
    variance: FloatArray
    leverage: FloatArray


def learn_series_model(
    series: FloatArray, totals: FloatArray, variance: FloatArray | float, parts: int | None = None
) -> SeriesModel:
    """Estimates what noisy series have in common.

    Args:
        totals: About how much each row sums to, above 0: the size of the cell.
        variance: Variance of the noise in every entry, or in those of each row.
        parts: Entries of a day; all together are one if left out.
    """
    unit = series / totals[:, None]
    noise = variance / totals**2
    weights = _weights(unit, totals, noise)
    rough = float(weights**2 @ noise)
    shape, doubt = smoothed(weights @ unit, rough, len(unit[0]) if parts is None else parts)
    # The mean that series with a sum of 1 should have: of nothing but noise it may be 0 or less.
    shape = np.maximum(shape, _FAINTEST / len(shape))
    apart = unit - shape
    found = (apart * weights[:, None]).T @ apart
    level = float(weights @ noise)
    crowding = len(shape) * float((weights**2).sum())
    shared, patterns = _shared(found, shape, level, crowding)
    rest = found - shared - level * np.eye(len(shape))
    strengths, ways = np.linalg.eigh(shared + _own(rest, shape))
    return SeriesModel(
        shape=shape,
        ways=ways,
        strengths=np.maximum(strengths, 0.0),
        patterns=patterns,
        doubt=doubt,
        weights=weights,
        kept=doubt / rough,
    )


def wiener_filter(
    series: FloatArray, totals: FloatArray, variance: FloatArray | float, model: SeriesModel
) -> Cleaned:
    """Replaces noisy series by their expectation under the model that was learnt from them.

    Some places differ from the city's shape more than others do. How much more is told for each
    cell by itself, by the likelihood of its noisy series.
    """
    noise = (variance / totals**2)[:, None]
    along = (series / totals[:, None] - model.shape) @ model.ways
    signal = _boldness(along, noise, model.strengths)[:, None] * model.strengths
    # A series differs from the shape that was found also by what the shape is off by.
    trust = (signal + model.doubt) / (signal + model.doubt + noise)
    values = model.shape + (along * trust) @ model.ways.T
    # Its own noise is in the shape too: few cells do not average it away.
    again = 1 + 2 * (1 - trust) * model.weights[:, None]
    left = (trust * noise * again) @ (model.ways**2).T
    # Moved by itself: along the ways, and a little by way of the shape that it is a part of.
    own = trust + (1 - trust) * model.weights[:, None] * model.kept
    return Cleaned(
        values=values * totals[:, None],
        variance=left * totals[:, None] ** 2,
        leverage=own @ (model.ways**2).T,
    )


def _weights(unit: FloatArray, totals: FloatArray, noise: FloatArray) -> FloatArray:
    """Returns the weight of each cell in the mean: 1 over its noise and its own variance."""
    shape = totals @ unit / totals.sum()
    weights = totals / totals.sum()
    for _ in range(_WEIGHT_ROUNDS):
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
    """Returns the covariance of what is each cell's own, stationary relative to the shape.

    It depends on the distance in time alone, so that it can be averaged over all pairs of bins.
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


# Smooths the small counts of the night: exponential curves down to 04:00 and up again.
#
# The KDD 2014 paper fits a * exp(b * x) by least squares to the noisy counts of 00:00-04:00 and to
# those of 04:00-06:00 of each day, and puts the curves in their place.


class Smoothed(NamedTuple):
    """A curve with the sum of the noisy one, and the variance of the noise left in each value."""

    values: FloatArray
    variance: float


def smoothed(curve: FloatArray, variance: float, parts: int) -> Smoothed:
    """Returns a curve, such as a city's week, without the waves that noise can explain.

    Fourier waves by day and by hour are put into groups: the usual day and what differs from it,
    each by octaves. Every group is shrunk by the share of its power that is noise, which is known.
    `parts` is the number of values of a day.
    """
    days = len(curve) // parts
    waves = np.fft.fft2(curve.reshape(days, parts), norm="ortho")
    group = _groups(days, parts)
    power = np.bincount(group, (np.abs(waves) ** 2).ravel()) / np.bincount(group)
    kept = np.maximum(1 - variance / np.maximum(power, 1e-300), 0.0)
    # The mean of the curve is known better from elsewhere: it is left alone.
    kept[group[0]] = 1.0
    factor = kept[group]
    values = np.fft.ifft2(waves * factor.reshape(days, parts), norm="ortho").real.ravel()
    return Smoothed(values, variance * float(factor.mean()))


def _groups(days: int, parts: int) -> IntArray:
    """Returns the group of each wave, numbered from 0 without gaps; the mean is its own."""
    by_day, by_part = np.arange(days) > 0, np.arange(parts)
    octave = np.ceil(np.log2(np.maximum(np.minimum(by_part, parts - by_part), 0.5))) + 1
    keys = by_day[:, None] * (octave.max() + 1) + octave
    return np.asarray(np.unique(keys.ravel(), return_inverse=True)[1].astype(np.int64))
