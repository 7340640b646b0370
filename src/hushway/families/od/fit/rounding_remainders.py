"""Largest remainders inside groups: which cells are rounded up once a group's total is known."""

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.numerics.compiled import compiled

# A fit lowers all cells of a group by the same amount, so their fractions are mostly one and the
# same number up to the last bits of a float. Those bits must not decide who is rounded up.
_FRACTIONS = float(1 << 32)


def share_remainders(
    values: FloatArray, groups: IntArray, totals: IntArray
) -> tuple[IntArray, bool]:
    """Rounds up the cells with the largest fractions; says whether all totals were reached."""
    rounded, missing, start = _rounded_down(values, groups, totals)
    cells, lacks, mixed = _fractional_cells(values, rounded, groups, start)
    # Sorting is left out where it would change nothing, which is nearly everywhere after a fit.
    places = np.flatnonzero(mixed[groups[cells]])
    order = places[np.lexsort((lacks[places], groups[cells[places]]))]
    cells[places], lacks[places] = cells[order], lacks[order]
    return rounded, _round_up(rounded, cells, lacks, start, missing)


@compiled
def _rounded_down(
    values: FloatArray, groups: IntArray, totals: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Returns the floors, what each group then lacks, and room for its cells that are not whole."""
    rounded = np.empty(len(values), dtype=np.int64)
    missing = totals.astype(np.int64)
    start = np.zeros(len(totals) + 1, dtype=np.int64)
    for cell in range(len(values)):
        rounded[cell] = int(values[cell])
        missing[groups[cell]] -= rounded[cell]
        start[groups[cell] + 1] += values[cell] > rounded[cell]
    return rounded, missing, np.cumsum(start)


@compiled
def _fractional_cells(
    values: FloatArray, rounded: IntArray, groups: IntArray, start: IntArray
) -> tuple[IntArray, IntArray, BoolArray]:
    """Lists the cells that are not whole group by group, in their order.

    Also returns how much each lacks, and which groups have cells that lack different amounts.
    """
    cells = np.empty(start[-1], dtype=np.int64)
    lacks = np.empty(start[-1], dtype=np.int64)
    mixed = np.zeros(len(start) - 1, dtype=np.bool_)
    end = start.copy()
    for cell in range(len(values)):
        if values[cell] > rounded[cell]:
            group = groups[cell]
            lack = int(np.rint((1 - (values[cell] - rounded[cell])) * _FRACTIONS))
            cells[end[group]], lacks[end[group]] = cell, lack
            mixed[group] |= lack != lacks[start[group]]
            end[group] += 1
    return cells, lacks, mixed


@compiled
def _round_up(
    rounded: IntArray, cells: IntArray, lacks: IntArray, start: IntArray, missing: IntArray
) -> bool:
    """Rounds up as many cells of each group as are missing; says if there are enough.

    Those that lack least come first. Of cells that lack the same, only some of which can be rounded
    up, every so manieth is: the first ones would all belong to the same few origins.
    """
    reached = True
    for group in range(len(missing)):
        fractional = start[group + 1] - start[group]
        reached &= 0 <= missing[group] <= fractional
        if not 0 < missing[group] <= fractional:
            continue
        here = lacks[start[group] : start[group + 1]]
        edge = here[missing[group] - 1]
        first = np.searchsorted(here, edge, side="left")
        ties = np.searchsorted(here, edge, side="right") - first
        chosen = missing[group] - first
        for place in range(first):
            rounded[cells[start[group] + place]] += 1
        for tie in range(ties):
            if (tie + 1) * chosen // ties > tie * chosen // ties:
                rounded[cells[start[group] + first + tie]] += 1
    return reached
