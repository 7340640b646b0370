"""How busy people are, from noisy numbers: what the limits leave out, and of whom.

The series holds a part of all visits: one of a person in a bin, and so many in all. Who has few
visits is counted whole, who has many is not. People by class of activity say how many visits there
are in all, and how many of them the series counts, circle by circle.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from hushway.arrays import BoolArray, FloatArray
from hushway.families.density.public.visits import ACTIVITY, VisitLimits
from hushway.privacy.loss import Measure

# A class is there if it stands out from its noise by as much: in a few releases of a thousand one
# is that is not. Laplace noise strays further than Gaussian noise of the same deviation.
_CLEAR: Final = {Measure.ZCDP: 3.5, Measure.PURE: 5.0}
# A circle is, by as much of the noise of its classes together, which is nearly normal.
_CLEAR_CIRCLE: Final = 3.5
# Within a class nobody knows how busy people are: relative error of all visits.
_WITHIN = 0.03
# So many neighbouring classes are looked at together.
_TOGETHER = (2, 4)
# How finely shares of bins are tabulated, and how often their scale is halved.
_POINTS = 400
_HALVINGS = 60


class PeopleByClass(NamedTuple):
    """Noisy people of each class of activity, the variance of noise in each, and its currency."""

    values: FloatArray
    variance: float
    measure: Measure = Measure.ZCDP

    @property
    def clear(self) -> float:
        """How many deviations of its noise a class must have to be there."""
        return _CLEAR[self.measure]


class VisitsInAll(NamedTuple):
    """The noisy number of all visits, each person's cut off at `max_visits_in_total`."""

    value: float
    variance: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Activity:
    """What is known about how busy people are.

    Attributes:
        visits: Visits of a person of each circle, on average.
        counted: Visits of such a person that the series counts.
        people: People of each circle; 0 where none stand out.
        explained: All visits of classes that stand out, each person's cut off at
            `max_visits_in_total`.
        capped: The same of all classes.
        cut_off: How many visits that cuts off, as far as their people stand out.
        classes: People of each class of activity, as far as they stand out.
        typical: About how many visits one of each has.
        straight: Share of counted visits that were drawn as evenly as all visits are: those in bins
            in which their person has no other.
    """

    visits: FloatArray
    counted: FloatArray
    people: FloatArray
    explained: float
    capped: float
    variance: float
    cut_off: float
    cut_off_variance: float
    classes: FloatArray
    noise: float
    typical: FloatArray
    straight: float

    def unfolded(self, shape: FloatArray, most: int) -> FloatArray:
        """Returns how all visits are spread over bins, given how counted ones are.

        Of a person one visit of a bin counts. Busy people have several in a busy bin, so that busy
        bins are counted less than others. If a person's visits fall into bins by chance, a person
        with v of them is seen in a bin that has the share q of all visits with the probability
        1 - exp(-v q), and some of the bins seen are then drawn.

        Args:
            shape: Counted visits by bin; not negative, and sums to 1.
            most: Most bins of one person that count.
        """
        people = np.maximum(self.classes, 0.0)
        bins = len(shape)
        drawn = np.minimum(1.0, most / bins_seen(self.typical, bins))
        share = np.append(0.0, np.geomspace(1e-4 / bins, 1.0, _POINTS))
        seen = -np.expm1(-share[:, None] * self.typical) @ (people * drawn)
        # Visits are scaled until the shares of all bins sum to 1.
        low, high = 0.0, float(seen[-1]) / max(float(shape.max()), 1e-12)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            over = np.interp(middle * shape, seen, share).sum() > 1
            low, high = (low, middle) if over else (middle, high)
        found = np.interp(low * shape, seen, share)
        return np.asarray(found / max(float(found.sum()), 1e-12))


def known_activity(
    found: PeopleByClass, limits: VisitLimits, bins: int, total: VisitsInAll | None = None
) -> Activity | None:
    """Returns what noisy people by class of activity tell; None if no class stands out.

    Args:
        found: Noisy number of people of each class.
        total: The number of all visits, if measured: it must have room for the busiest.
    """
    people, variance = found.values, found.variance
    there = standing_out(found)
    if not there.any():
        return None
    typical = typical_visits()
    if total is not None:
        there &= ~_no_room(found, there, limits, total)
    seen = bins_seen(typical, bins) if limits.one_in_a_bin else typical
    counted = np.minimum(seen, limits.max_visits)
    known = np.where(there, people, 0.0)
    circle, circles = limits.circle, limits.circles
    everybody = np.bincount(circle, known, circles)
    classes = np.bincount(circle, there, circles)
    clear = everybody > _CLEAR_CIRCLE * np.sqrt(variance * np.maximum(classes, 1))
    heads = np.asarray(np.where(clear, everybody, 0.0), dtype=np.float64)
    size = np.where(clear, heads, 1.0)
    inside = clear[circle]
    by_series = float((known * counted)[inside].sum())
    # Without noise every class counts, clear or not: a part of them would be too few for sure.
    most = np.minimum(typical, limits.max_visits_in_total)
    capped = float(people @ most)
    over = np.maximum(typical - limits.max_visits_in_total, 0.0)
    cut_off = max(float((known * over).sum()), 0.0)
    # Nothing is known of the classes beyond the last that stands out, but that they are small.
    unseen = over[min(int(np.flatnonzero(there)[-1]) + 1, len(over) - 1)]
    return Activity(
        visits=np.bincount(circle, known * typical, circles) / size,
        counted=np.bincount(circle, known * counted, circles) / size,
        people=heads,
        explained=float(known @ most),
        capped=capped,
        variance=variance * float(most @ most) + (_WITHIN * capped) ** 2,
        cut_off=cut_off,
        cut_off_variance=variance * float(over[there] @ over[there] + (2 * unseen) ** 2)
        + (_WITHIN * cut_off) ** 2,
        classes=known,
        noise=variance,
        typical=typical,
        straight=float((known * counted * seen / typical)[inside].sum()) / max(by_series, 1.0),
    )


def bins_seen(visits: FloatArray, bins: int) -> FloatArray:
    """Returns in how many bins people with so many visits are seen, if chance decides."""
    return np.asarray(bins * -np.expm1(-visits / bins))


def typical_visits() -> FloatArray:
    """Returns about how many visits a person of each class has."""
    fewest = np.array(ACTIVITY, dtype=np.float64)
    most = np.append(fewest[1:] - 1, fewest[-1] * 1.5)
    return np.asarray(np.sqrt(fewest * most), dtype=np.float64)


def standing_out(people: PeopleByClass) -> BoolArray:
    """Returns the classes up to the last that stands out from the noise, alone or with others.

    Of several classes that stand out together, the first half are taken to be there. None of them
    may stand out alone: it would speak for its neighbours.
    """
    alone = people.values > people.clear * np.sqrt(people.variance)
    sums = np.append(0.0, np.cumsum(np.where(alone, 0.0, people.values)))
    last = int(np.flatnonzero(np.append(True, alone))[-1]) - 1
    for width in _TOGETHER:
        together = sums[width:] - sums[:-width]
        clear = np.flatnonzero(together > people.clear * np.sqrt(width * people.variance))
        if len(clear):
            last = max(last, int(clear[-1]) + width // 2)
    return np.asarray(np.arange(len(people.values)) <= last)


def _no_room(
    found: PeopleByClass, there: BoolArray, limits: VisitLimits, total: VisitsInAll
) -> BoolArray:
    """Returns the classes beyond the most visits that count, if all visits have no room for them.

    What is cut off of these people is added without any other evidence, and is large. Each of them
    adds as much as counts to all visits, so how many there are is told twice: by their classes, and
    by what other classes leave of all visits. If the two together do not stand out, noise made the
    classes.
    """
    people, variance = found.values, found.variance
    typical, most = typical_visits(), limits.max_visits_in_total
    beyond = there & (typical > most)
    if not beyond.any():
        return beyond
    seen, own = float(people[beyond].sum()), variance * int(beyond.sum())
    others = there & ~beyond
    visits = float((people * typical)[others].sum())
    doubt = variance * float((typical[others] ** 2).sum()) + (_WITHIN * visits) ** 2
    room, off = (total.value - visits) / most, (total.variance + doubt) / most**2
    both = (seen * off + room * own) / (own + off)
    clear = both > found.clear * np.sqrt(own * off / (own + off))
    return np.asarray(beyond & ~clear)
