"""Budget shares, and weights of features in the projection."""

from fractions import Fraction

import pytest

from hushway.errors import PlanError
from hushway.families.od.fit.weights import Weights, margin_weights
from hushway.families.od.mechanism.shares import (
    given_shares,
    important_shares,
    recommended_shares,
    spends_of,
    uniform_shares,
)
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature, period_feature, total_feature
from hushway.privacy.loss import Measure, PureLoss, ZCDPLoss


@pytest.fixture
def features(cells: ODCells) -> tuple[Feature, ...]:
    return total_feature(cells), period_feature(cells)


def test_uniform_shares_give_the_cells_as_much_as_each_feature(
    features: tuple[Feature, ...],
) -> None:
    assert uniform_shares(features) == (Fraction(1, 3),) * 3


def test_given_shares_come_in_the_order_of_the_features_with_the_cells_last(
    features: tuple[Feature, ...],
) -> None:
    given = {"cells": Fraction(1, 2), "period": Fraction(1, 3), "total": Fraction(1, 6)}
    assert given_shares(given, features) == (Fraction(1, 6), Fraction(1, 3), Fraction(1, 2))


@pytest.mark.parametrize(
    "given",
    [
        {"cells": Fraction(1)},
        {"cells": Fraction(1, 2), "period": Fraction(1, 4), "total": Fraction(1, 8)},
        {"cells": Fraction(3, 2), "period": Fraction(-1), "total": Fraction(1, 2)},
        {
            "cells": Fraction(1, 4),
            "period": Fraction(1, 4),
            "total": Fraction(1, 4),
            "zones": Fraction(1, 4),
        },
    ],
    ids=["one missing", "less than 1", "a negative one", "one too many"],
)
def test_shares_that_are_not_a_split_are_refused(
    given: dict[str, Fraction], features: tuple[Feature, ...]
) -> None:
    with pytest.raises(PlanError):
        given_shares(given, features)


def test_important_shares_are_the_cube_roots_of_what_matters_and_add_up_exactly() -> None:
    shares = important_shares([1.0, 8.0, 27.0], Measure.PURE)
    assert sum(shares) == 1
    assert [float(share) for share in shares] == pytest.approx([1 / 6, 2 / 6, 3 / 6], abs=2e-6)


def test_important_shares_beat_any_small_change_of_the_split() -> None:
    importance = [3.0, 0.5, 10.0]
    shares = [float(share) for share in important_shares(importance, Measure.PURE)]

    def loss(split: list[float]) -> float:
        return sum(v / share**2 for v, share in zip(importance, split, strict=True))

    for i in range(3):
        for j in range(3):
            if i != j:
                other = list(shares)
                other[i] += 0.01
                other[j] -= 0.01
                assert loss(other) > loss(shares)


@pytest.mark.parametrize("budget", [PureLoss(Fraction(1, 3)), ZCDPLoss(Fraction(1, 70))])
def test_spends_add_up_to_the_budget_exactly(
    budget: PureLoss | ZCDPLoss, features: tuple[Feature, ...]
) -> None:
    spends = spends_of(budget, recommended_shares(features, budget.measure))
    assert {spend.measure for spend in spends} == {budget.measure}
    assert sum(spend.amount for spend in spends) == budget.amount


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        (Weights.UNIFORM, (1.0, 1.0)),
        (Weights.SIZE, (90.0, 30.0)),
        (Weights.INVERSE_VARIANCE, (2.0, 0.5)),
        (Weights.SIZE_OVER_VARIANCE, (180.0, 15.0)),
    ],
)
def test_weights_are_relative_to_those_of_a_cell(
    weights: Weights, expected: tuple[float, ...], cells: ODCells
) -> None:
    features = (total_feature(cells), period_feature(cells))
    assert margin_weights(weights, features, [4.0, 16.0, 8.0]) == pytest.approx(expected)
