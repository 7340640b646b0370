"""How much of each period of the day the series leaves out, from noisy sums of that.

Of busy people the series has a part, and they are busier at some hours than at others.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from hushway.arrays import FloatArray
from hushway.families.density.fit.activity import Activity
from hushway.families.density.fit.scaling import Levels, crowding_of
from hushway.families.density.fit.totals import Answers, Noisy
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
    bins, left, activity = shapes.shape[1], answers.left_out, levels.activity
    if left is None or activity is None or _is_noise(left, activity, limits):
        crowding = crowding_of(shapes, levels, limits)
        return PeriodScale(np.ones(bins), (crowding - 1) ** 2)
    parts = len(left.values)
    counted = (levels.totals.clusters @ shapes).reshape(-1, parts).sum(axis=0)
    done = completion_of(
        counted,
        [LeftOutSums(element=np.arange(parts), values=left.values, variance=left.variance)],
        Crowd(ladder=ACTIVITY, noisy=activity.classes.tolist(), variance=activity.noise),
        Limits(cells=limits.max_visits, sums=limits.max_visits_in_total, share=Fraction(0)),
    )
    whole = np.maximum(counted + done.added, 1e-9)
    value = whole / np.maximum(counted, 1e-9) * (counted.sum() / whole.sum())
    (group,) = done.groups
    variance = (done.added / whole) ** 2 * group.unknown
    return PeriodScale(np.tile(value, bins // parts), np.tile(variance, bins // parts))


def _is_noise(left: Noisy, activity: Activity, limits: VisitLimits) -> bool:
    """Whether a mean sum of what is left out is below its noise."""
    counted = np.minimum(activity.typical, limits.max_visits)
    held = np.minimum(activity.typical, limits.max_visits_in_total)
    expected = float(activity.classes @ np.maximum(held - counted, 0.0)) / len(left.values)
    return expected**2 < left.variance
