import math
from fractions import Fraction

import pytest

from hushway.errors import PlanError
from hushway.families.sequences.mechanism.steps import ExpectedFalse, PaperThresholds, StepShape
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import expected_above, noise_for
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss

GROUP = StepShape(candidates=60, parents=1, group=True)
PLACE = StepShape(candidates=944, parents=60, group=False)


def bound_of(most: int) -> Bound:
    return Bound(cells=most, each=most, total=most)


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("epsilon", ["1/12", "0.0123", "2"])
def test_the_paper_s_thresholds_are_four_and_two_deviations(epsilon: str, most: int) -> None:
    spend = PureLoss(Fraction(epsilon))
    scale = most / float(spend.epsilon)
    rule, bound = PaperThresholds(), bound_of(most)
    assert rule.threshold(GROUP, spend, bound) == math.ceil(4 * math.sqrt(2) * scale)
    assert rule.threshold(PLACE, spend, bound) == math.ceil(2 * math.sqrt(2) * scale)


def test_with_gaussian_noise_they_are_four_and_two_sigma() -> None:
    spend, bound = ZCDPLoss(Fraction(1, 200)), bound_of(2)
    sigma = math.sqrt(4 * 100)
    assert PaperThresholds().threshold(GROUP, spend, bound) == 4 * sigma
    assert PaperThresholds().threshold(PLACE, spend, bound) == 2 * sigma


def test_a_threshold_is_never_below_one() -> None:
    spend = PureLoss(Fraction(50))
    assert PaperThresholds().threshold(PLACE, spend, bound_of(1)) == 1
    assert ExpectedFalse(expected_false_prefixes=0.5).threshold(PLACE, spend, bound_of(1)) == 1


@pytest.mark.parametrize("expected_false_prefixes", [0.01, 0.5, 0.99])
@pytest.mark.parametrize("shape", [GROUP, PLACE])
@pytest.mark.parametrize("spend", [PureLoss(Fraction(1, 9)), ZCDPLoss(Fraction(1, 300))], ids=str)
def test_expected_false_gives_the_lowest_threshold_that_few_empty_candidates_pass(
    spend: Loss, shape: StepShape, expected_false_prefixes: float
) -> None:
    bound = bound_of(2)
    law = noise_for(spend, bound)
    threshold = ExpectedFalse(expected_false_prefixes=expected_false_prefixes).threshold(
        shape, spend, bound
    )
    each = shape.candidates / shape.parents
    assert each * expected_above(law, 1, threshold) <= expected_false_prefixes
    assert each * expected_above(law, 1, threshold - 1) > expected_false_prefixes


def test_expected_false_follows_the_closed_form_of_laplace_noise() -> None:
    ratio = math.exp(-1 / 9)
    wanted = math.ceil(math.log(944 / 60 / (0.1 * (1 + ratio))) * 9)
    found = ExpectedFalse(expected_false_prefixes=0.1).threshold(
        PLACE, PureLoss(Fraction(1, 9)), bound_of(1)
    )
    assert found == wanted


@pytest.mark.parametrize("expected_false_prefixes", [0.0, -1.0, 1.0, math.nan])
def test_kappa_must_keep_false_nodes_from_multiplying(expected_false_prefixes: float) -> None:
    with pytest.raises(PlanError, match="between 0 and 1"):
        ExpectedFalse(expected_false_prefixes=expected_false_prefixes)
