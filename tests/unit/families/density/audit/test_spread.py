"""Noise that is too narrow in one question is seen, and so is noise that is too wide."""

from fractions import Fraction

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.errors import AuditError
from hushway.families.density.audit.whole import SpreadCheck


def check(*widths: float) -> SpreadCheck:
    def sample(runs: int) -> IntArray:
        rng = np.random.default_rng(3)
        squares = 1000 * (np.array(widths) * rng.standard_normal((runs, len(widths)))) ** 2
        return np.rint(squares).astype(np.int64)

    return SpreadCheck(
        name="spread",
        statistics=tuple(f"question {number}" for number in range(len(widths))),
        epsilon=Fraction(1),
        delta=Fraction(1, 100),
        sample=sample,
    )


def test_noise_as_wide_as_was_paid_for_passes() -> None:
    assert check(1, 1, 1).examine(5000).passed


@pytest.mark.parametrize("width", [0.0, 0.5, 1.5])
def test_one_question_with_other_noise_fails_and_is_named(width: float) -> None:
    finding = check(1, 1, width, 1).examine(5000)
    assert not finding.passed
    assert finding.event.startswith("question 2 has")


def test_too_few_runs_are_refused() -> None:
    with pytest.raises(AuditError, match="show nothing"):
        check(1).examine(10)
