"""Shifts are told in standard deviations, too little noise from too much."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.auditing.harness import World
from hushway.auditing.shift import JointShiftCheck, ShiftCheck, most_of_gaussian, most_of_rho
from hushway.errors import AuditError

RUNS = 10_000


def normal(mean: float, spread: float = 1000) -> World:
    def sample(runs: int) -> IntArray:
        # The same quantiles every time: nothing is left to chance.
        ranks = (np.random.default_rng(7).permutation(runs) + 0.5) / runs
        tails = np.log(ranks / (1 - ranks))
        values: IntArray = np.rint(mean + spread * tails / tails.std()).astype(np.int64)
        return values

    return World(words=f"a mean of {mean:g}", sample=sample)


def check(one: World, other: World, most: float = 1.0, *, tight: bool = True) -> ShiftCheck:
    return ShiftCheck(
        name="shift",
        statistic="it",
        epsilon=Fraction(1),
        delta=Fraction(1, 100),
        worlds=(one, other),
        most=most,
        tight=tight,
    )


@pytest.mark.parametrize(("moved", "passed"), [(1000, True), (-1000, True), (500, False)])
def test_a_tight_shift_must_be_reached(moved: float, passed: object) -> None:
    assert check(normal(moved), normal(0)).examine(RUNS).passed is passed


def test_a_shift_beyond_the_claim_fails() -> None:
    finding = check(normal(1500), normal(0)).examine(RUNS)
    assert not finding.passed
    assert "moves by 1.5 standard deviations" in finding.event


def test_a_small_shift_passes_where_it_need_not_be_reached() -> None:
    assert check(normal(500), normal(0), tight=False).examine(RUNS).passed


def test_the_smaller_spread_counts_in_either_world() -> None:
    for worlds in ((normal(1500, 3000), normal(0)), (normal(1500), normal(0, 3000))):
        assert not check(*worlds, tight=False).examine(RUNS).passed


def several(*means: float) -> World:
    def sample(runs: int) -> IntArray:
        return np.column_stack([normal(mean).sample(runs) for mean in means])

    return World(words="several", sample=sample)


def joint(*means: float) -> JointShiftCheck:
    return JointShiftCheck(
        name="shifts",
        statistics=tuple(f"number {i}" for i in range(len(means))),
        epsilon=Fraction(1),
        delta=Fraction(1, 100),
        worlds=(several(*means), several(*(0.0 for _ in means))),
        most=(1.0,) * len(means),
    )


def test_several_shifts_must_all_be_what_they_should_be() -> None:
    assert joint(1000, 1000, -1000).examine(RUNS).passed


@pytest.mark.parametrize("wrong", [500, 1500])
def test_one_of_several_shifts_that_is_wrong_is_named(wrong: float) -> None:
    finding = joint(1000, wrong, 1000).examine(RUNS)
    assert not finding.passed
    assert finding.event.startswith("number 1 moves")


def constant(value: int) -> World:
    return World(words=str(value), sample=lambda runs: np.full(runs, value, dtype=np.int64))


def test_what_has_no_noise_must_not_move_at_all() -> None:
    assert not check(constant(1), constant(0), tight=False).examine(RUNS).passed
    assert check(constant(1), constant(1), tight=False).examine(RUNS).passed


def test_too_few_runs_are_refused() -> None:
    with pytest.raises(AuditError, match="show nothing"):
        check(constant(1), constant(1)).examine(10)


def test_no_statistic_moves_less_than_a_gaussian_one_may() -> None:
    rho = Fraction(1, 2)
    assert most_of_gaussian(rho) == 1
    assert most_of_rho(rho) == pytest.approx(math.sqrt(math.e - 1))
