"""How much of each period of the day the series leaves out, from noisy sums of that.

Of busy people the series has a part, and they are busier at some hours than at others.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from hushway.arrays import FloatArray
from hushway.families.density.fit.scaling import Levels, crowding_of
from hushway.families.density.fit.totals import Answers
from hushway.families.density.public.visits import ACTIVITY, VisitLimits
from hushway.release.contribution.completion import LeftOutSums, completion_of
from hushway.release.contribution.crowd import Crowd
from hushway.release.contribution.limits import Limits


class PeriodScale(NamedTuple):
    """All visits of each bin over counted ones, beside the mean of that, and relative variances."""

    value: FloatArray
    variance: FloatArray


def period_scale(
    shapes: FloatArray, answers: Answers, levels: Levels, limits: VisitLimits
) -> PeriodScale:
    """Returns by what factors bins are to be scaled, and how sure that is.

    Args:
        shapes: Series of clusters that sum to 1.
        answers: What was measured.
        levels: Totals of clusters.
        limits: How much of a person counts.
    """
    bins, left, activity = shapes.shape[1], answers.left_out, answers.activity
    if left is None or activity is None:
        crowding = crowding_of(shapes, levels, limits)
        return PeriodScale(np.ones(bins), (crowding - 1) ** 2)
    parts = len(left.values)
    counted = (levels.totals.clusters @ shapes).reshape(-1, parts).sum(axis=0)
    done = completion_of(
        counted,
        [LeftOutSums(element=np.arange(parts), values=left.values, variance=left.variance)],
        Crowd(ladder=ACTIVITY, noisy=activity.values.tolist(), variance=activity.variance),
        Limits(cells=limits.max_visits, sums=limits.max_visits_in_total, share=Fraction(0)),
    )
    whole = np.maximum(counted + done.added, 1e-9)
    value = whole / np.maximum(counted, 1e-9) * (counted.sum() / whole.sum())
    (group,) = done.groups
    variance = (done.added / whole) ** 2 * group.unknown
    return PeriodScale(np.tile(value, bins // parts), np.tile(variance, bins // parts))
