"""From noisy series and totals to a density: all of it post-processing."""

from typing import Any

import numpy as np

from hushway.arrays import FloatArray
from hushway.families.density.mechanism.answers import answers_of
from hushway.families.density.mechanism.cleaning import CLEANERS, Denoise
from hushway.families.density.mechanism.night import smooth_nights
from hushway.families.density.mechanism.scale import doubt_of, scale_of
from hushway.families.density.mechanism.simplex import onto_totals
from hushway.families.density.mechanism.table import DensityTable
from hushway.families.density.mechanism.totals import Totals, fitted_totals
from hushway.families.density.mechanism.within import relative_spread
from hushway.families.density.public.cells import DensityUniverse
from hushway.release.mechanism import Measurements, noise_of

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
