import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from hushway.auditing.bounds import (
    ALPHA,
    SHARE_TO_SHOW,
    epsilon_shown,
    lower_bound,
    runs_needed,
    upper_bound,
)


@pytest.mark.parametrize(
    ("successes", "runs"),
    [(1, 10), (5, 10), (10, 10), (3, 1000), (37_000, 50_000), (499_990, 500_000)],
)
def test_at_the_lower_bound_so_many_successes_have_probability_alpha(
    successes: int, runs: int
) -> None:
    low = lower_bound(np.array([successes]), runs)[0]
    assert binom.sf(successes - 1, runs, low) == pytest.approx(ALPHA, rel=1e-6)


@pytest.mark.parametrize(
    ("successes", "runs"), [(0, 10), (5, 10), (9, 10), (3, 1000), (37_000, 50_000), (12, 500_000)]
)
def test_at_the_upper_bound_so_few_successes_have_probability_alpha(
    successes: int, runs: int
) -> None:
    high = upper_bound(np.array([successes]), runs)[0]
    assert binom.cdf(successes, runs, high) == pytest.approx(ALPHA, rel=1e-6)


def test_bounds_agree_with_the_binomial_sum_written_out() -> None:
    runs, successes = 12, 4
    p = float(lower_bound(np.array([successes]), runs)[0])
    tail = sum(math.comb(runs, k) * p**k * (1 - p) ** (runs - k) for k in range(successes, 13))
    assert tail == pytest.approx(ALPHA, rel=1e-6)


def test_no_success_bounds_nothing_from_below_and_no_failure_nothing_from_above() -> None:
    assert lower_bound(np.array([0]), 100)[0] == 0
    assert upper_bound(np.array([100]), 100)[0] == 1


def test_the_epsilon_shown_lies_below_that_of_the_frequencies() -> None:
    shown = epsilon_shown(np.array([7311]), np.array([2689]), 10_000, Fraction(0))[0]
    assert 0.8 < shown < math.log(7311 / 2689)


def test_an_event_likelier_in_the_other_world_shows_nothing() -> None:
    assert epsilon_shown(np.array([10]), np.array([900]), 1000, Fraction(0))[0] == 0


def test_an_event_that_delta_covers_shows_nothing() -> None:
    counts = np.array([90]), np.array([0])
    assert epsilon_shown(*counts, 10_000, Fraction(0))[0] > 0
    assert epsilon_shown(*counts, 10_000, Fraction(1, 100))[0] == 0


@pytest.mark.parametrize("chance", [0.5, 0.15])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(4), Fraction(6)])
def test_the_runs_needed_show_the_share_even_at_counts_once_in_a_billion(
    epsilon: Fraction, chance: float
) -> None:
    half = runs_needed(epsilon, chance) // 2
    likely = int(binom.ppf(ALPHA, half, chance))
    rare = int(binom.isf(ALPHA, half, chance * math.exp(-epsilon)))
    shown = epsilon_shown(np.array([likely]), np.array([rare]), half, Fraction(0))[0]
    # The quantiles of `runs_needed` are normal ones; two parts in a hundred cover the difference.
    assert shown > (SHARE_TO_SHOW - 0.02) * epsilon
