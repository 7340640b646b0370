"""What the OD family publishes: a table of whole trip counts with standard errors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hushway.geography.od import IntArray, ODCells


@dataclass(frozen=True, kw_only=True)
class ODTable:
    """Published trips by (period, origin, destination). Safe for anyone to see.

    Attributes:
        universe: The public cells. cells: Ascending cell numbers of the rows. counts: Published
        count of each row, never negative. standard_errors: Standard deviation of the noise in each
        row, in trips. threshold: If only cells measured at or above a threshold are rows, that
        threshold; a cell without a row
            was measured below it. None when every cell of the universe is a row.
    """

    universe: ODCells
    cells: IntArray
    counts: IntArray
    standard_errors: NDArray[np.float64]
    threshold: int | None
