"""Divergences agree with what can be worked out by hand."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hushway.auditing.law import ORDERS, DivergenceCheck, of_choices, of_gaussians

SIGMA_SQUARED = Fraction(9, 4)


@pytest.mark.parametrize("order", [2.0, 4.0, 16.0])
@pytest.mark.parametrize("moved", [[1], [3, 0, -2], [0, 0]])
def test_whole_orders_of_discrete_gaussians_are_those_of_real_ones(
    order: float, moved: list[int]
) -> None:
    expected = order * sum(step**2 for step in moved) / (2 * float(SIGMA_SQUARED))
    found = of_gaussians(np.array(moved), SIGMA_SQUARED, order)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_other_orders_are_summed_over_the_whole_numbers() -> None:
    values = np.arange(-20, 21)
    law = np.exp(-(values**2) / (2 * float(SIGMA_SQUARED)))
    moved = np.exp(-((values - 1) ** 2) / (2 * float(SIGMA_SQUARED)))
    exact = 2 * math.log((moved**1.5 * law**-0.5).sum() / law.sum())
    assert of_gaussians(np.array([1]), SIGMA_SQUARED, 1.5) == pytest.approx(exact, rel=1e-12)


def test_choices_diverge_in_the_worse_direction_and_add_up() -> None:
    one, other = np.log([[0.5, 0.5]]), np.log([[0.9, 0.1]])
    there, back = (math.log(0.25 / 0.9 + 0.25 / 0.1), math.log(0.81 / 0.5 + 0.01 / 0.5))
    assert there > back
    assert of_choices(one, other, 2.0) == pytest.approx(there)
    assert of_choices(other, one, 2.0) == pytest.approx(there)
    twice = np.vstack([one, one]), np.vstack([other, other])
    assert of_choices(*twice, 2.0) == pytest.approx(2 * there)


@pytest.mark.parametrize(("rho", "passed"), [(0.25, True), (0.2501, False)])
def test_a_release_must_not_diverge_by_more_than_rho_allows(rho: float, passed: object) -> None:
    check = DivergenceCheck(
        name="divergence",
        statistic="it",
        epsilon=Fraction(1),
        delta=Fraction(1, 100),
        rho=Fraction(1, 4),
        release=lambda: {order: order * rho for order in ORDERS},
    )
    assert check.examine(1000).passed is passed


def test_one_release_that_diverges_too_far_is_enough() -> None:
    releases = iter([0.1] * 19 + [0.3])

    def release() -> dict[float, float]:
        rho = next(releases)
        return {order: order * rho for order in ORDERS}

    check = DivergenceCheck(
        name="divergence",
        statistic="it",
        epsilon=Fraction(1),
        delta=Fraction(1, 100),
        rho=Fraction(1, 4),
        release=release,
    )
    assert not check.examine(1000).passed
