"""Counts that the bound has left out, put back: all post-processing.

A person with more items than count is missing from some links, and most from those that people
with long ways use. What was left out is measured link by link, by weight, with noise of its own. On
busy links that tells what is missing. Elsewhere the noise is larger than what is missing, and the
share that is missing from the class and zone, from the class or from all links tells it better.
Each is believed as far as noisy numbers say that links differ from each other.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.public.left_out import WEIGHTS
from hushway.privacy.measured import Measured

# What is usually missing by one weight, in parts of all that counted. Where noise hides more than
# that, so much is taken to be unknown.
_USUAL: Final = 0.2
# By how much shares usually differ between links of a group, groups of a class and classes, in
# parts of the share; and the least part of that, as a variance, whatever noisy numbers say.
_VARIATION: Final = 0.25
_LEAST_VARIANCE: Final = 0.05
# Who has far more items than count drives for others, and more on some links of a group than on
# others.
_VARIATION_OF_MANY: Final = 0.4
# Shares of few people differ more than those of many, so how much is told for each size by itself.
_SIZES: Final = (100.0, 300.0, 1000.0, 3000.0, 10_000.0)
# In persons: keeps what is measured without noise, in tests, from dividing by 0.
_LEAST_NOISE: Final = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class LeftOut:
    """What was measured beyond the bound.

    Attributes:
        cells: By `LeftOutCells`.
        classes: By `LeftOutClasses`.
    """

    cells: Measured
    classes: Measured


@dataclass(frozen=True, kw_only=True, eq=False)
class Nesting:
    """In which class, and in which group of that class, each cell lies.

    Attributes:
        kind: Class of each cell, as `LeftOutClasses` numbers them.
        group: Its group, as `ClassZones` numbers them.
    """

    kind: IntArray
    group: IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Completed:
    """Noisy counts with what was left out of them.

    Attributes:
        counts: Persons by cell.
        variance: Variance of each, as far as cells err by themselves.
        together: The rest of its variance, which cells that lie together have in common: the same
            people drive on them, and the same shares are missing.
        share: Of each group, persons that are missing for each that counted.
        share_variance: Variance of each.
    """

    counts: FloatArray
    variance: FloatArray
    together: FloatArray
    share: FloatArray
    share_variance: FloatArray


def as_counted(items: Measured, groups: int) -> Completed:
    """Returns the noisy counts as they are, where nobody asked what was left out of them."""
    counts = items.values.astype(np.float64)
    nothing = np.zeros(groups)
    return Completed(
        counts=counts,
        variance=np.full(len(counts), float(items.variance)),
        together=np.zeros(len(counts)),
        share=nothing,
        share_variance=nothing,
    )


def completed(items: Measured, left: LeftOut, nesting: Nesting) -> Completed:
    """Puts back what was left out.

    Args:
        items: Noisy counts of all cells.
        left: What was measured of the rest.
        nesting: Classes and groups of the cells.
    """
    ground = _Ground(
        counts=items.values.astype(np.float64), noise=float(items.variance), nesting=nesting
    )
    noise = float(left.cells.variance), float(left.classes.variance)
    missing = [
        _missing(
            ground,
            _Told(weight=weight, cells=cells, classes=classes, noise=noise[0], sum_noise=noise[1]),
        )
        for weight, cells, classes in zip(
            WEIGHTS,
            left.cells.values.reshape(len(WEIGHTS), -1).astype(np.float64),
            left.classes.values.reshape(len(WEIGHTS), -1).astype(np.float64),
            strict=True,
        )
    ]
    return Completed(
        counts=ground.counts + sum(one.weight * one.counts for one in missing),
        variance=_variance(ground, missing),
        together=np.asarray(sum(one.weight**2 * one.together for one in missing)),
        share=np.maximum(sum(one.weight * one.shares.mean for one in missing), 0.0),
        share_variance=np.asarray(sum(one.weight**2 * one.shares.variance for one in missing)),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Ground:
    """What was counted, with the variance of its noise, in its classes and groups."""

    counts: FloatArray
    noise: float
    nesting: Nesting


@dataclass(frozen=True, kw_only=True, eq=False)
class _Told:
    """What was measured of one weight, by cell and by class, with the variances of the noise."""

    weight: int
    cells: FloatArray
    classes: FloatArray
    noise: float
    sum_noise: float


@dataclass(frozen=True, kw_only=True, eq=False)
class _Shares:
    """How much is missing for each that counted, and the variance of that."""

    mean: FloatArray
    variance: FloatArray

    def of(self, places: IntArray) -> "_Shares":
        return _Shares(mean=self.mean[places], variance=self.variance[places])


@dataclass(frozen=True, kw_only=True, eq=False)
class _Missing:
    """What is missing by cell, of one weight.

    Attributes:
        weight: How many each stands for.
        counts: Best guess, before it is weighted.
        trust: How much of the cell's own noisy number is in it.
        leaning: By how much it moves with the count that it is missing from.
        variance: Variance of the cell's own noise in it.
        together: Variance of how shares differ, which neighbours have in common.
        shares: By group.
    """

    weight: int
    counts: FloatArray
    trust: FloatArray
    leaning: FloatArray
    variance: FloatArray
    together: FloatArray
    shares: _Shares


def _missing(ground: _Ground, told: _Told) -> _Missing:
    by_group = _group_shares(ground, told)
    shares = by_group.of(ground.nesting.group)
    own, counted = shares.mean, np.maximum(ground.counts, 0.0)
    apart = told.cells - own * ground.counts
    noise = np.maximum(told.noise + own**2 * ground.noise, _LEAST_NOISE)
    # Which of a person's items count is a draw, even where all links lose the same share.
    drawn = np.maximum(own, 0.0) * counted
    differ = _differ_by_size(
        ground,
        apart,
        noise + (1 + own) * drawn,
        own,
        _VARIATION if told.weight == 1 else _VARIATION_OF_MANY,
    )
    weight = told.weight
    # What makes the variance of whole counts least, as far as it is about this weight alone.
    trust = (differ + drawn / weight) / (noise + differ + drawn)
    # Which people are on a link is chance, too.
    differ = differ + drawn / (1 + weight)
    doubt = 1 - trust
    return _Missing(
        weight=weight,
        counts=own * ground.counts + trust * apart,
        trust=trust,
        leaning=own * doubt,
        variance=trust**2 * told.noise,
        together=doubt**2 * (differ + counted**2 * shares.variance),
        shares=by_group,
    )


def _variance(ground: _Ground, missing: list[_Missing]) -> FloatArray:
    """Returns the variance of whole counts: of noise, and of the draw.

    Somebody with 1 + w times the items that count is on a link, and counts there with a chance of
    one in 1 + w, or else stands for w others there with the same chance, or is not seen there.
    """
    leaning = 1 + sum(one.weight * one.leaning for one in missing)
    variance = leaning**2 * ground.noise
    for one in missing:
        stands = one.weight * one.trust
        draw = leaning**2 + stands**2 - (leaning + stands) ** 2 / (1 + one.weight)
        variance = variance + one.weight**2 * one.variance + draw * np.maximum(one.counts, 0.0)
    return np.asarray(variance)


def _group_shares(ground: _Ground, told: _Told) -> _Shares:
    """Returns the shares of all groups: from all cells to classes, and from these to groups."""
    kind, group = ground.nesting.kind, ground.nesting.group
    kinds, groups = len(told.classes), int(group.max()) + 1
    counted = _summed(kind, kinds, ground.counts)
    by_class = _nearer(
        _common_share(told, float(counted.sum())).of(np.zeros(kinds, dtype=np.int64)),
        counted,
        told.classes,
        np.full(kinds, told.sum_noise),
        _summed(kind, kinds) * ground.noise,
    )
    class_of = np.zeros(groups, dtype=np.int64)
    class_of[group] = kind
    size = _summed(group, groups)
    return _nearer(
        by_class.of(class_of),
        _summed(group, groups, ground.counts),
        _summed(group, groups, told.cells),
        size * told.noise,
        size * ground.noise,
    )


def _summed(group: IntArray, groups: int, numbers: FloatArray | None = None) -> FloatArray:
    """Returns the sums of numbers by group; how many there are without numbers."""
    return np.bincount(group, numbers, minlength=groups).astype(np.float64)


def _common_share(told: _Told, counted: float) -> _Shares:
    """Returns the share of all cells together, drawn towards none as far as noise may be all."""
    if counted <= 0:
        return _Shares(mean=np.zeros(1), variance=np.zeros(1))
    usual = (_USUAL / told.weight) ** 2
    noise = len(told.classes) * told.sum_noise / counted**2
    believed = usual / (usual + noise)
    share = believed * float(told.classes.sum()) / counted
    return _Shares(mean=np.array([share]), variance=np.array([believed * noise]))


def _nearer(
    expected: _Shares,
    counted: FloatArray,
    missing: FloatArray,
    noise: FloatArray,
    counted_noise: FloatArray,
) -> _Shares:
    """Returns shares nearer to what was measured, as far as they differ from the expected ones."""
    apart = missing - expected.mean * counted
    noise = np.maximum(noise + expected.mean**2 * counted_noise, _LEAST_NOISE)
    squares = np.maximum(counted**2 - counted_noise, 0.0)
    differ = _differ(apart, noise, squares, expected.mean, _VARIATION)
    trust = differ * counted / (noise + differ * squares)
    doubt = 1 - trust * counted
    return _Shares(
        mean=expected.mean + trust * apart,
        variance=trust**2 * noise + doubt**2 * (differ + expected.variance),
    )


def _differ_by_size(
    ground: _Ground, apart: FloatArray, noise: FloatArray, share: FloatArray, variation: float
) -> FloatArray:
    """Returns by how much cells are off the share that is expected of them, as variances."""
    squares = np.maximum(ground.counts**2 - ground.noise, 0.0)
    size = np.digitize(ground.counts, _SIZES)
    found = np.empty_like(squares)
    for one in range(len(_SIZES) + 1):
        at = size == one
        found[at] = squares[at] * _differ(apart[at], noise[at], squares[at], share[at], variation)
    return found


def _differ(
    apart: FloatArray, noise: FloatArray, squares: FloatArray, share: FloatArray, variation: float
) -> FloatArray:
    """Returns the variance of shares around the expected ones, as noisy differences show it.

    They say little where noise is large. So the answer is drawn towards what is usual by as much.

    Args:
        apart: Differences.
        noise: Their variances if all shares were the expected ones.
        squares: Of counts, which differences of shares grow with.
        share: The share that is expected.
        variation: By how much shares usually differ, in parts of the share.
    """
    # In parts of the share.
    squares = squares * share**2
    usual = variation**2
    # As precise as differences are, if they are as usual.
    weight = squares / (noise + usual * squares) ** 2
    size = float(weight @ squares)
    if size <= 0:
        return usual * share**2
    seen = float(weight @ (apart**2 - noise)) / size
    believed = usual**2 / (usual**2 + 2 / size)
    return max(usual + believed * (seen - usual), _LEAST_VARIANCE * usual) * share**2
