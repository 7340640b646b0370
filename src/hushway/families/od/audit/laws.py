"""The law of the noise in an OD release, seen from outside: on cells, and on features."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hushway.arrays import IntArray
from hushway.audit.harness import Examination, Trial
from hushway.audit.law import ParityCheck, VarianceCheck, laplace_difference
from hushway.families.od.audit.dense import Repeated
from hushway.families.od.audit.fitted_looks import (
    FLAT,
    MEASURED_TOWN,
    MEASUREMENTS,
    SAME_HALF,
    FirstCell,
)
from hushway.families.od.audit.product import NOBODY, Part, Product, Stage, town
from hushway.families.od.mechanism.laplace import DenseLaplace
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss
from hushway.privacy.measured import Measured

_CORNERS = town(places=10, periods=1)
_TWO_PERIODS = town(places=10, periods=2)


def fresh_noise(product: Product, epsilon: Fraction) -> Examination:
    """Two measurements of one cell: noise that is used twice cancels in their difference."""
    stage = Stage(product=product, town=_CORNERS, spend=PureLoss(epsilon))
    return VarianceCheck(
        name="fresh noise for every measurement",
        statistic="the difference of two noisy counts of one cell",
        epsilon=epsilon,
        law=laplace_difference(2 / epsilon),
        sample=stage.sampler((Part(),), Repeated(stage).difference),
    )


def own_noise(product: Product, epsilon: Fraction) -> Examination:
    """Two cells of one measurement: each must have noise of its own."""
    stage = Stage(product=product, town=_TWO_PERIODS, spend=PureLoss(epsilon))
    return VarianceCheck(
        name="noise of its own for every cell",
        statistic="the difference of the noisy counts of two cells",
        epsilon=epsilon,
        law=laplace_difference(1 / epsilon),
        sample=stage.sampler(NOBODY, Answer(stage).difference),
    )


def whole_numbers(product: Product, epsilon: Fraction) -> Examination:
    """What is measured must be whole numbers, odd ones as often as the law has them."""
    stage = Stage(product=product, town=_CORNERS, spend=PureLoss(epsilon))
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
        first, second = self.stage.town.by_corner(self._values(curator))
        difference: IntArray = first - second
        return difference

    def parity(self, curator: Curator) -> IntArray:
        """Returns 0 for an even noisy count, 1 for an odd one and 2 for one that is not whole."""
        (values,) = self.stage.town.by_corner(self._values(curator))
        if values.dtype != np.int64:
            return np.full(len(values), 2, dtype=np.int64)
        parity: IntArray = values & 1
        return parity

    def _values(self, curator: Curator) -> IntArray:
        mechanism = DenseLaplace(spend=self.stage.spend)
        (answer,) = mechanism.measure(curator, self.stage.town.cells)
        assert isinstance(answer, Measured)  # noqa: S101  what a dense mechanism returns
        return answer.values


def fresh_feature_noise(product: Product, epsilon: Fraction) -> Examination:
    """Two features that hold the same trips: noise that both share cancels in their difference."""
    look = _look(product, epsilon)
    return VarianceCheck(
        name="cbdp: fresh noise for every feature",
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
        name="cbdp: one feature less another",
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
    stage = Stage(product=product, town=MEASURED_TOWN, spend=PureLoss(epsilon))
    return FirstCell(stage=stage, form=FLAT)
