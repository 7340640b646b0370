"""Sums over a published OD table, with the noise they carry."""

import numpy as np

from hushway.arrays import IntArray
from hushway.families.od.mechanism.table import ODTable
from hushway.release.sums import Sums


def sums_by_period(table: ODTable) -> Sums:
    """Returns the trips of every period."""
    universe = table.universe
    return _sums(table, table.cells // universe.pairs, len(universe.periods), universe.pairs)


def sums_by_pair(table: ODTable) -> Sums:
    """Returns the trips of every pair of places over all periods; the key is a cell of period 0."""
    pairs, periods = table.universe.pairs, len(table.universe.periods)
    keys = table.cells % pairs
    if pairs <= 4 * len(keys):
        return _sums(table, keys, pairs, periods)
    # Few rows in a vast universe: number only the pairs that have a row.
    seen, positions = np.unique(keys, return_inverse=True)
    sums = _sums(table, positions, len(seen), periods)
    return Sums(keys=seen, totals=sums.totals, standard_errors=sums.standard_errors)


def _sums(table: ODTable, keys: IntArray, size: int, cells_each: int) -> Sums:
    totals = np.bincount(keys, weights=table.counts, minlength=size).astype(np.float64)
    variances = np.bincount(keys, weights=table.standard_errors**2, minlength=size).astype(
        np.float64
    )
    if table.zeros_left_out:
        # The cells that came out as 0 were measured with the same noise as their neighbours.
        rows = np.bincount(keys, minlength=size)
        variances *= cells_each / np.maximum(rows, 1)
    return Sums(keys=np.arange(size), totals=totals, standard_errors=np.sqrt(variances))
