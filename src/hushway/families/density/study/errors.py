"""How far a published density is from the truth: cell by cell, bin by bin, and in metres.

The figures are those of the KDD 2014 paper: mean relative error with a sanity bound, Pearson's
correlation, their spread over the cells, and the error by the hour.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.spatial.distance import cdist

from hushway.arrays import FloatArray
from hushway.errors import DataError, HushwayError
from hushway.privacy.measured import Internal
from hushway.progress import Progress

# A count below this share of its cell's total is as good as the share itself: section 3.3.
SANITY_SHARE: Final = 0.001

_WHISKER_RANGES = 1.5
# Rounding errors of a constant series stay far below this share of its size.
_CONSTANT = 1e-12


@dataclass(frozen=True, kw_only=True)
class Box:
    """The numbers of a box plot; `beyond` values lie more than 1.5 boxes away from the box."""

    low_whisker: float
    low_quartile: float
    median: float
    high_quartile: float
    high_whisker: float
    beyond: int


@dataclass(frozen=True, kw_only=True, eq=False)
class DensityErrors:
    """Errors of one release.

    A cell whose true total is 0 has no relative error and no trend: it is NaN in the figures by
    cell, left out of every mean and box, and counted in `empty_cells`. Only `rsse` sees it. If all
    cells are empty, the means are NaN.

    Attributes:
        mre: Mean relative error of a cell's series, mean over cells.
        pearson: Correlation of a cell's series with the truth, mean over cells.
        rsse: Root of the summed squared errors of a cell's series, in visits, mean over all cells.
        mre_by_cell: The first, for each cell.
        pearson_by_cell: The second, for each cell. A constant release of a changing truth follows
            nothing: 0. A constant truth has no trend to follow: NaN, left out like an empty cell.
        relative_error_by_bin: Relative error in each bin, mean over cells.
        mre_box: How the mean relative error spreads over cells.
        pearson_box: How the correlation spreads over cells.
    """

    mre: float
    pearson: float
    rsse: float
    mre_by_cell: FloatArray
    pearson_by_cell: FloatArray
    relative_error_by_bin: FloatArray
    mre_box: Box
    pearson_box: Box
    empty_cells: int


def density_errors(truth: FloatArray, release: FloatArray) -> Internal[DensityErrors]:
    """Compares two densities by (cell, bin).

    Raises:
        DataError: The two have different shapes, no cells or no bins.
    """
    if truth.shape != release.shape or truth.ndim != len(("cell", "bin")) or truth.size == 0:
        raise DataError(
            "A density can only be compared with one of the same cells and periods.",
            advice="Give two tables of (cell, period) over the same universe.",
        )
    relative = _relative_errors(truth, release)
    mre = relative.mean(axis=1)
    pearson = _correlations(truth, release)
    filled = ~np.isnan(mre)
    bins = truth.shape[1]
    return Internal(
        DensityErrors(
            mre=_mean(mre),
            pearson=_mean(pearson),
            rsse=float(np.sqrt(((release - truth) ** 2).sum(axis=1)).mean()),
            mre_by_cell=mre,
            pearson_by_cell=pearson,
            relative_error_by_bin=(
                relative[filled].mean(axis=0) if filled.any() else np.full(bins, np.nan)
            ),
            mre_box=box_of(mre),
            pearson_box=box_of(pearson),
            empty_cells=int(np.count_nonzero(~filled)),
        )
    )


def box_of(values: FloatArray) -> Box:
    """Returns the box plot of the values that are numbers; all NaN if there are none."""
    known = values[~np.isnan(values)]
    if len(known) == 0:
        nothing = float("nan")
        return Box(
            low_whisker=nothing,
            low_quartile=nothing,
            median=nothing,
            high_quartile=nothing,
            high_whisker=nothing,
            beyond=0,
        )
    low, middle, high = np.quantile(known, [0.25, 0.5, 0.75])
    reach = _WHISKER_RANGES * (high - low)
    inside = known[(known >= low - reach) & (known <= high + reach)]
    return Box(
        low_whisker=float(inside.min()),
        low_quartile=float(low),
        median=float(middle),
        high_quartile=float(high),
        high_whisker=float(inside.max()),
        beyond=len(known) - len(inside),
    )


def _relative_errors(truth: FloatArray, release: FloatArray) -> FloatArray:
    """Returns errors relative to the truth or to the sanity bound, whichever is larger."""
    totals = truth.sum(axis=1, keepdims=True)
    least = np.where(totals > 0, SANITY_SHARE * totals, np.nan)
    return np.asarray(np.abs(release - truth) / np.maximum(truth, least))


def _correlations(truth: FloatArray, release: FloatArray) -> FloatArray:
    ours, our_length = _directions(release)
    theirs, their_length = _directions(truth)
    found = np.asarray(np.clip((ours * theirs).sum(axis=1), -1.0, 1.0))
    found[our_length == 0] = 0.0
    found[their_length == 0] = np.nan
    return found


def _directions(series: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Returns each series less its mean, of length 1, and its length before; 0 if constant."""
    around = series - series.mean(axis=1, keepdims=True)
    lengths = np.sqrt((around**2).sum(axis=1))
    lengths[lengths <= _CONSTANT * np.sqrt((series**2).sum(axis=1))] = 0.0
    return around / np.where(lengths > 0, lengths, 1.0)[:, None], lengths


def _mean(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


# A city of 989 areas needs some thousands of pivots; only a broken problem needs this many.
_MOST_PIVOTS = 100_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Transport:
    """The cheapest way to turn one distribution into another, with its proof.

    Attributes:
        cost: Metres that the average unit of mass moves.
        potential: A height for each area that nowhere falls faster than 1 per metre. The mean
            height of the first distribution less that of the second is at most the cost of any
            transport; here it equals `cost`, so no transport is cheaper.
    """

    cost: float
    potential: FloatArray


def earth_movers(truth: FloatArray, release: FloatArray, distance: FloatArray) -> float:
    """Returns the earth mover's distance of two spatial distributions in metres, exactly.

    Both are scaled to sum to 1. If one of them has no mass there is no distribution: NaN.
    """
    if not (truth.any() and release.any()):
        return float("nan")
    return transport(truth, release, distance).cost


def weekly_earth_movers(
    truth: FloatArray,
    release: FloatArray,
    centres: FloatArray,
    *,
    hours: Sequence[int] | None = None,
    progress: Progress,
) -> FloatArray:
    """Returns the earth mover's distance of every hour; NaN where an hour has no mass.

    Args:
        truth: Mass by (area, hour).
        release: Mass by (area, hour).
        centres: Centre (x, y) of each area in metres.
        hours: Which hours to compare, in this order; all if left out.
    """
    distance = cdist(centres, centres)
    chosen = range(truth.shape[1]) if hours is None else hours
    found = np.empty(len(chosen))
    for done, hour in enumerate(chosen):
        progress("earth mover's distance", done / len(chosen))
        found[done] = earth_movers(truth[:, hour], release[:, hour], distance)
    return found


def transport(source: FloatArray, target: FloatArray, distance: FloatArray) -> Transport:
    """Returns the cheapest transport of one distribution into another.

    Only what one has more than the other is moved. Proof: let an area take in mass from i and give
    out mass to j; sending it from i to j at once costs no more, by the triangle inequality, and
    leaves what the area holds as it was. So some cheapest transport has no area that does both,
    and in it min(p, q) stays in every area, for free.

    Raises:
        DataError: A mass is negative, missing or infinite, or all are 0, or the solver gave up.
    """
    surplus = _distribution(source) - _distribution(target)
    giving, taking = np.flatnonzero(surplus > 0), np.flatnonzero(surplus < 0)
    if len(giving) == 0 or len(taking) == 0:
        return Transport(cost=0.0, potential=np.zeros(len(surplus)))
    given, taken = surplus[giving], -surplus[taking]
    # The two sums differ by rounding only; the solver wants them equal.
    moved = given.sum()
    cost, heights = _solve(given / moved, taken / taken.sum(), distance[np.ix_(giving, taking)])
    # The lowest of cones stands for heights everywhere: none of them is steeper than 1 per metre.
    potential = (distance[:, taking] - heights).min(axis=1)
    return Transport(cost=float(moved * cost), potential=potential)


def _solve(given: FloatArray, taken: FloatArray, distance: FloatArray) -> tuple[float, FloatArray]:
    """Returns the least cost, and the duals of those that take."""
    with warnings.catch_warnings():
        # What the solver would warn of is in its log, and an error here; besides, its source warns
        # of itself when it is compiled.
        warnings.simplefilter("ignore")
        try:
            from ot.lp import emd2
        except ImportError:
            raise HushwayError(
                "The earth mover's distance needs the library POT, which is not installed.",
                advice='Install it: pip install "hushway[studies]"',
            ) from None

        cost, log = emd2(
            given, taken, np.ascontiguousarray(distance), numItermax=_MOST_PIVOTS, log=True
        )
    if log["warning"] is not None:
        raise DataError(
            "The earth mover's distance was not found: the solver gave up before the optimum.",
            advice="Check that distances are finite metres, or compare fewer areas.",
        )
    return float(cost), np.asarray(log["v"], dtype=np.float64)


def _distribution(mass: FloatArray) -> FloatArray:
    if not np.isfinite(mass).all() or (mass < 0).any() or not mass.any():
        raise DataError(
            "Masses must be finite numbers, not below 0 and not all 0.",
            advice="Cut negative counts off at 0 before comparing distributions.",
        )
    return np.asarray(mass / mass.sum())
