"""Sums of people by period, class and zone that flows must come to: all post-processing.

What noise makes of empty links is above 0 on average once nothing may be negative, and thousands of
them outvote one measured sum. So sums come first, without any bound: what was measured of a group,
and its noisy links added up, each by its variance. Only then nothing may be negative, and whatever
that adds to some is taken from others, by their variances: sums of all links keep what they were,
then those of periods and of groups, then those of groups in periods.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, eye_array, kron, vstack

from hushway.arrays import FloatArray
from hushway.families.links.fit.completion import Completed
from hushway.families.links.fit.newton import Rules, least_squares
from hushway.families.links.public.universe import ClassZones
from hushway.privacy.measured import Measured

# Beginnings and ends of trips are groups of their own, the last two of a period.
ENDS: Final = 2
# What is met may be missed by so much of its variance: rules need some looseness.
MET: Final = 1e-6
# No sum is further than so many of its errors from what was measured of it, and published as such,
# whatever its links say: readers could believe neither.
APART: Final = 2.4


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupSums:
    """Persons by (period, group of `ClassZones`), with what was left out.

    Attributes:
        values: The sums, none negative.
        variance: Variance of each.
        measured_variance: Variance of what was measured of each, without its links; infinite if
            nothing was.
    """

    values: FloatArray
    variance: FloatArray
    measured_variance: FloatArray


def group_sums(
    items: Measured, classes: Measured | None, whole: Completed, groups: ClassZones
) -> GroupSums:
    """Returns the sum of each group: none is negative, and all together are as measured."""
    counted, noise = _as_bounded(items, classes, groups)
    factor = 1 + whole.share
    shape = len(groups.universe.periods), groups.groups
    values, variance = (factor * counted).reshape(shape), (factor**2 * noise).reshape(shape)
    links = slice(0, -ENDS)
    met = np.maximum(values, 0.0)
    met[:, links] = not_negative(values[:, links], variance[:, links])
    unsure = met**2 * (whole.share_variance / factor**2).reshape(shape)
    alone = np.inf if classes is None else float(classes.variance)
    return GroupSums(
        values=met,
        variance=variance + unsure,
        measured_variance=(factor**2 * alone).reshape(shape) + unsure,
    )


def _as_bounded(
    items: Measured, classes: Measured | None, groups: ClassZones
) -> tuple[FloatArray, FloatArray]:
    """Returns sums of persons who count, and their variances."""
    group = groups.of(np.arange(len(items.values)))
    added = np.bincount(group, items.values, minlength=groups.size).astype(np.float64)
    size = np.bincount(group, minlength=groups.size).astype(np.float64)
    noise = size * float(items.variance)
    if classes is None:
        return added, noise
    measured, own = classes.values, float(classes.variance)
    best = (own * added + noise * measured) / (own + noise)
    near = APART * own**0.5
    return np.clip(best, measured - near, measured + near), own * noise / (own + noise)


def not_negative(sums: FloatArray, variance: FloatArray) -> FloatArray:
    """Returns the nearest sums by (period, group) that are not negative and keep their margins."""
    total = np.array([max(float(sums.sum()), 0.0)])
    periods, groups = (
        _onto(sums.sum(axis=axis), variance.sum(axis=axis), np.ones((1, size)), total)
        for axis, size in ((1, len(sums)), (0, sums.shape[1]))
    )
    margins = [
        kron(eye_array(len(periods)), np.ones((1, len(groups)))),
        kron(np.ones((1, len(periods))), eye_array(len(groups))),
    ]
    target = np.concatenate([periods, groups])
    return _onto(sums.ravel(), variance.ravel(), vstack(margins), target).reshape(sums.shape)


def _onto(
    values: FloatArray, variance: FloatArray, matrix: ArrayLike, target: FloatArray
) -> FloatArray:
    """Returns the nearest values, by their variances, that are not negative and add up so."""
    rows = csr_array(matrix)
    rules = Rules(matrix=rows, target=target, looseness=MET * (rows @ variance))
    return least_squares(values / variance, 1 / variance, rules)
