"""Controlled rounding: whole numbers whose sums are rounded too.

Rounding every cell to the nearest whole number moves sums over many cells a long way. Here every
cell, every group and every element of every margin becomes the floor or the ceiling of its own real
value, all at once (Cox 1987). First the group totals are rounded, as a flow; then the cells of each
group share its total by largest remainders.

Real values are sums of floats, so a value as near to a whole number as 1e-6 counts as that number
(nearer if there are more than 125,000 sums; see `_tolerance`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushway.arrays import BoolArray, FloatArray, Int32Array, IntArray
from hushway.errors import ReleaseError
from hushway.families.od.fit.rounding.cycle_cancelling import FLOW, ONE, cancel_cycles
from hushway.families.od.fit.rounding.network import (
    GroupedMargin,
    grouped_margin,
    network_of,
    sums_over,
)
from hushway.numerics.compiled import compiled

_NEAR = 1e-6
# From here on floats are whole, and the sums of a few no longer fit into 64 bits.
_TOO_LARGE = 2.0**53


@dataclass(frozen=True, kw_only=True, eq=False)
class RoundedTotals:
    """Whole group totals, and how far the rounding moved what.

    Attributes:
        totals: The floor or the ceiling of each group's real total.
        shifts: For each margin, the largest distance of an element from its real value.
        group_shift: The largest distance of a group from its real total.
        exact: Whether every element of every margin is the floor or the ceiling of its real value.
            Two chains of margins that refine one another always are; a third may not be.
    """

    totals: IntArray
    shifts: tuple[float, ...]
    group_shift: float
    exact: bool


def round_totals(totals: FloatArray, elements: Sequence[IntArray | Int32Array]) -> RoundedTotals:
    """Rounds group totals up or down so that the sums of every margin are rounded up or down.

    The margins are exact if they can be split into two chains in which each refines the one before
    it. Otherwise the two chains with the most elements are exact, and the others are kept near
    their real values as far as a choice is left. `elements` has the element of each group for every
    margin.

    Raises:
        ReleaseError: A total is negative or not a number, or the lengths differ.
    """
    _check_values(totals)
    if any(len(element) != len(totals) or element.min(initial=0) < 0 for element in elements):
        raise ReleaseError(
            "A margin does not say where every group lies.",
            advice="Give each margin one element, numbered from 0, for each group.",
        )
    rounded, chosen, parts = _split(totals)
    if not len(chosen):
        return RoundedTotals(
            totals=rounded, shifts=(0.0,) * len(elements), group_shift=0.0, exact=True
        )
    partitions = [grouped_margin(element[chosen]) for element in elements]
    tolerance = _tolerance(len(parts) + sum(margin.count for margin in partitions))
    network = network_of(parts, partitions, tolerance)
    cancel_cycles(network.edges, network.lists, network.spans, network.others, network.drift)
    ups = network.flows
    ups[network.groups] = network.edges[len(network.edges) - len(network.groups) :, FLOW]
    rounded[chosen] += ups == ONE
    moved = [_moved(ups - parts, margin, tolerance) for margin in partitions]
    return RoundedTotals(
        totals=rounded,
        shifts=tuple(shift for shift, _ in moved),
        group_shift=float(np.abs(ups - parts).max() / ONE),
        exact=all(exact for _, exact in moved),
    )


def round_cells(values: FloatArray, groups: IntArray, totals: IntArray) -> IntArray:
    """Rounds cells up or down so that each group adds up to its whole total.

    The cells with the largest fractions are rounded up; equal ones are chosen evenly along their
    order, so cells are best given in ascending order.

    Raises:
        ReleaseError: A value is negative or not a number, or a total is out of reach: below the
            sum of the floors, or above that of the ceilings.
    """
    if len(groups) != len(values) or np.any((groups < 0) | (groups >= len(totals))):
        raise ReleaseError(
            "A cell has no group, or its group has no total.",
            advice="Give each cell its group, numbered from 0, and each group its total.",
        )
    _check_values(values)
    rounded, reached = share_remainders(values, groups, totals)
    if not reached:
        raise ReleaseError(
            "A group's total cannot be reached by rounding its cells up or down.",
            advice="Give the totals that round_totals made from the sums of these cells.",
        )
    return rounded


def round_plainly(values: FloatArray) -> IntArray:
    """Rounds every value to the nearest whole number, whatever becomes of sums."""
    return np.rint(values).astype(np.int64)


def _tolerance(sums: int) -> int:
    """Returns how near to a whole number counts as whole, in units of 1 / `ONE`.

    Calling a sum whole puts two vertices out of balance by that much. All of it together must stay
    below a half, so that at the end it can only have been nothing.
    """
    return int(ONE * min(_NEAR, 1 / (8 * (sums + 1))))


def _moved(change: IntArray, margin: GroupedMargin, tolerance: int) -> tuple[float, bool]:
    """Returns the largest shift of a margin's elements, and whether all are floor or ceiling."""
    shift = np.abs(sums_over(change, margin.element, margin.count)).max()
    # A shift and the element's fraction differ by a whole number. Less than one is floor or
    # ceiling; nearly one is an element that counts as whole and went to the next number.
    return float(shift / ONE), bool(shift < ONE - tolerance)


def _check_values(values: FloatArray) -> None:
    if len(values) and not (values.min() >= 0 and values.max() < _TOO_LARGE):
        raise ReleaseError(
            "Only numbers from 0 to 2^53 can be rounded.",
            advice="Fit a table without negative values first.",
        )


@compiled
def _split(values: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
    """Returns whole values below, which values are not whole, and the fractions of these."""
    whole = np.empty(len(values), dtype=np.int64)
    count = 0
    for place in range(len(values)):
        whole[place] = int(values[place])
        count += whole[place] < values[place]
    chosen, parts = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    count = 0
    for place in range(len(values)):
        part = int(np.rint((values[place] - whole[place]) * ONE))
        if part == ONE:
            whole[place] += 1
        elif part > 0:
            chosen[count], parts[count] = place, part
            count += 1
    return whole, chosen[:count], parts[:count]


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
    up, every n-th is: the first ones would all belong to the same few origins.
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


# Margins as a network: which of them can be rounded together, and the edges they become.
#
# Margins that refine one another form a chain, and the elements of a chain a tree. With two trees,
# one that flows apart and one that flows together, every group is an edge from a leaf of the first
# to a leaf of the second, and every element is the edge above its vertex. So each sum is the flow
# of one edge, and whole capacities let the flow be whole (two laminar families: the matrix is
# totally unimodular). The edge that closes the circuit carries the total, which is thereby rounded
# too.
