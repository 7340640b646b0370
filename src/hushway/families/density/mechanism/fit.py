"""The table that the density family publishes, and how noise becomes one: all post-processing."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np
from scipy.spatial import cKDTree

from hushway.arrays import FloatArray, IntArray
from hushway.errors import PrivacyError
from hushway.families.density.mechanism.rhythms import (
    Cleaned,
    best_cuts,
    clean,
    cut,
    cut_variance,
    learn_rhythms,
    onto_totals,
    smooth_nights,
)
from hushway.families.density.mechanism.totals import Answers, Totals, answers_of, fitted_totals
from hushway.families.density.public.cover import Cover
from hushway.families.density.public.visits import DensityUniverse
from hushway.release.mechanism import Measurements, noise_of

Denoise = Literal["patterns", "sure", "cuts", "none"]
Found = tuple[Cleaned, dict[str, Any]]
"""Cleaned series, and what is worth telling about it."""

# Fewer series have nothing in common that could be told from their noise.
_FEWEST: Final = 3


def _patterns(answers: Answers, totals: Totals) -> Found:
    series = answers.series
    if len(series.values) < _FEWEST:
        return _sure(answers, totals)
    # Rhythms are relative to a total, and one below its own noise says nothing.
    size = np.maximum(totals.clusters, math.sqrt(series.values.shape[1] * series.variance))
    rhythms = learn_rhythms(series.values, size, series.variance)
    cleaned = clean(series.values, size, series.variance, rhythms)
    return cleaned, {"patterns": rhythms.patterns}


def _sure(answers: Answers, _totals: Totals) -> Found:
    series = answers.series
    return _cut(answers, best_cuts(series.values, series.variance))


def _chosen(answers: Answers, _totals: Totals) -> Found:
    if answers.cuts is None:
        raise PrivacyError(
            "No cuts were chosen for these series.", advice="Measure with a share for cuts."
        )
    return _cut(answers, answers.cuts)


def _cut(answers: Answers, cuts: IntArray) -> Found:
    series = answers.series
    cleaned = Cleaned(
        values=cut(series.values, cuts),
        variance=cut_variance(series.values.shape[1], cuts, series.variance),
    )
    return cleaned, {"mean_coefficients": float(cuts.mean())}


def _nothing(answers: Answers, _totals: Totals) -> Found:
    series = answers.series
    return Cleaned(values=series.values, variance=np.full_like(series.values, series.variance)), {}


CLEANERS: Final[dict[Denoise, Callable[[Answers, Totals], Found]]] = {
    "patterns": _patterns,
    "sure": _sure,
    "cuts": _chosen,
    "none": _nothing,
}


@dataclass(frozen=True, kw_only=True, eq=False)
class DensityTable:
    """A published density. Safe for anyone to see.

    Attributes:
        universe: The public areas, bins, sites and cover.
        counts: Estimated visits by (area, bin): finite, never negative, rounded to hundredths.
        standard_error: What each is expected to be off by: finite, above 0, rounded likewise.
        cluster: The cluster of each cell of the cover.
        quanta: Parts of a visit that the series was measured in.
        measured_series: Noisy visits by (cluster, bin), in parts of a visit.
        measured_sites: Noisy histogram of one visit of each person by site; None if not measured.
        measured_total: Noisy number of all visits; None if not measured.
        noise: Standard deviation of the noise in each measurement, by what was asked.
        diagnostics: How the fit went, as plain JSON values.
    """

    universe: DensityUniverse
    counts: FloatArray
    standard_error: FloatArray
    cluster: IntArray
    quanta: int
    measured_series: IntArray
    measured_sites: IntArray | None
    measured_total: int | None
    noise: Mapping[str, float]
    diagnostics: Mapping[str, Any] = field(default_factory=dict)


_HUNDREDTH = 0.01


def fit_density(
    measured: Measurements, universe: DensityUniverse, *, denoise: Denoise, night: bool
) -> DensityTable:
    """Cleans the series, scales them and shares them among areas."""
    answers = answers_of(measured)
    totals = fitted_totals(answers, universe.cover)
    cleaned, diagnostics = CLEANERS[denoise](answers, totals)
    values = (
        smooth_nights(cleaned.values, starts=_clock_hours(universe)) if night else cleaned.values
    )
    shapes, spread = _shapes(values, cleaned.variance, totals)
    scale = scale_of(answers, float(totals.cells.sum()))
    cluster = answers.cells.cluster
    cells = shapes[cluster] * totals.cells[:, None]
    alone = totals.cells / np.maximum(totals.clusters[cluster], 1.0)
    within = relative_spread(shapes, totals.clusters, cluster, universe.cover)
    variance = (
        spread[cluster] * totals.cells[:, None] ** 2
        + shapes[cluster] ** 2 * totals.variance[:, None]
        # What a cluster's series cannot tell: how its cells differ.
        + within * cells**2 * (1 - alone)[:, None]
        # Nor can it tell the chance in each count, once the noise is cleaned away.
        + cells
        # Visits beyond the limits were not drawn: the rest is a sample of them.
        + cells * max(1 - 1 / max(scale, 1.0), 0.0)
    )
    counts, squares = _areas(universe, cells * scale, variance * scale**2)
    # The number of all visits is off by the same share everywhere.
    squares = squares + counts**2 * doubt_of(answers, scale * float(totals.cells.sum()))
    return DensityTable(
        universe=universe,
        counts=np.round(counts, 2),
        standard_error=np.maximum(np.round(np.sqrt(squares), 2), _HUNDREDTH),
        cluster=cluster,
        quanta=answers.cells.quanta,
        measured_series=answers.parts,
        measured_sites=None if answers.histogram is None else _whole(answers.histogram.values),
        measured_total=None if answers.total is None else int(answers.total.values[0]),
        noise=noise_of(measured),
        diagnostics={
            "clusters": answers.cells.clusters,
            "scale": float(scale),
            "totals_mismatch": totals.mismatch,
            **diagnostics,
        },
    )


def _shapes(
    values: FloatArray, variance: FloatArray, totals: Totals
) -> tuple[FloatArray, FloatArray]:
    """Returns series that sum to 1, and their variances."""
    size = np.maximum(totals.clusters, 1.0)
    nearest = onto_totals(values, size)
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

    Args:
        shapes: Cleaned series that sum to 1, one row a cluster.
        totals: Visits of each cluster: what its shape weighs.
        cluster: The cluster of each cell.
        cover: The cells and their ground.

    Returns:
        A variance relative to the square of the share; 0 with fewer than two clusters.
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


def scale_of(answers: Answers, counted: float) -> float:
    """Returns all visits as a multiple of those that the series counts.

    The series counts a part of all visits, so the multiple is at least 1, whatever the noise says.
    What is beyond 1 is trusted by as much as it stands out from the noise in the number of all
    visits: a small crowd would otherwise be scaled by noise.

    Args:
        answers: What was measured.
        counted: Visits that the series counts.
    """
    if answers.total is None:
        return 1.0
    beyond = max(float(answers.total.values[0]) / max(counted, 1.0) - 1, 0.0)
    noise = answers.total.variance / max(counted, 1.0) ** 2
    return 1 + beyond * beyond**2 / (beyond**2 + noise)


def doubt_of(answers: Answers, visits: float) -> float:
    """Returns the variance of the number of all visits, relative to its square."""
    if answers.total is None:
        return 0.0
    return answers.total.variance / max(visits, 1.0) ** 2
