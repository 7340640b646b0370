"""How far a published OD table is from the truth, cell by cell and sum by sum."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushway.arrays import IntArray
from hushway.families.od.mechanism.table import ODTable
from hushway.families.od.public.features import Feature
from hushway.privacy.internal import Internal
from hushway.privacy.query import ExactCounts


@dataclass(frozen=True, kw_only=True)
class ODErrors:
    """Errors of one release, in trips.

    Attributes:
        cells_rmse: Root mean square error over all cells of the universe: table 2 of the paper.
        busy_cells_mae: Mean absolute error over the cells that hold a trip.
        cells_l1_share: Sum of absolute errors over all cells, as a share of all trips.
        total: Published number of trips.
        margins_mae: Mean absolute error over the elements of each feature, by its title.
    """

    cells_rmse: float
    busy_cells_mae: float
    cells_l1_share: float
    total: float
    margins_mae: dict[str, float]


def od_errors(
    truth: ExactCounts, table: ODTable, features: Sequence[Feature]
) -> Internal[ODErrors]:
    """Compares a table with the exact counts, over the cells and over each feature."""
    cells, error = _difference(truth, table)
    busy = np.isin(cells, truth.cells, assume_unique=True)
    absolute = np.abs(error)
    return Internal(
        ODErrors(
            cells_rmse=float(np.sqrt(np.sum(error.astype(float) ** 2) / table.universe.size)),
            busy_cells_mae=float(absolute[busy].mean()) if busy.any() else 0.0,
            cells_l1_share=float(absolute.sum() / max(1, truth.values.sum())),
            total=float(table.counts.sum()),
            margins_mae={f.title: _margin_mae(f, cells, error) for f in features},
        )
    )


def _difference(truth: ExactCounts, table: ODTable) -> tuple[IntArray, IntArray]:
    """Returns every cell with a trip or a row, and what the table has too much there."""
    cells = np.union1d(truth.cells, table.cells)
    error = np.zeros(len(cells), dtype=np.int64)
    error[np.searchsorted(cells, table.cells)] += table.counts
    error[np.searchsorted(cells, truth.cells)] -= truth.values
    return cells, error


def _margin_mae(feature: Feature, cells: IntArray, error: IntArray) -> float:
    sums = np.zeros(feature.size, dtype=np.int64)
    np.add.at(sums, feature.of(cells), error)
    return float(np.abs(sums).mean())
