"""Counts of all records, from counts of those within a limit and sums of those beyond it.

What is left out of a cell is a share of what counted there. Shares differ between places and
periods: measured sums tell by how much, each believed as far as its noise allows (empirical Bayes),
and cells are scaled to all of them in turn (raking). A histogram of records tells the whole.

Privacy:
    Everything here is computed from noisy values: post-processing.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.release.contribution.crowd import Crowd
from hushway.release.contribution.limits import CELLS_DIFFER, Limits

_SWEEPS: Final = 3
_NOTHING: Final = 1e-9
# Shares of groups are taken to differ by at least so much, as a variance in parts of the share.
_LEAST_SPREAD: Final = 1e-3
# Cells of the same groups differ by so much of what groups differ by.
_WITHIN_GROUPS: Final = 0.25


@dataclass(frozen=True, kw_only=True, eq=False)
class LeftOutSums:
    """Noisy sums of records beyond the limit.

    Attributes:
        element: The sum that each cell lies in.
        values: The noisy sums.
        variance: The variance of their noise.
    """

    element: IntArray
    values: FloatArray
    variance: float


@dataclass(frozen=True, kw_only=True)
class LeftOutTotal:
    """The noisy sum of all records beyond the limit.

    Attributes:
        value: The sum.
        variance: The variance of its noise.
        limit: Up to which rank it counts them.
    """

    value: float
    variance: float
    limit: int


@dataclass(frozen=True, kw_only=True, eq=False)
class _Group:
    """What is known of the shares of one grouping: the variance of each, in parts of the share."""

    element: IntArray
    unknown: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Completion:
    """What to add to cells that were counted within a limit, and how sure that is.

    Attributes:
        added: Records to add to each cell.
        sampling: The variance in each cell that comes from who was counted by chance.
        whole: By how much each cell is off if all that is added is off by its standard deviation.
        differ: How much cells of the same groups differ, as a variance in parts of what is added.
    """

    added: FloatArray
    sampling: FloatArray
    whole: FloatArray
    differ: float
    groups: tuple[_Group, ...]

    def cell_variance(self) -> FloatArray:
        """Returns the variance that completion adds to each cell."""
        relative = self.differ + sum(group.unknown[group.element] for group in self.groups)
        return np.asarray(self.sampling + self.whole**2 + self.added**2 * relative)

    def sum_variance(self, element: IntArray, size: int) -> FloatArray:
        """Returns the variance that completion adds to each sum of cells.

        An error in the share of a group goes into all of its cells alike. What is added to all
        cells together is told by itself, so what one sum got too much is missing from others.
        """
        alone = self.sampling + self.differ * self.added**2
        found = added_up(element, alone, size)
        with_all = found.copy()
        for group in self.groups:
            both = element.astype(np.int64) * len(group.unknown) + group.element
            pairs, which = np.unique(both, return_inverse=True)
            added = added_up(which, self.added, len(pairs))
            sums, groups = np.divmod(pairs, len(group.unknown))
            found += added_up(sums, added**2 * group.unknown[groups], size)
            of_all = group.unknown * added_up(group.element, self.added, len(group.unknown))
            with_all += added_up(sums, added * of_all[groups], size)
        shared_out = found - with_all**2 / max(float(with_all.sum()), _NOTHING)
        return np.asarray(np.maximum(shared_out, 0.0) + added_up(element, self.whole, size) ** 2)


def completion_of(
    means: FloatArray,
    left: Sequence[LeftOutSums],
    crowd: Crowd,
    limits: Limits,
    total: LeftOutTotal | None = None,
) -> Completion:
    """Returns what completes some cells.

    Args:
        means: Estimated records within the limit, by cell.
        left: Noisy sums beyond it, over partitions of the cells.
        crowd: How many records people have.
        limits: The limits.
        total: The one sum of all that is left out, which reaches further, if it was asked for.
    """
    counted = np.maximum(means, 0.0)
    within, within_variance = _within_sums(left, crowd, limits)
    told = [_with_those_beyond((within, within_variance), crowd, limits.sums)]
    if total is not None:
        told.append(_with_those_beyond((total.value, total.variance), crowd, total.limit))
    whole, variance = _weighted(told)
    sums = [_scaled(one, whole / max(within, _NOTHING)) for one in left]
    added = counted * whole / max(float(counted.sum()), _NOTHING)
    spreads = [_spread(one, added) for one in sums]
    # What is believed of sums is said once: told again in every sweep it would be believed more.
    targets = [_target(one, added, spread) for one, spread in zip(sums, spreads, strict=True)]
    for _ in range(_SWEEPS):
        for one, target in zip(sums, targets, strict=True):
            added = added * (target / np.maximum(_summed(one, added), _NOTHING))[one.element]
        added *= whole / max(float(added.sum()), _NOTHING)
    # One grouping says little of cells. Of what several say, half goes to their crossings.
    differ = _WITHIN_GROUPS / 2 * max(spreads) if len(sums) > 1 else CELLS_DIFFER
    return Completion(
        added=added,
        sampling=_sampling(counted, added, crowd, limits),
        whole=_whole_error(
            counted, added, variance, crowd.hidden(limits.cells, float(counted.sum()))
        ),
        differ=differ,
        groups=(
            *(
                _Group(element=one.element, unknown=spread * (1 - _trust(one, added, spread)))
                for one, spread in zip(sums, spreads, strict=True)
            ),
            *_crossings(sums, differ),
        ),
    )


def _whole_error(
    counted: FloatArray, added: FloatArray, variance: float, hidden: float
) -> FloatArray:
    """Returns each cell's part of the standard deviation of all that is added.

    People whom noise hides may have twice what was counted of them; `hidden` is their part.
    """
    follows = added if added.any() else counted
    seen = follows * math.sqrt(variance) / max(float(follows.sum()), _NOTHING)
    return np.asarray(hidden * counted + (1 - hidden) * seen)


def _sampling(counted: FloatArray, added: FloatArray, crowd: Crowd, limits: Limits) -> FloatArray:
    """Returns the variance of completed cells that comes from who was counted by chance.

    People with different numbers of records stand for different numbers of them, mostly several
    times in a cell. If all have as many, chance still decides which of theirs count.
    """
    unequal = counted * crowd.weight_variance(limits.cells) * (1 + limits.cells) / 2
    thinned = added * crowd.records / max(crowd.counted(limits.cells), _NOTHING)
    return np.asarray(np.maximum(unequal, thinned))


def _crossings(sums: Sequence[LeftOutSums], differ: float) -> Iterator[_Group]:
    """Yields crossings of two groupings, which differ from what both say by a variance in parts."""
    pairs = list(combinations(sums, 2))
    for one, other in pairs:
        width = len(other.values)
        crossed, element = np.unique(one.element * width + other.element, return_inverse=True)
        yield _Group(element=element, unknown=np.full(len(crossed), differ / len(pairs)))


def _within_sums(left: Sequence[LeftOutSums], crowd: Crowd, limits: Limits) -> tuple[float, float]:
    """Returns how many records beyond the limit sums could count, and the variance of that.

    The histogram tells it, and so does every partition, added up.
    """
    ranks = limits.cells, limits.sums
    told = [(crowd.left_out(*ranks), crowd.left_out_variance(*ranks))]
    told += [(max(float(one.values.sum()), 0.0), one.variance * len(one.values)) for one in left]
    return _weighted(told)


def _with_those_beyond(
    within: tuple[float, float], crowd: Crowd, limit: int
) -> tuple[float, float]:
    """Returns all left-out records by those within a limit of sums, and the variance of that."""
    value, variance = within
    return max(value, 0.0) + crowd.beyond(limit), variance + crowd.beyond_variance(limit)


def _weighted(told: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Returns what several values with their variances tell together."""
    weights = np.array([1 / max(variance, _NOTHING) for _, variance in told])
    values = np.array([value for value, _ in told])
    return float(weights @ values / weights.sum()), float(1 / weights.sum())


def _scaled(one: LeftOutSums, scale: float) -> LeftOutSums:
    """Scales sums by the records that not even they could count."""
    return LeftOutSums(
        element=one.element, values=one.values * scale, variance=one.variance * scale**2
    )


def _spread(one: LeftOutSums, added: FloatArray) -> float:
    """Returns by how much shares differ between groups, as a variance in parts (moments)."""
    expected = _summed(one, added)
    excess = float(np.sum((one.values - expected) ** 2)) - one.variance * len(expected)
    return max(excess / max(float(expected @ expected), _NOTHING), _LEAST_SPREAD)


def _target(one: LeftOutSums, added: FloatArray, spread: float) -> FloatArray:
    """Returns sums between what is expected and what was measured, as far as that is believed."""
    expected = _summed(one, added)
    believed = expected + _trust(one, added, spread) * (one.values - expected)
    return np.asarray(np.maximum(believed, 0.0))


def _trust(one: LeftOutSums, added: FloatArray, spread: float) -> FloatArray:
    own = spread * _summed(one, added) ** 2
    return np.asarray(own / (own + one.variance + _NOTHING))


def _summed(one: LeftOutSums, added: FloatArray) -> FloatArray:
    return added_up(one.element, added, len(one.values))


def added_up(element: IntArray, values: FloatArray, size: int) -> FloatArray:
    """Adds up values over the element that each lies in."""
    return np.bincount(element, weights=values, minlength=size).astype(np.float64, copy=False)
