"""Other ways to clean noisy series than the product's, for comparison."""

import numpy as np
from scipy.fft import dct, idct
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist

from hushway.arrays import FloatArray
from hushway.families.density.mechanism.rhythms import Rhythms, clean

# James and Stein's rule shrinks three numbers or more together.
_FEWEST_TOGETHER = 3
# Metres over which neighbours are alike, and the part of the differences that is shared with them.
_RANGES = (500.0, 1000.0, 2000.0, 4000.0)
_SHARES = (0.0, 0.3, 0.6, 0.9)


def frequency_bands(bins: int) -> list[slice]:
    """Returns bands of cosines, each twice as wide as the one before; the last takes the rest."""
    bands = []
    start, width = 0, _FEWEST_TOGETHER
    while start < bins:
        # A band too narrow to be shrunk is not left over at the end.
        stop = bins if bins - start - width < 2 * width else start + width
        bands.append(slice(start, stop))
        start, width = stop, 2 * width
    return bands


def james_stein_bands(series: FloatArray, variance: float, prior: FloatArray) -> FloatArray:
    """Draws each band of cosines towards a prior, by the positive part of James and Stein's rule.

    Args:
        series: Noisy series, one row each.
        variance: Variance of the noise in every entry.
        prior: What each series is drawn towards; 0 for none.
    """
    apart = dct(series - prior, norm="ortho", axis=1)
    for band in frequency_bands(series.shape[1]):
        part = apart[:, band]
        energy = np.maximum((part**2).sum(axis=1, keepdims=True), 1e-300)
        missing = max(part.shape[1] - 2, 0) * variance
        apart[:, band] = part * np.maximum(1 - missing / energy, 0.0)
    return np.asarray(prior + idct(apart, norm="ortho", axis=1))


def city_prior(series: FloatArray, totals: FloatArray) -> FloatArray:
    """Returns the shape of the noisy city's own series, scaled to each total."""
    city = np.maximum(series.sum(axis=0), 0.0)
    return np.asarray(totals[:, None] * (city / max(float(city.sum()), 1.0)))


def kriged(
    series: FloatArray,
    totals: FloatArray,
    variance: float,
    rhythms: Rhythms,
    centres: FloatArray,
) -> FloatArray:
    """Cleans series as the product does, but the doses of patterns also by those of neighbours.

    The doses of a pattern are taken for a Gaussian field: a part of their variance is shared with
    neighbours and falls off exponentially with distance, the rest is each place's own. Part and
    range are those under which the noisy doses are likeliest.

    Args:
        series: Noisy series, one row a cluster.
        totals: About how much each row sums to, above 0.
        variance: Variance of the noise in every entry.
        rhythms: What was learnt from the series.
        centres: Centre (x, y) of each cluster in metres.
    """
    noise = variance / totals**2
    along = (series / totals[:, None] - rhythms.shape) @ rhythms.ways
    cleaned = clean(series, totals, variance, rhythms).values / totals[:, None]
    doses = (cleaned - rhythms.shape) @ rhythms.ways
    strongest = np.argsort(-rhythms.strengths)[: rhythms.patterns]
    distance = cdist(centres, centres)
    for way in strongest:
        # The part of a noisy dose that cleaning leaves tells the variance that it was given.
        left = np.clip(doses[:, way] / along[:, way], 1e-9, 1 - 1e-9)
        doses[:, way] = _field(along[:, way], noise * left / (1 - left), noise, distance)
    return np.asarray((rhythms.shape + doses @ rhythms.ways.T) * totals[:, None])


def _field(
    seen: FloatArray, signal: FloatArray, noise: FloatArray, distance: FloatArray
) -> FloatArray:
    """Returns the expected doses under the likeliest field.

    Args:
        seen: Noisy dose of each place.
        signal: Variance of the true dose of each place.
        noise: Variance of its noise.
        distance: Metres between every two places.
    """
    best, likeliest = seen, -np.inf
    deviations = np.sqrt(np.outer(signal, signal))
    for share in _SHARES:
        for reach in _RANGES if share else _RANGES[:1]:
            field = deviations * share * np.exp(-distance / reach)
            field[np.diag_indices_from(field)] = signal
            factor = cho_factor(field + np.diag(noise), lower=True)
            weights = cho_solve(factor, seen)
            fit = -float(seen @ weights) - 2 * float(np.log(np.diag(factor[0])).sum())
            if fit > likeliest:
                best, likeliest = field @ weights, fit
    return best


def clamp_and_normalise(series: FloatArray, totals: FloatArray) -> FloatArray:
    """Cuts rows off at 0 and scales them to their totals: what the paper does."""
    above = np.maximum(series, 0.0)
    sums = above.sum(axis=1, keepdims=True)
    even = totals[:, None] / series.shape[1]
    return np.where(sums > 0, above / np.where(sums > 0, sums, 1.0) * totals[:, None], even)
