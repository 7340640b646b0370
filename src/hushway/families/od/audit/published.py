"""What the published table of a fitted OD mechanism must not give away, nor counts made whole.

A table is made from noisy counts and public labels alone, so it gives away no more than these. If
it does, the fit has seen something else.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hushway.arrays import IntArray
from hushway.audit.agreement import AlwaysSame, SameLaw
from hushway.audit.harness import Examination, Trial, World
from hushway.families.od.audit.dense import MAX_TRIPS
from hushway.families.od.audit.fitted_looks import (
    FITTED_TOY,
    FLAT,
    LAZY,
    MEASUREMENTS,
    PLANNED,
    Form,
    Published,
)
from hushway.families.od.audit.product import (
    NOBODY,
    Part,
    Product,
    Scene,
    Spend,
    Stage,
    toy_universe,
)
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss

_SUMS = "the published count of its cell plus the published sums that hold it"
_MANY = 50
_TWO_PLACES = toy_universe(places=2, periods=2, corners=1)
# A release a run, and a fit in each.
_SLOW = Fraction(1, 50)
# A fit that draws, or looks at anything else, changes more than one corner in a thousand.
_BRIEF = Fraction(1, 10)


def one_trip(form: Form, product: Product, epsilon: Fraction) -> Examination:
    """A trip to an unvisited cell against none: whatever shows with it must show without it."""
    look = _look(form, product, epsilon)
    return Trial(
        name=f"{form.words}, published: a trip to an unvisited cell or none",
        statistic=_SUMS,
        epsilon=epsilon,
        worlds=_worlds(look, (Part(),), "the trip"),
    )


def many_trips(form: Form, product: Product, epsilon: Fraction) -> Examination:
    """Fifty identical trips of one person against none."""
    look = _look(form, product, epsilon, max_trips=MAX_TRIPS)
    return Trial(
        name=f"{form.words}, published: fifty trips of one person or none",
        statistic=_SUMS,
        epsilon=epsilon,
        worlds=_worlds(look, (Part(times=_MANY),), "the person"),
    )


def one_by_one(product: Product, epsilon: Fraction) -> Examination:
    """One trip against none with total and period as features, one release a run."""
    look = WholeTable(
        stage=Stage(product=product, toy=_TWO_PLACES, spend=PureLoss(epsilon)), form=PLANNED
    )
    return Trial(
        name=f"{PLANNED.words}, published: one trip or none, a release a run",
        statistic=_SUMS,
        epsilon=epsilon,
        worlds=look.stage.worlds(look.sums, ("the trip", (Part(),)), ("no trip", NOBODY)),
        effort=_SLOW,
    )


def same_table(form: Form, product: Product, epsilon: Fraction) -> Examination:
    """The same measurements fitted twice: chance or a look at the rows would make them differ."""
    look = _look(form, product, epsilon)
    return AlwaysSame(
        name=f"{form.words}, published: the same table from the same measurements",
        statistic="tables fitted twice",
        epsilon=epsilon,
        sample=look.stage.sampler((Part(),), look.changes),
        effort=_BRIEF,
    )


def lazy_or_dense(product: Product, epsilon: Fraction) -> Examination:
    """Tables from cells drawn as far as a fit looks at them, and from all cells: the same law."""
    lazy, dense = _look(LAZY, product, epsilon), _look(FLAT, product, epsilon)
    scene = (Part(), Part(person=1), Part(person=2, period=1))
    return SameLaw(
        name="cbdp, published: lazy or dense",
        statistic="the published count of a cell together with the sum of its corner",
        worlds=(
            World(words="lazy noise", sample=lazy.stage.sampler(scene, lazy.first_and_all)),
            World(words="dense noise", sample=dense.stage.sampler(scene, dense.first_and_all)),
        ),
    )


@dataclass(frozen=True, kw_only=True)
class WholeTable(Published[Spend]):
    """The published table of a toy universe that is a single corner."""

    def sums(self, curator: Curator) -> IntArray:
        """Returns the count of the first cell plus the sums of its period and of everything."""
        counts = self.counts(curator).reshape(-1, self.stage.toy.cells.pairs)
        total: IntArray = counts[:1, 0] + counts[0].sum() + counts.sum()
        return total


def _look(
    form: Form, product: Product, epsilon: Fraction, max_trips: int = 1
) -> Published[PureLoss]:
    stage = Stage(product=product, toy=FITTED_TOY, spend=PureLoss(epsilon), max_trips=max_trips)
    return Published(stage=stage, form=form)


def _worlds(look: Published[PureLoss], scene: Scene, words: str) -> tuple[World, World]:
    return look.stage.worlds(look.around_first, (words, scene), ("nothing of it", NOBODY))


# What counts made whole with regard to all sums must not give away, over many releases.
#
# A toy universe of two places and two periods, with the total and the periods as features, as plans
# have it. Making counts whole so that every sum keeps its value ties all of them together, so every
# run is a release of its own.

_TOY = toy_universe(places=2, periods=2, corners=1)
# As few as can prove that a sum is exact.
_SELDOM, _RARELY = Fraction(1, 8), Fraction(1, 20)
# Trips of others, so that not all sums are cut off at nothing.
_OTHERS: Scene = tuple(Part(person=1 + i, period=i % 2) for i in range(6))


def measured_total(product: Product, epsilon: Fraction) -> Examination:
    """One more trip: the total, which is published as it was measured, has its share of noise."""
    look = _rounded_look(product, epsilon)
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
    look = _rounded_look(product, epsilon)
    return Trial(
        name=f"{PLANNED.words}, made whole: one more trip",
        statistic="the sum of all published counts",
        epsilon=epsilon,
        worlds=look.stage.worlds(
            look.whole, ("the trip", (*_OTHERS, Part())), ("the others", _OTHERS)
        ),
        effort=_SELDOM,
    )


def same_whole_table(product: Product, epsilon: Fraction) -> Examination:
    """The same measurements made whole twice: chance or a look at the rows would show."""
    look = _rounded_look(product, epsilon)
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


def _rounded_look(product: Product, epsilon: Fraction) -> Sums[PureLoss]:
    stage = Stage(product=product, toy=_TOY, spend=PureLoss(epsilon))
    return Sums(stage=stage, form=PLANNED)
