"""How often something happens is compared with its law, by exact bounds."""

from fractions import Fraction

import numpy as np
import pytest

from hushway.auditing.law import ChanceCheck, gaussian_tail
from hushway.errors import AuditError

RUNS = 10_000


def check(seen: int, chance: float) -> ChanceCheck:
    return ChanceCheck(
        name="chance",
        statistic="it happens",
        epsilon=Fraction(1),
        delta=Fraction(1, 100),
        chance=chance,
        sample=lambda runs: (np.arange(runs) < seen).astype(np.int64),
    )


@pytest.mark.parametrize(
    ("seen", "passed"), [(200, True), (230, True), (0, False), (300, False), (110, False)]
)
def test_what_happens_too_often_or_too_seldom_fails(seen: int, passed: object) -> None:
    finding = check(seen, 0.02).examine(RUNS)
    assert finding.passed is passed
    assert f"{seen / 100:.4g}% of the time; its law says 2%" in finding.event


def test_too_few_runs_are_refused() -> None:
    with pytest.raises(AuditError, match="show nothing"):
        check(1, 0.5).examine(10)


def test_the_tail_of_a_discrete_gaussian_is_that_of_its_law() -> None:
    from math import exp

    mass = {k: exp(-(k**2) / 2) for k in range(-40, 41)}
    tail = sum(mass[k] for k in range(2, 41)) / sum(mass.values())
    assert gaussian_tail(Fraction(1), 1.5) == pytest.approx(tail, rel=1e-12)
    assert gaussian_tail(Fraction(1), 2.0) == pytest.approx(tail, rel=1e-12)
