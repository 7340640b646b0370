from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

import pytest

from hushway.errors import PrivacyError
from hushway.privacy.loss import (
    Loss,
    Measure,
    PureLoss,
    ZCDPLoss,
    amount_in,
    cost_on,
    exact,
    loss_of,
    total,
)


@pytest.mark.parametrize("loss", [PureLoss, ZCDPLoss])
@pytest.mark.parametrize("amount", [0.1, 1, Decimal("0.1"), "1", float("inf"), float("nan"), None])
def test_an_amount_that_is_not_a_fraction_is_refused(loss: type[Loss], amount: Fraction) -> None:
    with pytest.raises(PrivacyError, match="exact fraction"):
        loss(amount)


@pytest.mark.parametrize("loss", [PureLoss, ZCDPLoss])
@pytest.mark.parametrize("amount", [Fraction(0), Fraction(-1, 10)])
def test_an_amount_that_is_not_positive_is_refused(loss: type[Loss], amount: Fraction) -> None:
    with pytest.raises(PrivacyError, match="greater than 0"):
        loss(amount)


def test_an_epsilon_costs_half_its_square_in_rho() -> None:
    assert amount_in(PureLoss(Fraction(3, 10)), Measure.ZCDP) == Fraction(9, 200)


def test_a_loss_costs_itself_in_its_own_currency() -> None:
    assert amount_in(PureLoss(Fraction(1, 3)), Measure.PURE) == Fraction(1, 3)
    assert amount_in(ZCDPLoss(Fraction(1, 7)), Measure.ZCDP) == Fraction(1, 7)


def test_a_rho_has_no_pure_epsilon() -> None:
    with pytest.raises(PrivacyError, match="no pure epsilon"):
        amount_in(ZCDPLoss(Fraction(1, 7)), Measure.PURE)


def test_ten_tenths_are_exactly_one() -> None:
    assert total([PureLoss(exact("0.1"))] * 10) == PureLoss(Fraction(1))


def test_epsilons_and_rhos_together_add_up_as_rhos() -> None:
    parts = [PureLoss(Fraction(1, 2)), ZCDPLoss(Fraction(1, 3)), PureLoss(Fraction(1))]
    assert total(parts) == ZCDPLoss(Fraction(1, 8) + Fraction(1, 3) + Fraction(1, 2))


def test_nothing_adds_up_to_no_loss_at_all() -> None:
    with pytest.raises(PrivacyError, match="No loss"):
        total([])


def test_a_loss_is_made_from_its_currency_and_amount() -> None:
    assert loss_of(Measure.PURE, Fraction(2)) == PureLoss(Fraction(2))
    assert loss_of(Measure.ZCDP, Fraction(2)) == ZCDPLoss(Fraction(2))
    assert PureLoss(Fraction(2)).amount == ZCDPLoss(Fraction(2)).amount == 2


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("0.1", Fraction(1, 10)),
        (" 1/3 ", Fraction(1, 3)),
        ("1e-6", Fraction(1, 10**6)),
        (2, Fraction(2)),
        (Decimal("0.30"), Fraction(3, 10)),
        (Fraction(5, 7), Fraction(5, 7)),
    ],
)
def test_a_number_is_read_exactly_as_written(written: str, value: Fraction) -> None:
    assert exact(written) == value


@pytest.mark.parametrize(
    "written", ["", "abc", "nan", "inf", "-inf", "1/0", "1e999999999", "1" * 5000, True, None]
)
def test_what_is_not_a_finite_number_is_refused(written: str) -> None:
    with pytest.raises(PrivacyError, match="not a finite number"):
        exact(written)


def test_losses_without_a_common_denominator_are_not_added_up_to_the_end() -> None:
    added: list[int] = []

    def losses() -> Iterator[PureLoss]:
        for i in range(16_000):
            added.append(i)
            yield PureLoss(Fraction(1, 10**1000 + i))

    with pytest.raises(PrivacyError, match="common denominator"):
        cost_on(losses(), Measure.PURE)
    assert len(added) < 100
