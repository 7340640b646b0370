"""What each step of a density gains: other ways to fit the same noisy measurements."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.fft import dct, idct
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist

from hushway.arrays import FloatArray, IntArray
from hushway.families.density.fit.scaling import Levels, levels_of
from hushway.families.density.fit.shrinking import shrink_counts
from hushway.families.density.fit.smoothing import (
    best_cuts,
    cut,
    project_onto_simplex,
    smooth_nights,
)
from hushway.families.density.fit.totals import Answers, answers_of
from hushway.families.density.fit.wiener import (
    Cleaned,
    SeriesModel,
    learn_series_model,
    wiener_filter,
)
from hushway.families.density.mechanism.series import QUANTA, DensitySeries
from hushway.families.density.planning.trial import BoundedCity
from hushway.families.density.public.cover import Cover
from hushway.families.density.public.visits import DensityUniverse, VisitLimits
from hushway.families.density.study.errors import density_errors
from hushway.privacy.measured import Internal
from hushway.release.mechanism import Measurements

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
    """Draws each band of cosines towards a prior, by James and Stein's positive-part rule."""
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
    rhythms: SeriesModel,
    centres: FloatArray,
) -> FloatArray:
    """Cleans series as the product does, but the doses of patterns also by those of neighbours.

    The doses of a pattern are taken for a Gaussian field: a part of their variance is shared with
    neighbours and falls off exponentially with distance, the rest is each place's own. Part and
    range are those under which the noisy doses are likeliest.

    Args:
        totals: About how much each row sums to, above 0.
        variance: Variance of the noise in every entry.
        centres: Centre (x, y) of each cluster in metres.
    """
    noise = variance / totals**2
    along = (series / totals[:, None] - rhythms.shape) @ rhythms.ways
    cleaned = wiener_filter(series, totals, variance, rhythms).values / totals[:, None]
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
    """Returns the expected doses under the likeliest field."""
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


@dataclass(frozen=True, kw_only=True, eq=False)
class Noisy:
    """Noisy series with what is known about each.

    Attributes:
        size: About how much each sums to, never below its own noise.
        variance: Variance of the noise in every entry.
        drawn: The share of all visits that each counts.
    """

    series: FloatArray
    size: FloatArray
    variance: float
    centres: FloatArray
    parts: int
    drawn: FloatArray


Cleaner = Callable[[Noisy], FloatArray]
TotalsOf = Callable[[Answers, Cover, Levels], FloatArray]


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One way to fit measurements; as it stands, the product's.

    Attributes:
        close: How series are moved to counts that are not negative and sum to a total.
        night: Whether the night is replaced by exponential curves.
        scaled: Whether all is scaled to the measured number of visits.
    """

    clean: Cleaner
    totals: TotalsOf
    close: Callable[[FloatArray, FloatArray], FloatArray] = project_onto_simplex
    night: bool = False
    scaled: bool = True


@dataclass(frozen=True, kw_only=True)
class Score:
    """Errors of one fit, as `density_errors` defines them."""

    mre: float
    pearson: float
    rsse: float


def _raw(noisy: Noisy) -> FloatArray:
    return noisy.series


def _sure(noisy: Noisy) -> FloatArray:
    return cut(noisy.series, best_cuts(noisy.series, noisy.variance))


def _bands(noisy: Noisy) -> FloatArray:
    return james_stein_bands(noisy.series, noisy.variance, np.zeros_like(noisy.series))


def _city(noisy: Noisy) -> FloatArray:
    return city_prior(noisy.series, noisy.size)


def _bands_around_city(noisy: Noisy) -> FloatArray:
    return james_stein_bands(noisy.series, noisy.variance, _city(noisy))


def _patterns(noisy: Noisy) -> FloatArray:
    return shrink_counts(noisy.series, noisy.variance, _expected(noisy), noisy.drawn).values


def _expectation(noisy: Noisy) -> FloatArray:
    return _expected(noisy).values


def _expected(noisy: Noisy) -> Cleaned:
    rhythms = learn_series_model(noisy.series, noisy.size, noisy.variance, noisy.parts)
    return wiener_filter(noisy.series, noisy.size, noisy.variance, rhythms)


def _kriged(noisy: Noisy) -> FloatArray:
    rhythms = learn_series_model(noisy.series, noisy.size, noisy.variance, noisy.parts)
    return kriged(noisy.series, noisy.size, noisy.variance, rhythms, noisy.centres)


def _combined(_answers: Answers, _cover: Cover, levels: Levels) -> FloatArray:
    return levels.totals.cells


def _by_histogram(answers: Answers, cover: Cover, levels: Levels) -> FloatArray:
    return np.maximum(_histogram(answers, cover, levels), 0.0)


def _by_series(answers: Answers, cover: Cover, levels: Levels) -> FloatArray:
    """Takes the histogram only to tell the cells of a cluster apart."""
    cluster = answers.cells.cluster
    cells = _by_histogram(answers, cover, levels)
    sums = np.maximum(answers.series.values.sum(axis=1), 0.0)
    held = np.maximum(np.bincount(cluster, cells), 1e-9)
    return np.asarray(cells / held[cluster] * sums[cluster])


def _histogram(answers: Answers, cover: Cover, levels: Levels) -> FloatArray:
    if answers.histogram is None:
        return levels.totals.cells
    people = answers.histogram.values
    cell, site, parts = cover.quantised(QUANTA)
    cells = np.bincount(cell, parts / QUANTA * people[site])
    visits = max(float(answers.series.values.sum()), 1.0)
    return np.asarray(cells * (visits / max(float(people.sum()), 1.0)))


DEFAULT: Final = "patterns (the product)"
VARIANTS: Final[Mapping[str, Variant]] = {
    "raw noisy series": Variant(clean=_raw, totals=_combined),
    "first cosines, cut by SURE": Variant(clean=_sure, totals=_combined),
    "bands of cosines shrunk": Variant(clean=_bands, totals=_combined),
    "the city's shape for all": Variant(clean=_city, totals=_combined),
    "bands shrunk around the city's shape": Variant(clean=_bands_around_city, totals=_combined),
    DEFAULT: Variant(clean=_patterns, totals=_combined),
    "patterns, noisy counts not weighed again": Variant(clean=_expectation, totals=_combined),
    "patterns, doses kriged": Variant(clean=_kriged, totals=_combined),
    "patterns, cut at 0 and scaled": Variant(
        clean=_patterns, totals=_combined, close=clamp_and_normalise
    ),
    "raw, cut at 0 and scaled": Variant(clean=_raw, totals=_combined, close=clamp_and_normalise),
    "patterns, night curves": Variant(clean=_patterns, totals=_combined, night=True),
    "SURE, night curves": Variant(clean=_sure, totals=_combined, night=True),
    "patterns, totals by the series alone": Variant(clean=_patterns, totals=_by_series),
    "patterns, totals by the histogram alone": Variant(clean=_patterns, totals=_by_histogram),
    "patterns, not scaled to all visits": Variant(clean=_patterns, totals=_combined, scaled=False),
}


def fit_variant(
    variant: Variant, measured: Measurements, universe: DensityUniverse, limits: VisitLimits
) -> Internal[FloatArray]:
    """Fits measurements in one of the ways; returns visits by (area, bin)."""
    answers, cover = answers_of(measured), universe.cover
    cluster = answers.cells.cluster
    levels = levels_of(answers, universe, limits)
    cells = variant.totals(answers, cover, levels)
    totals = np.asarray(np.bincount(cluster, cells), dtype=np.float64)
    values = variant.clean(_known(answers, totals, levels.drawn(cluster), universe))
    if variant.night:
        periods = universe.periods
        minutes = np.arange(periods.opens, periods.closes, periods.minutes)
        values = smooth_nights(values, starts=minutes / 60)
    size = np.maximum(totals, 1e-9)
    shapes = variant.close(values, size) / size[:, None]
    scale = levels.multiples(cells) if variant.scaled else np.ones_like(cells)
    area, cell, share = cover.area_shares()
    counts = np.zeros((len(universe.areas), universe.bins))
    np.add.at(counts, area, share[:, None] * (shapes[cluster] * (scale * cells)[:, None])[cell])
    return Internal(counts)


def measure_gains(
    city: BoundedCity,
    mechanism: DensitySeries,
    truth: FloatArray,
    runs: range,
    *,
    counted: IntArray | None = None,
) -> Internal[dict[str, list[Score]]]:
    """Fits the same measurements in every way, run after run."""
    areas = np.arange(len(truth)) if counted is None else counted
    scores: dict[str, list[Score]] = {name: [] for name in VARIANTS}
    for run in runs:
        measured = city.measured(mechanism, run)
        for name, variant in VARIANTS.items():
            fitted = fit_variant(variant, measured, city.universe, city.limits).value
            errors = density_errors(truth[areas], fitted[areas]).value
            scores[name].append(Score(mre=errors.mre, pearson=errors.pearson, rsse=errors.rsse))
    return Internal(scores)


def _known(
    answers: Answers, totals: FloatArray, drawn: FloatArray, universe: DensityUniverse
) -> Noisy:
    cover = universe.cover
    series, cluster = answers.series, answers.cells.cluster
    least = math.sqrt(series.values.shape[1] * series.variance)
    ground = np.bincount(cluster, cover.sizes)
    middle = [np.bincount(cluster, cover.sizes * axis) / ground for axis in cover.centres.T]
    return Noisy(
        series=series.values,
        size=np.maximum(totals, least),
        variance=series.variance,
        centres=np.column_stack(middle),
        parts=universe.periods.parts,
        drawn=drawn,
    )
