"""What each step of a density gains: other ways to fit the same noisy measurements."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.density.mechanism.answers import Answers, answers_of
from hushway.families.density.mechanism.cosines import best_cuts, cut
from hushway.families.density.mechanism.night import smooth_nights
from hushway.families.density.mechanism.rhythms import clean, learn_rhythms
from hushway.families.density.mechanism.scale import scale_of
from hushway.families.density.mechanism.series import DensitySeries
from hushway.families.density.mechanism.simplex import onto_totals
from hushway.families.density.mechanism.totals import fitted_totals, histogram_totals
from hushway.families.density.public.cells import DensityUniverse
from hushway.families.density.public.cover import Cover
from hushway.families.density.study.alternatives import (
    city_prior,
    clamp_and_normalise,
    james_stein_bands,
    kriged,
)
from hushway.families.density.study.errors import density_errors
from hushway.families.density.study.scene import BoundedCity
from hushway.privacy.internal import Internal
from hushway.release.mechanism import Measurements


@dataclass(frozen=True, kw_only=True, eq=False)
class Noisy:
    """Noisy series with what is known about each.

    Attributes:
        series: Visits by (cluster, bin).
        size: About how much each sums to, never below its own noise.
        variance: Variance of the noise in every entry.
        centres: Centre (x, y) of each cluster.
    """

    series: FloatArray
    size: FloatArray
    variance: float
    centres: FloatArray


Cleaner = Callable[[Noisy], FloatArray]
TotalsOf = Callable[[Answers, Cover], FloatArray]


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One way to fit measurements; as it stands, the product's.

    Attributes:
        clean: What becomes of the noise in series.
        totals: Visits of each cell of the cover.
        close: How series are moved to counts that are not negative and sum to a total.
        night: Whether the night is replaced by exponential curves.
        scaled: Whether all is scaled to the measured number of visits.
    """

    clean: Cleaner
    totals: TotalsOf
    close: Callable[[FloatArray, FloatArray], FloatArray] = onto_totals
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
    rhythms = learn_rhythms(noisy.series, noisy.size, noisy.variance)
    return clean(noisy.series, noisy.size, noisy.variance, rhythms).values


def _kriged(noisy: Noisy) -> FloatArray:
    rhythms = learn_rhythms(noisy.series, noisy.size, noisy.variance)
    return kriged(noisy.series, noisy.size, noisy.variance, rhythms, noisy.centres)


def _combined(answers: Answers, cover: Cover) -> FloatArray:
    return fitted_totals(answers, cover).cells


def _by_histogram(answers: Answers, cover: Cover) -> FloatArray:
    return np.maximum(_histogram(answers, cover), 0.0)


def _by_series(answers: Answers, cover: Cover) -> FloatArray:
    """Takes the histogram only to tell the cells of a cluster apart."""
    cluster = answers.cells.cluster
    cells = _by_histogram(answers, cover)
    sums = np.maximum(answers.series.values.sum(axis=1), 0.0)
    held = np.maximum(np.bincount(cluster, cells), 1e-9)
    return np.asarray(cells / held[cluster] * sums[cluster])


def _histogram(answers: Answers, cover: Cover) -> FloatArray:
    if answers.histogram is None:
        return fitted_totals(answers, cover).cells
    visits = max(float(answers.series.values.sum()), 1.0)
    return histogram_totals(answers.histogram, cover, visits)[0]


DEFAULT: Final = "patterns (the product)"
VARIANTS: Final[Mapping[str, Variant]] = {
    "raw noisy series": Variant(clean=_raw, totals=_combined),
    "first cosines, cut by SURE": Variant(clean=_sure, totals=_combined),
    "bands of cosines shrunk": Variant(clean=_bands, totals=_combined),
    "the city's shape for all": Variant(clean=_city, totals=_combined),
    "bands shrunk around the city's shape": Variant(clean=_bands_around_city, totals=_combined),
    DEFAULT: Variant(clean=_patterns, totals=_combined),
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
    variant: Variant, measured: Measurements, universe: DensityUniverse
) -> Internal[FloatArray]:
    """Fits measurements in one of the ways; returns visits by (area, bin)."""
    answers, cover = answers_of(measured), universe.cover
    cluster = answers.cells.cluster
    cells = variant.totals(answers, cover)
    totals = np.asarray(np.bincount(cluster, cells), dtype=np.float64)
    values = variant.clean(_known(answers, totals, cover))
    if variant.night:
        periods = universe.periods
        minutes = np.arange(periods.opens, periods.closes, periods.minutes)
        values = smooth_nights(values, starts=minutes / 60)
    size = np.maximum(totals, 1.0)
    shapes = variant.close(values, size) / size[:, None]
    scale = 1.0
    if variant.scaled and answers.total is not None:
        scale = scale_of(answers, float(cells.sum()))
    area, cell, share = cover.area_shares()
    counts = np.zeros((len(universe.areas), universe.bins))
    np.add.at(counts, area, share[:, None] * (scale * shapes[cluster] * cells[:, None])[cell])
    return Internal(counts)


def measure_gains(
    city: BoundedCity,
    mechanism: DensitySeries,
    truth: FloatArray,
    runs: range,
    *,
    counted: IntArray | None = None,
) -> Internal[dict[str, list[Score]]]:
    """Fits the same measurements in every way, run after run.

    Args:
        city: The bounded visits.
        mechanism: What is measured.
        truth: Exact visits by (area, bin).
        runs: Seeds of the noise.
        counted: The areas that errors are taken over; all if left out.
    """
    areas = np.arange(len(truth)) if counted is None else counted
    scores: dict[str, list[Score]] = {name: [] for name in VARIANTS}
    for run in runs:
        measured = city.measured(mechanism, run)
        for name, variant in VARIANTS.items():
            fitted = fit_variant(variant, measured, city.universe).value
            errors = density_errors(truth[areas], fitted[areas]).value
            scores[name].append(Score(mre=errors.mre, pearson=errors.pearson, rsse=errors.rsse))
    return Internal(scores)


def _known(answers: Answers, totals: FloatArray, cover: Cover) -> Noisy:
    series, cluster = answers.series, answers.cells.cluster
    least = math.sqrt(series.values.shape[1] * series.variance)
    ground = np.bincount(cluster, cover.sizes)
    middle = [np.bincount(cluster, cover.sizes * axis) / ground for axis in cover.centres.T]
    return Noisy(
        series=series.values,
        size=np.maximum(totals, least),
        variance=series.variance,
        centres=np.column_stack(middle),
    )
