"""The table that the density family publishes, and how noise becomes one: all post-processing."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import gammaincinv, ndtri

from hushway.arrays import FloatArray, IntArray
from hushway.errors import PrivacyError
from hushway.families.density.fit.past import expected_counts, with_totals
from hushway.families.density.fit.scaling import levels_of, period_scale
from hushway.families.density.fit.shrinking import shrink_counts
from hushway.families.density.fit.smoothing import (
    best_cuts,
    cut,
    cut_variance,
    project_onto_simplex,
    smooth_nights,
)
from hushway.families.density.fit.steps import NoisyStep, Past, pooled
from hushway.families.density.fit.totals import Answers, Totals, answers_of
from hushway.families.density.fit.wiener import Cleaned, learn_series_model, wiener_filter
from hushway.families.density.public.cover import Cover
from hushway.families.density.public.visits import PERSON_PARTS, DensityUniverse, VisitLimits
from hushway.release.mechanism import Measurements, noise_of

Denoise = Literal["patterns", "sure", "cuts", "none"]
Found = tuple[Cleaned, dict[str, Any]]
"""Cleaned series, and what is worth telling about it."""


def _patterns(
    answers: Answers, totals: Totals, drawn: FloatArray, past: Past | None = None
) -> Found:
    series = answers.series
    # SeriesModel are relative to a total, and one below its own noise says nothing.
    size = np.maximum(totals.clusters, math.sqrt(series.values.shape[1] * series.variance))
    cells = answers.cells
    model = learn_series_model(series.values, size, series.variance, cells.universe.periods.parts)
    cleaned = wiener_filter(series.values, size, series.variance, model)
    expected = None
    if past is not None:
        expected = expected_counts(past, totals, cells.cluster, drawn, cells.universe)
    shrunk = shrink_counts(series.values, series.variance, cleaned, drawn, expected)
    return shrunk, {"patterns": model.patterns}


def _sure(answers: Answers, _totals: Totals, drawn: FloatArray) -> Found:
    series = answers.series
    return _cut(answers, best_cuts(series.values, series.variance), drawn)


def _chosen(answers: Answers, _totals: Totals, drawn: FloatArray) -> Found:
    if answers.cuts is None:
        raise PrivacyError(
            "No cuts were chosen for these series.", advice="Measure with a share for cuts."
        )
    return _cut(answers, answers.cuts, drawn)


def _cut(answers: Answers, cuts: IntArray, drawn: FloatArray) -> Found:
    series = answers.series
    values, bins = cut(series.values, cuts), series.values.shape[1]
    kept = cut_variance(bins, cuts, 1.0)
    variance = kept * series.variance + _draw_variance(values, drawn)
    cleaned = Cleaned(values=values, variance=variance, leverage=kept)
    return cleaned, {"mean_coefficients": float(cuts.mean())}


def _nothing(answers: Answers, _totals: Totals, drawn: FloatArray) -> Found:
    series = answers.series
    noise = series.variance + _draw_variance(series.values, drawn)
    return Cleaned(values=series.values, variance=noise, leverage=np.ones_like(noise)), {}


def _draw_variance(values: FloatArray, drawn: FloatArray) -> FloatArray:
    """Returns the variance of counts that comes from which visits the limits let count."""
    return np.asarray(np.maximum(values, 0.0) * (1 - drawn[:, None]))


CLEANERS: Final[dict[Denoise, Callable[[Answers, Totals, FloatArray], Found]]] = {
    "patterns": _patterns,
    "sure": _sure,
    "cuts": _chosen,
    "none": _nothing,
}


@dataclass(frozen=True, kw_only=True, eq=False)
class DensityTable:
    """A published density. Safe for anyone to see.

    Attributes:
        counts: Estimated visits by (area, bin): finite, never negative, rounded to hundredths.
        standard_error: What each may be off by, 1.96 of them being an interval of 95 %: finite,
            above 0, rounded likewise.
        quanta: Parts of a visit that the series was measured in.
        measured_series: Noisy visits by (cluster, bin), in parts of a visit.
        measured_sites: Noisy number of people by (circle, site), in parts of a person; None if not
            measured.
        measured_activity: Noisy number of people by class of activity; None if not measured.
        measured_total: Noisy number of all visits; None if not measured.
        measured_left_out: Noisy visits that the series leaves out, by period of the day; None if
            not measured.
        noise: Standard deviation of the noise in each measurement, by what was asked.
    """

    universe: DensityUniverse
    counts: FloatArray
    standard_error: FloatArray
    cluster: IntArray
    quanta: int
    measured_series: IntArray
    measured_sites: IntArray | None
    measured_activity: IntArray | None
    measured_total: int | None
    measured_left_out: IntArray | None
    noise: Mapping[str, float]
    diagnostics: Mapping[str, Any] = field(default_factory=dict)


_HUNDREDTH = 0.01
# Counts are whole: one of which next to nothing is expected may still be 1.
_UNKNOWN_COUNT = 0.3
# Small cells differ from their cluster by more than large ones do: by so much at a single visit.
_SMALL_DIFFER = 8.0


def fit_density(
    measured: Measurements,
    universe: DensityUniverse,
    limits: VisitLimits,
    *,
    denoise: Denoise,
    night: bool,
    steps: Sequence[tuple[int, NoisyStep]] = (),
) -> DensityTable:
    """Cleans the series, scales them and shares them among areas."""
    answers = answers_of(measured)
    levels = levels_of(answers, universe, limits)
    past = pooled(steps, answers.cells.cluster)
    if past is not None:
        levels = replace(levels, totals=with_totals(levels.totals, answers.cells.cluster, past))
    totals, scale = levels.totals, levels.scale
    cluster, local = answers.cells.cluster, levels.multiples(totals.cells)
    cleaned, diagnostics = CLEANERS[denoise](
        answers, totals, levels.drawn(cluster), *(() if past is None else (past,))
    )
    values = (
        smooth_nights(cleaned.values, starts=_clock_hours(universe)) if night else cleaned.values
    )
    shapes, spread = _shapes(values, cleaned.variance, totals)
    periods = period_scale(shapes, answers, levels, limits)
    cells = shapes[cluster] * totals.cells[:, None]
    alone = totals.cells / np.maximum(totals.clusters[cluster], 1e-9)
    share = 1 / np.maximum(local, 1.0)
    within = relative_spread(shapes, totals.clusters, cluster, universe.cover)
    variance = (
        # Both the shape and the total are off, and so is their product.
        spread[cluster] * (totals.cells**2 + totals.variance)[:, None]
        + shapes[cluster] ** 2 * totals.variance[:, None]
        # What a cluster's series cannot tell: how its cells differ.
        + within * (cells**2 + _SMALL_DIFFER * cells**1.5) * (1 - alone)[:, None]
        # Nor can it tell the chance in the counts of several cells; that of one is in its shape.
        + cells * (share * (1 - alone))[:, None]
        # Where next to nothing is expected, nor is it known what was drawn of it.
        + (_UNKNOWN_COUNT * (1 - share * alone))[:, None]
        + cells**2 * totals.scale_variance[:, None]
        # Bins differ in what the series leaves out of them.
        + cells**2 * periods.variance
    )
    multiple = local[:, None] * periods.value
    # Bins change places, and not the number of all visits.
    multiple *= float((cells * local[:, None]).sum()) / max(float((cells * multiple).sum()), 1e-300)
    counts, squares = _areas(universe, cells * multiple, variance * multiple**2)
    # The number of all visits is off by the same share everywhere.
    errors = gamma_errors(counts, np.sqrt(squares + counts**2 * scale.variance))
    return DensityTable(
        universe=universe,
        counts=np.round(counts, 2),
        standard_error=np.maximum(np.round(errors, 2), _HUNDREDTH),
        cluster=cluster,
        quanta=answers.cells.quanta,
        measured_series=answers.parts,
        # A power of two: nothing is lost on the way into people and back.
        measured_sites=None
        if answers.circles is None
        else _whole(PERSON_PARTS * answers.circles.values),
        measured_activity=None if answers.activity is None else _whole(answers.activity.values),
        measured_total=None if answers.total is None else int(answers.total.values[0]),
        measured_left_out=None if answers.left_out is None else _whole(answers.left_out.values),
        noise=noise_of(measured),
        diagnostics={
            "clusters": answers.cells.clusters,
            "scale": scale.value,
            "totals_mismatch": totals.mismatch,
            **diagnostics,
        },
    )


def _shapes(
    values: FloatArray, variance: FloatArray, totals: Totals
) -> tuple[FloatArray, FloatArray]:
    """Returns series that sum to 1, and their variances."""
    size = np.maximum(totals.clusters, 1e-9)
    nearest = project_onto_simplex(values, size)
    return nearest / size[:, None], variance / size[:, None] ** 2


def _areas(
    universe: DensityUniverse, cells: FloatArray, variance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Shares cells among areas."""
    area, cell, share = universe.cover.area_shares()
    counts = np.zeros((len(universe.areas), universe.bins))
    squares = np.zeros_like(counts)
    np.add.at(counts, area, share[:, None] * cells[cell])
    np.add.at(squares, area, share[:, None] ** 2 * variance[cell])
    return counts, squares


def _clock_hours(universe: DensityUniverse) -> FloatArray:
    periods = universe.periods
    return np.arange(periods.opens, periods.closes, periods.minutes) / 60


def _whole(values: FloatArray) -> Any:
    return np.rint(values).astype(np.int64)


# How far cells differ from the cluster that speaks for them.
#
# One series is measured for all cells of a cluster, so how they differ from each other cannot be
# seen. Neighbouring clusters can: shapes of cells within a cluster are taken to differ by as much
# as shapes of neighbouring clusters do, which lie further apart, so this errs on the safe side.

_NEIGHBOURS = 4


def relative_spread(
    shapes: FloatArray, totals: FloatArray, cluster: IntArray, cover: Cover
) -> FloatArray:
    """Returns, for each bin, the square by which a cell's share differs from its cluster's.

    It is relative to the square of the share; 0 with fewer than two clusters. `shapes` sum to 1,
    one row a cluster, and `totals` weigh them.
    """
    bins = shapes.shape[1]
    if len(shapes) < 2:  # noqa: PLR2004  a neighbour needs another cluster
        return np.zeros(bins)
    weight = np.bincount(cluster, cover.sizes)
    middle = np.column_stack(
        [np.bincount(cluster, cover.sizes * axis) / weight for axis in cover.centres.T]
    )
    count = min(_NEIGHBOURS, len(shapes) - 1)
    _, nearest = cKDTree(middle).query(middle, k=count + 1)
    apart = np.zeros(bins)
    for neighbour in nearest[:, 1:].T:
        apart += totals @ (shapes - shapes[neighbour]) ** 2
    level = totals @ shapes**2
    return np.asarray(apart / (2 * count) / np.maximum(level, 1e-300))


# The end that an interval of 95 % has above, and how many deviations off a normal law has it.
_UPPER = 0.975
_NORMAL = float(ndtri(_UPPER))
# Deviations, as multiples of the mean, at which the factor is tabulated.
_RATIOS = np.geomspace(1e-3, 4.0, 200)


def _factors() -> FloatArray:
    shape = _RATIOS**-2
    # In deviations of a gamma law, whose mean is its shape and whose deviation is its root.
    upper = (gammaincinv(shape, _UPPER) - shape) / np.sqrt(shape)
    # A law whose mean is next to nothing is nearly all at 0; it is no reason for a smaller error.
    return np.asarray(np.maximum.accumulate(np.maximum(upper / _NORMAL, 1.0)))


_FACTORS = _factors()


def gamma_errors(counts: FloatArray, deviation: FloatArray) -> FloatArray:
    """Returns errors of which 1.96 reach the upper end of what a count may be.

    Where the variance of a count that cannot be negative is large, the truth cannot be as far below
    as it can be above. A gamma law with that mean and variance has this shape. Its upper end is
    further off than 1.96 standard deviations, and the published error says so.
    """
    ratio = deviation / np.maximum(counts, 1e-9)
    return np.asarray(deviation * np.interp(ratio, _RATIOS, _FACTORS), dtype=np.float64)
