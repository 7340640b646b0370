"""How far a published density is from the truth, cell by cell and bin by bin.

The figures are those of the KDD 2014 paper: mean relative error with a sanity bound, Pearson's
correlation, their spread over the cells, and the error by the hour.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray
from hushway.errors import DataError
from hushway.privacy.measured import Internal

# A count below this share of its cell's total is as good as the share itself: section 3.3.
SANITY_SHARE: Final = 0.001

_WHISKER_RANGES = 1.5
# Rounding errors of a constant series stay far below this share of its size.
_CONSTANT = 1e-12


@dataclass(frozen=True, kw_only=True)
class Box:
    """The numbers of a box plot.

    Attributes:
        low_whisker: The smallest value not further than 1.5 boxes below the box.
        low_quartile: Where the box begins.
        median: The line in the box.
        high_quartile: Where the box ends.
        high_whisker: The largest value not further than 1.5 boxes above the box.
        beyond: How many values lie outside the whiskers.
    """

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
        empty_cells: Number of cells whose true total is 0.
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
            "A density can only be compared with one of the same cells and bins.",
            advice="Give two tables of (cell, bin) over the same universe.",
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
