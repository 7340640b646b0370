import math
from bisect import bisect_left
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from hushway.arrays import IntArray
from hushway.auditing.bounds import (
    ALPHA,
    FOUND_WITH,
    SHARE_TO_SHOW,
    epsilon_shown,
    lower_bound,
    power_in_words,
    power_of,
    runs_needed,
    upper_bound,
)
from hushway.auditing.harness import Trial, World
from hushway.auditing.runs import NEEDED_RUNS, QUICK_RUNS, USUAL_RUNS, runs_asked
from hushway.auditing.suite import EPSILONS


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


def chance_of_failing(runs: int, claim: float, loss: float, delta: float = 0.0) -> float:
    """Returns how likely the event of one noisy count proves more than is claimed."""
    half = runs // 2
    likely, rare = binom(half, 0.5), binom(half, (0.5 - delta) * math.exp(-loss))
    seen = np.arange(rare.ppf(1e-6), rare.isf(1e-6) + 1).astype(np.int64)
    fewest = [fewest_hits(half, claim, int(count), delta) for count in seen]
    return float(rare.pmf(seen) @ likely.sf(np.array(fewest) - 1))


def fewest_hits(half: int, claim: float, rare: int, delta: float) -> int:
    """Returns how often the likely event must be seen to prove more than is claimed."""

    def proves(hits: int) -> bool:
        counts = np.array([hits]), np.array([rare])
        return bool(epsilon_shown(*counts, half, Fraction(delta))[0] > claim)

    return bisect_left(range(half + 1), True, key=proves)


@pytest.mark.parametrize("delta", [0, 0.01])
@pytest.mark.parametrize(("runs", "claim"), [(2_000, 1), (10_000, 4)])
def test_what_is_said_to_be_detected_is_found(runs: int, claim: int, delta: float) -> None:
    detected = power_of(runs, Fraction(claim), Fraction(delta)).epsilon_detected
    assert detected is not None
    assert detected > claim
    assert chance_of_failing(runs, claim, detected, delta) >= FOUND_WITH - 0.001
    # Nor is it said of losses far above those that are found.
    assert chance_of_failing(runs, claim, claim + 0.7 * (detected - claim), delta) < FOUND_WITH


@pytest.mark.parametrize(("runs", "claim"), [(1_000, 4), (5_000, 4), (10_000, 6)])
def test_runs_that_can_prove_no_violation_say_so(runs: int, claim: int) -> None:
    assert power_of(runs, Fraction(claim)).epsilon_detected is None
    assert f"where ε {claim} is claimed, none" in power_in_words(runs, [Fraction(claim)])


def test_more_runs_prove_and_detect_more() -> None:
    found = [power_of(runs, Fraction(1)) for runs in (1_000, QUICK_RUNS, USUAL_RUNS)]
    assert sorted(found, key=lambda power: power.epsilon_provable) == found
    detected = [power.epsilon_detected or math.inf for power in found]
    assert sorted(detected, reverse=True) == detected


def test_a_finding_says_what_its_own_runs_could_prove() -> None:
    def sure(value: int) -> World:
        def sample(runs: int) -> IntArray:
            return np.full(runs, value, dtype=np.int64)

        return World(words=str(value), sample=sample)

    worlds = sure(0), sure(1)
    trial = Trial(name="sure", statistic="it", epsilon=Fraction(1), worlds=worlds)
    finding = trial.examine(2_000)
    assert finding.epsilon_lower == finding.epsilon_provable
    assert finding.epsilon_detected == power_of(2_000, Fraction(1)).epsilon_detected


def test_the_runs_that_the_help_speaks_of_are_those_that_are_needed() -> None:
    assert max(runs_needed(epsilon) for epsilon in EPSILONS) == NEEDED_RUNS
    assert USUAL_RUNS >= NEEDED_RUNS > QUICK_RUNS


def test_a_quick_audit_finds_what_loses_twice_as_much_as_is_claimed() -> None:
    for epsilon in EPSILONS:
        detected = power_of(QUICK_RUNS, epsilon).epsilon_detected
        assert detected is not None
        assert detected < 2 * epsilon


def test_runs_are_what_was_asked_for() -> None:
    assert runs_asked(5_000, quick=True) == runs_asked(5_000, quick=False) == 5_000
    assert runs_asked(None, quick=True) == QUICK_RUNS
    assert runs_asked(None, quick=False) == USUAL_RUNS
