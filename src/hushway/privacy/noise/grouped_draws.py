"""The empty cells that come to light when groups are looked at below their old thresholds.

Hidden empty cells of all groups with the same old and the same new threshold are alike: each holds
noise known to be below the old threshold, and reaches the new one with the same chance p,
independently of all others. Candidates are drawn with the next power of two 2^-k >= p, and each
stays with probability p 2^k; so one binomial number and one uniform subset serve all cells of
similar chance, however many thresholds there are. What a cell shows is the noise law between its
two thresholds.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby

import numpy as np

from hushway.arrays import IntArray
from hushway.privacy.noise.bernoulli import exactly
from hushway.privacy.noise.binomial import binomial
from hushway.privacy.noise.grouped_subsets import uniform_subsets
from hushway.privacy.noise.grouped_window import Window
from hushway.privacy.noise.law import NoiseLaw
from hushway.privacy.randomness import BitSource


def draw_newly_shown(
    law: NoiseLaw, source: BitSource, hidden: IntArray, old: IntArray, new: IntArray
) -> tuple[IntArray, IntArray]:
    """Returns which hidden empty cells come to light, and what they show.

    Args:
        law: The noise.
        source: Random bits.
        hidden: Number of hidden empty cells in each group.
        old: The threshold of each group that all of them are below.
        new: The threshold of each group that is looked at now.

    Returns:
        Ascending numbers of cells, the hidden cells of all groups being numbered through, and
        their values.
    """
    windows, groups = _windows(law, hidden, old, new)
    if not windows:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    cells = [int(hidden[some].sum()) for some in groups]
    candidates = _candidates(source, windows, cells)
    numbers, values = [], []
    pieces = np.split(candidates, np.searchsorted(candidates, np.cumsum(cells)[:-1]))
    for window, piece in zip(windows, pieces, strict=True):
        staying = piece[window.stay(source, len(piece))]
        numbers.append(staying)
        values.append(window.noise(source, len(staying)))
    return _in_order(
        np.concatenate(groups), hidden, np.concatenate(numbers), np.concatenate(values)
    )


def _windows(
    law: NoiseLaw, hidden: IntArray, old: IntArray, new: IntArray
) -> tuple[list[Window], list[IntArray]]:
    """Returns the windows that open, by level, and the groups of each."""
    lower = np.flatnonzero((new < old) & (hidden > 0))
    order = lower[np.lexsort((new[lower], old[lower]))]
    other = (np.diff(old[order]) != 0) | (np.diff(new[order]) != 0)
    groups = np.split(order, np.flatnonzero(other) + 1) if len(order) else []
    found = [(Window(law, int(new[some[0]]), int(old[some[0]])), some) for some in groups]
    found.sort(key=lambda pair: pair[0].level)
    return [window for window, _ in found], [some for _, some in found]


def _candidates(source: BitSource, windows: Sequence[Window], cells: Sequence[int]) -> IntArray:
    """Draws the candidates of all windows, whose cells are numbered through in this order."""
    counts, ranges = [], []
    sized = zip(windows, cells, strict=True)
    for level, together in groupby(sized, key=lambda pair: pair[0].level):
        trials = sum(count for _, count in together)
        counts.append(binomial(source, trials, exactly(Fraction(1, 1 << level))))
        ranges.append(trials)
    return uniform_subsets(source, counts, ranges)


def _in_order(
    groups: IntArray, hidden: IntArray, numbers: IntArray, values: IntArray
) -> tuple[IntArray, IntArray]:
    """Renumbers hidden cells from the given order of groups to their own, and sorts by that.

    A group's cells are one run in both orders, so runs are moved as a whole.
    """
    ends = np.cumsum(hidden[groups])
    run_ends = np.searchsorted(numbers, ends)
    lengths = np.diff(run_ends, prepend=0)
    shift = (np.cumsum(hidden) - hidden)[groups] - (ends - hidden[groups])
    target_ends = np.empty_like(run_ends)
    order = np.argsort(groups)
    target_ends[order] = np.cumsum(lengths[order])
    target = np.arange(len(numbers)) + np.repeat(target_ends - run_ends, lengths)
    sorted_numbers, sorted_values = np.empty_like(numbers), np.empty_like(values)
    sorted_numbers[target] = numbers + np.repeat(shift, lengths)
    sorted_values[target] = values
    return sorted_numbers, sorted_values
