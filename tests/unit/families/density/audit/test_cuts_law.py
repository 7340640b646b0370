"""Cuts are held against their exact chances, and the rate against what was charged for."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hushway.arrays import FloatArray, IntArray
from hushway.auditing.harness import World
from hushway.families.density.audit.cuts import CutsCheck
from hushway.privacy.bound import Bound

BOUND = Bound(cells=4, each=100, total=400)
RHO = Fraction(1, 2)
# The rate that rho spends on: the root of 2 rho over 200 + 2 * 2.
RATE = Fraction(1, 204)
SCORES = np.array([[0.0, 100.0, 300.0, 250.0], [500.0, 400.0, 420.0, 450.0]])
OTHERS = SCORES + np.array([[50.0, 0.0, 20.0, 10.0], [0.0, 30.0, 0.0, 0.0]])


def drawn(scores: FloatArray, rate: Fraction) -> World:
    def sample(runs: int) -> IntArray:
        rng = np.random.default_rng(5)
        columns = []
        for each in scores:
            weights = np.exp(-float(rate) * (each - each.min()))
            columns.append(1 + rng.choice(len(each), size=runs, p=weights / weights.sum()))
        return np.array(columns).T

    return World(words="people", sample=sample)


def check(stated: Fraction = RATE, used: Fraction = RATE) -> CutsCheck:
    return CutsCheck(
        name="cuts",
        epsilon=Fraction(1),
        delta=Fraction(1, 100),
        rho=RHO,
        bound=BOUND,
        worlds=(drawn(SCORES, used), drawn(OTHERS, used)),
        scores=(SCORES, OTHERS),
        rate=lambda: stated,
    )


def test_cuts_drawn_by_their_chances_pass() -> None:
    assert check().examine(2000).passed


@pytest.mark.parametrize("factor", [Fraction(1, 2), 2])
def test_cuts_drawn_at_another_rate_than_stated_fail(factor: Fraction) -> None:
    finding = check(used=factor * RATE).examine(2000)
    assert not finding.passed
    assert "not drawn" in finding.reason


def test_a_stated_rate_beyond_what_was_paid_for_fails() -> None:
    finding = check(stated=2 * RATE, used=2 * RATE).examine(2000)
    assert not finding.passed
    assert "loses more" in finding.reason


def test_a_divergence_beyond_rho_fails_at_any_rate() -> None:
    far = CutsCheck(
        name="cuts",
        epsilon=Fraction(1),
        delta=Fraction(1, 100),
        rho=RHO,
        bound=BOUND,
        worlds=(drawn(SCORES, RATE), drawn(SCORES + 0.0, RATE)),
        # A person cannot move scores so far, if the bound is true.
        scores=(SCORES, SCORES + np.array([[2000.0, 0.0, 0.0, 0.0], [0.0] * 4])),
        rate=lambda: RATE,
    )
    finding = far.examine(2000)
    assert not finding.passed
    assert "loses more" in finding.reason
    assert math.isfinite(finding.epsilon)
