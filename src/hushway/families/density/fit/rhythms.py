"""Noisy series of many cells, cleaned by what they have in common, and smoothed at night.

Places of one city follow a few rhythms: homes, offices, evenings out. Each noisy series is a sum
of the city's own shape, of patterns that many cells share in different doses, and of a remainder of
its own whose neighbouring bins move together. All three are learnt from the noisy series
themselves, after the known variance of the noise has been taken out; then every series is replaced
by its expectation under what was learnt (a Wiener filter). Where nothing can be told from noise,
the city's shape is what remains. Everything here sees noisy numbers only.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.fft import dct, idct
from scipy.linalg import toeplitz

from hushway.arrays import FloatArray, IntArray
from hushway.families.density.fit.curves import smoothed

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


def learn_rhythms(
    series: FloatArray, totals: FloatArray, variance: float, parts: int | None = None
) -> Rhythms:
    """Learns what noisy series have in common.

    Args:
        series: Noisy series, one row a cell.
        totals: About how much each row sums to, above 0: the size of the cell.
        variance: Variance of the noise in every entry.
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
    return Rhythms(
        shape=shape,
        ways=ways,
        strengths=np.maximum(strengths, 0.0),
        patterns=patterns,
        doubt=doubt,
        weights=weights,
        kept=doubt / rough,
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
    # Moved by itself: along the ways, and a little by way of the shape that it is a part of.
    own = trust + (1 - trust) * rhythms.weights[:, None] * rhythms.kept
    return Cleaned(
        values=values * totals[:, None],
        variance=left * totals[:, None] ** 2,
        leverage=own @ (rhythms.ways**2).T,
    )


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


# Smooths the small counts of the night: exponential curves down to 04:00 and up again.
#
# The KDD 2014 paper fits a * exp(b * x) by least squares to the noisy counts of 00:00-04:00 and to
# those of 04:00-06:00 of each day, and puts the curves in their place.

# Clock hours from and to which counts fall, and from and to which they rise.
FALLING: Final = (0.0, 4.0)
RISING: Final = (4.0, 6.0)

# A curve has two parameters: it goes through two counts exactly and smooths nothing.
_FEWEST_COUNTS = 3
# Beyond this exponent a curve is nothing but its first or last count.
_STEEPEST = 24.0
_STEPS = 97
_NARROWINGS = 40
_GOLDEN = (np.sqrt(5.0) - 1) / 2


def smooth_nights(series: FloatArray, *, starts: FloatArray) -> FloatArray:
    """Returns the series with the night of each day replaced by two fitted curves.

    Each curve is the least-squares fit of a * exp(b * x) with a >= 0 to the counts themselves, not
    to their logarithms, over the bins that start between its hours, both ends included. The two are
    fitted apart, as in the paper, so they need not meet: the bin that starts at 04:00 belongs to
    both and gets the mean of the two. Where fewer than three bins start between a curve's hours,
    as when bins are longer than two hours, that curve is left out. Nights without visits, or with
    noise below 0, become 0; all other bins stay as they are.

    Privacy:
        Only for series that already carry their noise: it costs nothing.

    Args:
        series: Noisy counts by (cell, bin), day after day.
        starts: Clock hour at which each part of a day starts; bins are days * parts.

    Returns:
        A new series of the same shape.
    """
    cells = len(series)
    parts = len(starts)
    days = series.reshape(-1, parts)
    fitted = np.zeros_like(days, dtype=np.float64)
    curves = np.zeros(parts)
    for low, high in (FALLING, RISING):
        inside = np.flatnonzero((starts >= low) & (starts <= high))
        if len(inside) >= _FEWEST_COUNTS:
            fitted[:, inside] += fit_exponentials(days[:, inside], starts[inside])
            curves[inside] += 1
    smooth = np.where(curves > 0, fitted / np.maximum(curves, 1), days)
    return smooth.reshape(cells, -1)


def fit_exponentials(counts: FloatArray, times: FloatArray) -> FloatArray:
    """Returns the values of the best a * exp(b * x), a >= 0, for each row of counts.

    For a given b the best a is a ratio of sums, so only b is searched: on a grid, which finds the
    right valley whatever the noise, then by golden sections around the best point of it.

    Args:
        counts: One row for each curve.
        times: Where the counts are, in ascending order, at least two.
    """
    x = (times - times[0]) / (times[-1] - times[0])
    grid = np.linspace(-_STEEPEST, _STEEPEST, _STEPS)
    shapes = _shapes(grid, x)
    best = grid[(counts @ shapes.T).argmax(axis=1)]
    step = grid[1] - grid[0]
    slopes = _narrowed(counts, x, best - step, best + step)
    shapes = _shapes(slopes, x)
    return np.asarray(np.maximum(_explained(counts, shapes), 0.0)[:, None] * shapes)


def _shapes(slopes: FloatArray, x: FloatArray) -> FloatArray:
    """Returns exponential curves, one row for each slope, each of length 1."""
    # The exponent is at most 0, so that nothing overflows.
    exponents = slopes[:, None] * x - np.maximum(slopes, 0.0)[:, None]
    curves = np.exp(exponents)
    return np.asarray(curves / np.sqrt((curves**2).sum(axis=1, keepdims=True)))


def _explained(counts: FloatArray, shapes: FloatArray) -> FloatArray:
    """Returns the part of each row along its curve: the larger, the smaller the squared error."""
    return np.asarray(np.einsum("ij,ij->i", counts, shapes))


def _narrowed(counts: FloatArray, x: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Returns the best slope of each row between two slopes."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left = _explained(counts, _shapes(left, x))
    at_right = _explained(counts, _shapes(right, x))
    for _ in range(_NARROWINGS):
        lower = at_left >= at_right
        low, high = np.where(lower, low, left), np.where(lower, right, high)
        fresh = np.where(lower, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
        at_fresh = _explained(counts, _shapes(fresh, x))
        left, right = np.where(lower, fresh, right), np.where(lower, left, fresh)
        at_left, at_right = (
            np.where(lower, at_fresh, at_right),
            np.where(lower, at_left, at_fresh),
        )
    return (low + high) / 2


def onto_totals(series: FloatArray, totals: FloatArray) -> FloatArray:
    """Returns, for each row, the nearest row without negative entries and with the given sum.

    The nearest one lowers (or raises) all entries by the same amount and cuts off at 0 (Held, Wolfe
    and Crowder 1974).

    Args:
        series: Any rows.
        totals: What each row is to sum to; not negative.
    """
    descending = -np.sort(-series, axis=1)
    over = np.cumsum(descending, axis=1) - totals[:, None]
    shift = over / np.arange(1, series.shape[1] + 1)
    # The last position at which an entry stays above 0 after the shift; there is always one.
    last = np.maximum((descending > shift).sum(axis=1), 1) - 1
    lowered = series - shift[np.arange(len(series)), last][:, None]
    return np.asarray(np.maximum(lowered, 0.0), dtype=np.float64)
