"""How large everything is: visits of each cell as the series counts them, and all visits.

The series holds a part of all visits. How many there are in all is measured; of whom and where more
are left out than elsewhere is told by circles of people. Sees noisy numbers only.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.density.fit.activity import Activity, VisitsInAll, known_activity
from hushway.families.density.fit.places import Places, known_places
from hushway.families.density.fit.totals import Answers, Noisy, Totals, fitted_totals
from hushway.families.density.public.visits import DensityUniverse, VisitLimits

# How far beyond 1 a scale usually is, and how many standard deviations noise alone may explain.
_USUAL_BEYOND = 0.5
_BY_CHANCE = 2.0
# Two noisy numbers of the same visits do not differ by more.
_LEAST = 0.1
# Of hidden busy people, this part of the visits that are counted is cut off besides.
_CUT_OFF_OF_HIDDEN = 1 / 3
# No bin of a city is taken to have less than this part of a mean bin.
_FAINTEST = 0.01


class AllVisits(NamedTuple):
    """The number of all visits, its variance, and how many more were cut off behind noise."""

    value: float
    variance: float
    hidden: float


class Scale(NamedTuple):
    """All visits over those that the series counts, and its relative variance."""

    value: float
    variance: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Levels:
    """Totals as the series counts them, the scale to all visits, and activity if it stands out."""

    totals: Totals
    scale: Scale
    activity: Activity | None

    def multiples(self, cells: FloatArray) -> FloatArray:
        """Returns all visits of each cell as a multiple of those that the series counts.

        Some places are visited by busier people than others. The mean multiple is the scale.
        """
        of_cells = self.totals.scale
        visits = float(cells.sum())
        mean = float((cells * of_cells).sum()) / visits if visits > 0 else 1.0
        return np.asarray(of_cells * (self.scale.value / mean), dtype=np.float64)

    def drawn(self, cluster: IntArray) -> FloatArray:
        """Returns the share of all visits that the series counts, by cluster."""
        cells = self.totals.cells
        every = cells * np.maximum(self.multiples(cells), 1.0)
        return np.asarray(
            np.bincount(cluster, cells) / np.maximum(np.bincount(cluster, every), 1e-300)
        )


def levels_of(answers: Answers, universe: DensityUniverse, limits: VisitLimits) -> Levels:
    """Returns what noisy answers tell about totals."""
    activity, places = _people(answers, limits, universe.bins)
    visits, series = all_visits(answers, activity), answers.series
    noise = series.values.size * series.variance
    straight = 1.0
    if activity is not None:
        # What the series counts of all visits is straight for sure.
        roughly = scale_of(visits, float(series.values.sum()), noise)
        straight = max(activity.straight, 1 / roughly.value)
    totals = fitted_totals(answers, universe.cover, places, straight)
    scale = scale_of(visits, float(totals.cells.sum()), noise)
    return Levels(totals=totals, scale=scale, activity=activity)


def _people(
    answers: Answers, limits: VisitLimits, bins: int
) -> tuple[Activity | None, Places | None]:
    """Returns how busy people are and where they are seen, as far as that was measured."""
    noisy, circles, total = answers.activity, answers.circles, answers.total
    activity = None
    if noisy is not None:
        whole = None if total is None else VisitsInAll(float(total.values[0]), total.variance)
        activity = known_activity(noisy, limits, bins, whole)
    if circles is None:
        return activity, None
    return activity, known_places(circles.values, circles.variance, activity)


def crowding_of(shapes: FloatArray, levels: Levels, limits: VisitLimits) -> FloatArray:
    """Returns by what factor all visits of each bin exceed counted ones, beside the mean factor.

    It is what would be if people had their visits by chance, which they do not quite: good enough
    to say how far off counts may be, not to change them. `shapes` are series of clusters that sum
    to 1.
    """
    bins = shapes.shape[1]
    if levels.activity is None or not limits.one_in_a_bin:
        return np.ones(bins)
    city = levels.totals.clusters @ shapes
    city = np.maximum(city / city.sum(), _FAINTEST / bins)
    city /= city.sum()
    spread = levels.activity.unfolded(city, min(limits.max_visits, bins))
    return np.asarray(spread / city, dtype=np.float64)


def all_visits(answers: Answers, activity: Activity | None) -> AllVisits | None:
    """Returns the number of all visits; None if nothing was measured apart.

    Classes of activity tell the same number as was measured, with an error of their own: the two
    are weighed. Both lack what was cut off of busy people; their classes tell how much that is.
    Visits that no class explains are those of a few busy people, of whom a part is cut off too: a
    third of them is usual, and as many again may have been.
    """
    if answers.total is None:
        return None
    total, variance = float(answers.total.values[0]), answers.total.variance
    if activity is None:
        return AllVisits(total, variance, max(total, 0.0))
    weight = variance / (variance + activity.variance)
    capped = total + weight * (activity.capped - total)
    doubt, hidden = weight * activity.variance, max(capped - activity.explained, 0.0)
    # Noise in the number of all visits looks like hidden people.
    sure = max(1 - _BY_CHANCE * doubt / max(hidden, 1.0) ** 2, 0.0)
    return AllVisits(
        value=capped + activity.cut_off + _CUT_OFF_OF_HIDDEN * sure * hidden,
        variance=doubt + activity.cut_off_variance,
        hidden=hidden,
    )


def scale_of(visits: AllVisits | None, counted: float, variance: float = 0.0) -> Scale:
    """Returns all visits as a multiple of those that the series counts.

    The series counts a part of all visits. If the noisy numbers say that it counts more, they are
    two measurements of the same number, and are weighed. Most crowds have not half as many visits
    again as the series counts. More is believed if the noise in the two numbers cannot explain it:
    a small crowd would otherwise be scaled by noise. What is not believed may be true all the same,
    and is in the variance.
    """
    if visits is None:
        return Scale(1.0, 0.0)
    apart = visits.value / max(counted, 1.0) - 1
    below = min(apart, 0.0) * variance / max(variance + visits.variance, 1e-300)
    beyond = max(apart, 0.0)
    noise = (visits.variance + (1 + beyond) ** 2 * variance) / max(counted, 1.0) ** 2
    hidden = visits.hidden / max(counted, 1.0)
    usual = _USUAL_BEYOND**2 + max(beyond**2 - _BY_CHANCE**2 * noise, 0.0)
    trust = usual / (usual + noise)
    value = max(1 + below + beyond * trust, _LEAST)
    return Scale(value, (noise + ((1 - trust) * beyond) ** 2 + hidden**2) / value**2)


# How much of each period of the day the series leaves out, from noisy sums of that.
#
# Of busy people the series has a part, and they are busier at some hours than at others.

# Differences between periods are believed as far as they exceed noise by so many deviations of
# what noise alone makes of the sum of their squares. Squares of Laplace noise vary by 5 times the
# square of its variance.
_SURE: Final = 2.0
_KURTOSIS: Final = 5.0
# Beside what is believed, shares of periods differ by this much, as a variance in parts of them.
_USUAL_SPREAD: Final = 0.01


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
    """
    bins, left = shapes.shape[1], answers.left_out
    crowding = crowding_of(shapes, levels, limits)
    by_chance = PeriodScale(np.ones(bins), (crowding - 1) ** 2)
    if left is None or left.values.sum() <= 0:
        return by_chance
    parts = len(left.values)
    counted = (levels.totals.clusters @ shapes).reshape(-1, parts).sum(axis=0)
    counted = np.maximum(counted, 1e-9)
    found = _left_out(left, counted)
    if found is None:
        return by_chance
    added, unknown = found
    whole = counted + added * (levels.scale.value - 1) * counted.sum() / added.sum()
    value = whole / counted * (counted.sum() / whole.sum())
    variance = (1 - counted / whole) ** 2 * unknown
    return PeriodScale(np.tile(value, bins // parts), np.tile(variance, bins // parts))


def _left_out(left: Noisy, counted: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Returns what is left out of each period, and the variance of each in parts of it.

    A period is expected to have its share of counted visits, and differs from that by as much as
    noise cannot explain (empirical Bayes). None if noise explains all.
    """
    expected = counted * (left.values.sum() / counted.sum())
    noise = left.variance * (len(counted) + _SURE * np.sqrt(_KURTOSIS * len(counted)))
    spread = (float(((left.values - expected) ** 2).sum()) - noise) / float(expected @ expected)
    if spread <= 0:
        return None
    own = spread * expected**2
    trust = own / (own + left.variance)
    added = np.maximum(expected + trust * (left.values - expected), 0.0)
    return added, spread * (1 - trust) + _USUAL_SPREAD
