"""The law of the noise on features: whole numbers, and noise of its own for every feature."""

from fractions import Fraction

from hushway.audit.harness import Examination, Trial
from hushway.audit.law import ParityCheck, VarianceCheck, laplace_difference
from hushway.families.od.audit.fitted_looks import (
    FLAT,
    MEASURED_TOWN,
    MEASUREMENTS,
    SAME_HALF,
    FirstCell,
)
from hushway.families.od.audit.product import Product, Stage
from hushway.families.od.audit.toy import NOBODY, Part
from hushway.privacy.loss import PureLoss


def fresh_noise(product: Product, epsilon: Fraction) -> Examination:
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


def whole_numbers(product: Product, epsilon: Fraction) -> Examination:
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
