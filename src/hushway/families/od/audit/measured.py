"""What the measurements of an OD mechanism must not give away, and the law of their noise."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hushway.arrays import IntArray
from hushway.audit.bounds import runs_needed
from hushway.audit.harness import Examination, Trial, World
from hushway.audit.law import ParityCheck, VarianceCheck, gaussian, laplace_difference
from hushway.audit.shift import DELTA, rho_of, rounded_up
from hushway.families.od.audit.dense import MAX_TRIPS, Repeated
from hushway.families.od.audit.fitted_looks import (
    FITTED_TOY,
    FLAT,
    LAZY,
    MEASURED_TOY,
    MEASUREMENTS,
    SAME_HALF,
    SAME_PARITY,
    Evidence,
    FirstCell,
    Form,
    Look,
    Moves,
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
from hushway.families.od.mechanism.laplace import DenseLaplace
from hushway.privacy.accounting import best_epsilon
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import counting_event
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss, ZCDPLoss
from hushway.privacy.measured import Measured, MeasuredSparse

_STATISTIC = "the evidence of all measurements together, in thousandths,"
# The limit is what matters here; fifty trips of one person are for the audits of plain tables,
# which are spared the many runs that several measurements need.
_MANY = 10
_MANY_SPREAD = 25
_ONE_TRIP = Bound(cells=1, each=1, total=1)
# A modest multiple of what a single measurement needs, and still a matter of seconds.
_GAUSSIAN_EFFORT = Fraction(4)


def one_trip(form: Form, product: Product, epsilon: Fraction) -> Examination:
    """One trip against none: what features and cells give away must add up to epsilon, no more."""
    stage = Stage(product=product, toy=MEASURED_TOY, spend=PureLoss(epsilon))
    look = Evidence(stage=stage, form=form, moves={0: 1})
    return Trial(
        name=f"{form.words}: one trip or none",
        statistic=_STATISTIC,
        epsilon=epsilon,
        worlds=_worlds(look, (Part(),), "the trip"),
        tight=True,
        effort=_effort(form, epsilon, _ONE_TRIP),
    )


def many_trips(form: Form, product: Product, epsilon: Fraction) -> Examination:
    """Ten identical trips of one person against none: every feature needs noise for the limit."""
    look = _capped(form, product, epsilon, {0: MAX_TRIPS})
    return Trial(
        name=f"{form.words}: ten trips of one person or none",
        statistic=_STATISTIC,
        epsilon=epsilon,
        worlds=_worlds(look, (Part(times=_MANY),), "the person"),
        tight=True,
        effort=_effort(form, epsilon, Bound(cells=MAX_TRIPS, each=MAX_TRIPS, total=MAX_TRIPS)),
    )


def many_trips_spread(form: Form, product: Product, epsilon: Fraction) -> Examination:
    """Trips of one person in two elements of a feature: the limit holds over both together."""
    # Which of the trips are kept is left to chance; this is the likeliest choice, or its mirror.
    look = _capped(form, product, epsilon, {0: MAX_TRIPS - 1, SAME_PARITY: 1})
    commuter = (Part(times=_MANY_SPREAD), Part(times=_MANY_SPREAD, period=SAME_PARITY))
    return Trial(
        name=f"{form.words}: fifty trips in two elements or none",
        statistic=_STATISTIC,
        epsilon=epsilon,
        worlds=_worlds(look, commuter, "the person"),
    )


def one_trip_gaussian(form: Form, product: Product, epsilon: Fraction) -> Examination:
    """Gaussian noise: the claim is what the accountant derives for all measurements together."""
    look = Evidence(stage=_gaussian_stage(product, epsilon), form=form, moves={0: 1})
    # From what was charged for, not from what the mechanism says it does.
    part = ZCDPLoss(look.stage.spend.rho / MEASUREMENTS)
    claim = best_epsilon([counting_event("audit", 1, part, _ONE_TRIP)] * MEASUREMENTS, DELTA)
    return Trial(
        name=f"Gaussian {form.words}: one trip or none",
        statistic=_STATISTIC,
        epsilon=rounded_up(claim.epsilon),
        delta=DELTA,
        worlds=_worlds(look, (Part(),), "the trip"),
        effort=_GAUSSIAN_EFFORT,
    )


def gaussian_noise(product: Product, epsilon: Fraction) -> Examination:
    """A trip moves the sum of all measurements by sqrt(2 rho) of its standard deviations."""
    stage = _gaussian_stage(product, epsilon)
    look = FirstCell(stage=stage, form=FLAT)
    return VarianceCheck(
        name="Gaussian cbdp: noise that fits rho",
        statistic="the sum of the noisy counts that hold an empty cell",
        epsilon=epsilon,
        delta=DELTA,
        law=gaussian(MEASUREMENTS / (2 * stage.spend.rho), terms=MEASUREMENTS),
        sample=stage.sampler(NOBODY, look.total),
    )


def _gaussian_stage(product: Product, epsilon: Fraction) -> Stage[ZCDPLoss]:
    return Stage(product=product, toy=MEASURED_TOY, spend=rho_of(epsilon))


def _capped(form: Form, product: Product, epsilon: Fraction, moves: Moves) -> Evidence[PureLoss]:
    stage = Stage(product=product, toy=MEASURED_TOY, spend=PureLoss(epsilon), max_trips=MAX_TRIPS)
    return Evidence(stage=stage, form=form, moves=moves)


def _worlds(look: Evidence[Spend], scene: Scene, words: str) -> tuple[World, World]:
    return look.stage.worlds(look.seen, (words, scene), ("nothing of it", NOBODY))


def _effort(form: Form, epsilon: Fraction, bound: Bound) -> Fraction:
    """Returns how many times the runs of one measurement several together need.

    All of epsilon shows only if every noisy count is at least what the trips make it; with the
    trips, each is so with probability 1/(1 + a), a = exp(-1/scale).
    """
    spends = form.make(MEASURED_TOY.cells, PureLoss(epsilon)).spends
    likely = math.prod(1 / (1 + math.exp(-spend.amount / bound.l1)) for spend in spends)
    return Fraction(math.ceil(runs_needed(epsilon, likely) / runs_needed(epsilon)))


_FIRST_LOOK, _SECOND_LOOK = 2, 0
_HIDDEN, _CHANGED = -1, -2


def two_looks(product: Product, epsilon: Fraction) -> Examination:
    """A cell looked at twice: whoever sees an empty one change knows that it is empty."""
    stage = Stage(product=product, toy=FITTED_TOY, spend=PureLoss(epsilon))
    look = TwoLooks(stage=stage, form=LAZY)
    return Trial(
        name="lazy cbdp: a cell looked at twice",
        statistic=f"the shown count of the cell ({_HIDDEN} if hidden, {_CHANGED} if it changed)",
        # Two looks cost no more than the one measurement of the cells that they look at.
        epsilon=epsilon / MEASUREMENTS,
        worlds=stage.worlds(look.seen, ("the trip", (Part(),)), ("no trip", NOBODY)),
    )


@dataclass(frozen=True, kw_only=True)
class TwoLooks(Look[Spend]):
    """The first cell of each corner, looked at from a threshold up and then from a lower one."""

    def seen(self, curator: Curator) -> IntArray:
        """Returns the count that the second look shows, unless the first one contradicts it."""
        *_, cells = self.mechanism.measure(curator, self.stage.toy.cells)
        assert isinstance(cells, MeasuredSparse)  # noqa: S101  what a lazy mechanism measures
        first, second = self._shown(cells, _FIRST_LOOK), self._shown(cells, _SECOND_LOOK)
        expected = np.where(second >= _FIRST_LOOK, second, _HIDDEN)
        return np.where(first == expected, second, _CHANGED)

    def _shown(self, cells: MeasuredSparse, threshold: int) -> IntArray:
        assert cells.groups is not None  # noqa: S101  or a fit could not look at it
        shown = cells.reveal_groups(np.full(cells.groups.count, threshold, dtype=np.int64))
        counts = np.full(self.stage.toy.cells.size, _HIDDEN, dtype=np.int64)
        counts[shown.cells] = shown.values
        first: IntArray = self.stage.toy.by_corner(counts)[0]
        return first


_CORNERS = toy_universe(places=10, periods=1)
_TWO_PERIODS = toy_universe(places=10, periods=2)


def fresh_noise(product: Product, epsilon: Fraction) -> Examination:
    """Two measurements of one cell: noise that is used twice cancels in their difference."""
    stage = Stage(product=product, toy=_CORNERS, spend=PureLoss(epsilon))
    return VarianceCheck(
        name="fresh noise for every measurement",
        statistic="the difference of two noisy counts of one cell",
        epsilon=epsilon,
        law=laplace_difference(2 / epsilon),
        sample=stage.sampler((Part(),), Repeated(stage).difference),
    )


def own_noise(product: Product, epsilon: Fraction) -> Examination:
    """Two cells of one measurement: each must have noise of its own."""
    stage = Stage(product=product, toy=_TWO_PERIODS, spend=PureLoss(epsilon))
    return VarianceCheck(
        name="noise of its own for every cell",
        statistic="the difference of the noisy counts of two cells",
        epsilon=epsilon,
        law=laplace_difference(1 / epsilon),
        sample=stage.sampler(NOBODY, Answer(stage).difference),
    )


def whole_numbers(product: Product, epsilon: Fraction) -> Examination:
    """What is measured must be whole numbers, odd ones as often as the law has them."""
    stage = Stage(product=product, toy=_CORNERS, spend=PureLoss(epsilon))
    return ParityCheck(
        name="whole numbers",
        statistic="the noisy count of an empty cell",
        epsilon=epsilon,
        scale=1 / epsilon,
        sample=stage.sampler(NOBODY, Answer(stage).parity),
    )


@dataclass(frozen=True)
class Answer:
    """One dense measurement, before anything is fitted to it."""

    stage: Stage[PureLoss]

    def difference(self, curator: Curator) -> IntArray:
        """Returns the difference of a corner's two noisy counts."""
        first, second = self.stage.toy.by_corner(self._values(curator))
        difference: IntArray = first - second
        return difference

    def parity(self, curator: Curator) -> IntArray:
        """Returns 0 for an even noisy count, 1 for an odd one and 2 for one that is not whole."""
        (values,) = self.stage.toy.by_corner(self._values(curator))
        if values.dtype != np.int64:
            return np.full(len(values), 2, dtype=np.int64)
        parity: IntArray = values & 1
        return parity

    def _values(self, curator: Curator) -> IntArray:
        mechanism = DenseLaplace(spend=self.stage.spend)
        (answer,) = mechanism.measure(curator, self.stage.toy.cells)
        assert isinstance(answer, Measured)  # noqa: S101  what a dense mechanism returns
        return answer.values


def fresh_feature_noise(product: Product, epsilon: Fraction) -> Examination:
    """Two features that hold the same trips: noise that both share cancels in their difference."""
    look = _look(product, epsilon)
    return VarianceCheck(
        name="cbdp: fresh noise for every published total",
        statistic="the difference of the noisy counts of two elements that hold one trip",
        epsilon=epsilon,
        law=laplace_difference(MEASUREMENTS / epsilon),
        sample=look.stage.sampler((Part(),), look.features_differ),
    )


def one_less_another(product: Product, epsilon: Fraction) -> Examination:
    """A trip that only one of two elements holds: their difference must be noisy too."""
    look = _look(product, epsilon)
    late = (Part(period=SAME_HALF),)
    return Trial(
        name="cbdp: one published total less another",
        statistic="the noisy count of an element with the trip less that of one without it",
        epsilon=epsilon,
        worlds=look.stage.worlds(look.features_differ, ("the trip", late), ("no trip", NOBODY)),
    )


def whole_features(product: Product, epsilon: Fraction) -> Examination:
    """Features are measured in whole numbers, before any fit makes fractions of them."""
    look = _look(product, epsilon)
    return ParityCheck(
        name="cbdp: whole numbers",
        statistic="the noisy count of an empty element",
        epsilon=epsilon,
        scale=MEASUREMENTS / epsilon,
        sample=look.stage.sampler(NOBODY, look.parity),
    )


def _look(product: Product, epsilon: Fraction) -> FirstCell[PureLoss]:
    stage = Stage(product=product, toy=MEASURED_TOY, spend=PureLoss(epsilon))
    return FirstCell(stage=stage, form=FLAT)
