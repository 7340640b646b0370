"""What counts made whole with regard to all sums must not give away, over many releases.

A town of two places and two periods, with the total and the periods as features, as plans have it.
Making counts whole so that every sum keeps its value ties all of them together, so every run is a
release of its own.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hushway.arrays import IntArray
from hushway.audit.agreement import AlwaysSame
from hushway.audit.harness import Examination, Trial
from hushway.families.od.audit.fitted_looks import MEASUREMENTS, PLANNED, Published
from hushway.families.od.audit.product import Product, Spend, Stage
from hushway.families.od.audit.toy import Part, Scene, town
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss

_TOWN = town(places=2, periods=2, corners=1)
# As few as can prove that a sum is exact.
_SELDOM, _RARELY = Fraction(1, 8), Fraction(1, 20)
# Trips of others, so that not all sums are cut off at nothing.
_OTHERS: Scene = tuple(Part(person=1 + i, period=i % 2) for i in range(6))


def measured_total(product: Product, epsilon: Fraction) -> Examination:
    """One more trip: the total, which is published as it was measured, has its share of noise."""
    look = _look(product, epsilon)
    return Trial(
        name=f"{PLANNED.words}: one more trip in the total",
        statistic="the noisy total",
        epsilon=epsilon / MEASUREMENTS,
        worlds=look.stage.worlds(
            look.noisy, ("the trip", (*_OTHERS, Part())), ("the others", _OTHERS)
        ),
        effort=_SELDOM,
    )


def whole_total(product: Product, epsilon: Fraction) -> Examination:
    """One more trip, in the sum of all counts that were made whole."""
    look = _look(product, epsilon)
    return Trial(
        name=f"{PLANNED.words}, made whole: one more trip",
        statistic="the sum of all published counts",
        epsilon=epsilon,
        worlds=look.stage.worlds(
            look.whole, ("the trip", (*_OTHERS, Part())), ("the others", _OTHERS)
        ),
        effort=_SELDOM,
    )


def same_table(product: Product, epsilon: Fraction) -> Examination:
    """The same measurements made whole twice: chance or a look at the rows would show."""
    look = _look(product, epsilon)
    return AlwaysSame(
        name=f"{PLANNED.words}, made whole: the same table from the same measurements",
        statistic="tables fitted twice",
        epsilon=epsilon,
        sample=look.stage.sampler(_OTHERS, look.changes),
        effort=_RARELY,
    )


@dataclass(frozen=True, kw_only=True)
class Sums(Published[Spend]):
    """The sum of everything: one run a release."""

    def noisy(self, curator: Curator) -> IntArray:
        """Returns the total as it was measured."""
        (total, _), *_ = self.measured(curator)
        first: IntArray = total[0]
        return first

    def whole(self, curator: Curator) -> IntArray:
        """Returns the sum of all published counts."""
        return np.array([self.counts(curator).sum()], dtype=np.int64)


def _look(product: Product, epsilon: Fraction) -> Sums[PureLoss]:
    stage = Stage(product=product, town=_TOWN, spend=PureLoss(epsilon))
    return Sums(stage=stage, form=PLANNED)
