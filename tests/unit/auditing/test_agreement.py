from collections.abc import Callable
from fractions import Fraction

import numpy as np

from hushway.arrays import IntArray
from hushway.auditing.agreement import AlwaysSame, SameLaw
from hushway.auditing.harness import World

RUNS = 50_000


def poisson(mean: float, seed: int) -> Callable[[int], IntArray]:
    draws = np.random.default_rng(seed)
    return lambda runs: draws.poisson(mean, runs)


def same_law(one: Callable[[int], IntArray], other: Callable[[int], IntArray]) -> SameLaw:
    return SameLaw(
        name="same",
        statistic="the answer",
        worlds=(World(words="one way", sample=one), World(words="another", sample=other)),
    )


def always_same(sample: Callable[[int], IntArray], effort: Fraction = Fraction(1)) -> AlwaysSame:
    return AlwaysSame(
        name="same", statistic="answers", epsilon=Fraction(1), sample=sample, effort=effort
    )


def test_two_samples_of_one_law_agree() -> None:
    finding = same_law(poisson(3, 1), poisson(3, 2)).examine(RUNS)
    assert finding.passed
    assert "one way and another" in finding.event


def test_samples_of_slightly_different_laws_do_not_agree() -> None:
    assert not same_law(poisson(3, 3), poisson(3.1, 4)).examine(RUNS).passed


def test_a_difference_that_no_single_outcome_shows_is_seen_in_all_of_them() -> None:
    # A tenth of the even numbers have moved to the odd one above them.
    draws = np.random.default_rng(5)

    def moved(runs: int) -> IntArray:
        values = draws.integers(0, 200, runs)
        return values + ((values % 2 == 0) & (draws.random(runs) < 0.1))

    finding = same_law(moved, lambda runs: draws.integers(0, 200, runs)).examine(RUNS)
    assert not finding.passed


def test_outcomes_too_rare_for_a_bin_are_counted_with_their_neighbours() -> None:
    draws = np.random.default_rng(6)
    wide = lambda runs: draws.integers(0, 10**9, runs)  # noqa: E731
    finding = same_law(wide, wide).examine(RUNS)
    assert finding.passed
    assert "999 degrees of freedom" in finding.event


def test_a_single_outcome_agrees_with_itself() -> None:
    nothing = lambda runs: np.zeros(runs, dtype=np.int64)  # noqa: E731
    assert same_law(nothing, nothing).examine(RUNS).passed


def test_answers_that_never_differ_pass() -> None:
    finding = always_same(lambda runs: np.zeros(runs, dtype=np.int64)).examine(RUNS)
    assert finding.passed
    assert finding.epsilon_lower == 0


def test_a_single_difference_fails() -> None:
    finding = always_same(lambda runs: (np.arange(runs) == 77).astype(np.int64)).examine(RUNS)
    assert not finding.passed
    assert "1 differ" in finding.reason


def test_less_effort_takes_fewer_runs() -> None:
    finding = always_same(
        lambda runs: np.zeros(runs, dtype=np.int64), effort=Fraction(1, 10)
    ).examine(RUNS)
    assert finding.runs == 5000
