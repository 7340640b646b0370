import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.auditing.harness import OutcomeSet, Side, Trial, World, as_many, most_telling
from hushway.errors import AuditError

RUNS = 200_000


def coin(probability: float, seed: int) -> Callable[[int], IntArray]:
    draws = np.random.default_rng(seed)
    return lambda runs: (draws.random(runs) < probability).astype(np.int64)


def trial(
    one: Callable[[int], IntArray], other: Callable[[int], IntArray], epsilon: str, **more: object
) -> Trial:
    return Trial(
        name="synthetic",
        statistic="the answer",
        epsilon=Fraction(epsilon),
        worlds=(World(words="yes", sample=one), World(words="no", sample=other)),
        **more,
    )


def randomized_response(
    epsilon: float,
) -> tuple[Callable[[int], IntArray], Callable[[int], IntArray]]:
    honest = 1 / (1 + math.exp(-epsilon))
    return coin(honest, 1), coin(1 - honest, 2)


@pytest.mark.parametrize("epsilon", ["1/2", "1", "2", "4"])
def test_randomized_response_shows_almost_all_of_its_epsilon_and_no_more(epsilon: str) -> None:
    truth = float(Fraction(epsilon))
    finding = trial(*randomized_response(truth), epsilon, tight=True).examine(RUNS)
    assert finding.passed
    assert finding.epsilon_lower > 0
    assert 0.9 * truth < finding.epsilon_lower <= truth


def test_randomized_response_that_is_too_honest_fails() -> None:
    finding = trial(*randomized_response(1.2), "1").examine(RUNS)
    assert not finding.passed
    assert "at least 1.1" in finding.reason


def test_a_stage_with_more_noise_than_it_claims_fails_if_it_should_be_tight() -> None:
    assert not trial(*randomized_response(0.5), "1", tight=True).examine(RUNS).passed
    assert trial(*randomized_response(0.5), "1").examine(RUNS).passed


def test_the_loss_is_found_in_whichever_world_the_event_is_likelier() -> None:
    often, seldom = coin(0.5, 3), coin(0.001, 4)
    assert not trial(often, seldom, "1").examine(RUNS).passed
    assert not trial(seldom, often, "1").examine(RUNS).passed


def test_an_outcome_that_one_world_never_shows_fails_any_modest_claim() -> None:
    finding = trial(coin(0.01, 5), coin(0, 6), "3").examine(RUNS)
    assert not finding.passed


def test_an_outcome_hidden_among_others_is_found() -> None:
    draws = np.random.default_rng(7)
    leaky = lambda runs: np.where(draws.random(runs) < 0.02, 7, draws.integers(0, 7, runs) * 2)  # noqa: E731
    sound = lambda runs: draws.integers(0, 7, runs) * 2  # noqa: E731
    finding = trial(leaky, sound, "2").examine(RUNS)
    assert not finding.passed
    assert "exactly 7" in finding.event


def test_a_rare_outcome_passes_if_delta_covers_it() -> None:
    worlds = coin(0.005, 8), coin(0, 9)
    assert trial(*worlds, "1", delta=Fraction(1, 100)).examine(RUNS).passed
    assert not trial(*worlds, "1", delta=Fraction(1, 1000)).examine(RUNS).passed


def test_equal_worlds_pass_the_claim_of_no_loss_at_all() -> None:
    finding = trial(coin(0.3, 10), coin(0.3, 11), "0").examine(RUNS)
    assert finding.passed
    assert finding.epsilon_lower == 0
    assert "yes" in finding.event
    assert "no" in finding.event


def test_slightly_different_worlds_fail_the_claim_of_no_loss_at_all() -> None:
    assert not trial(coin(0.3, 12), coin(0.33, 13), "0").examine(RUNS).passed


def test_the_event_is_told_in_words_with_both_shares() -> None:
    finding = trial(*randomized_response(1), "1").examine(RUNS)
    assert finding.event.startswith("the answer is ")
    assert finding.event.count("%") == 2


def test_an_odd_number_of_runs_is_split_into_equal_halves() -> None:
    assert trial(*randomized_response(1), "1").examine(2001).runs == 2000


def test_too_few_runs_are_refused() -> None:
    with pytest.raises(AuditError, match="10 runs show nothing") as refusal:
        trial(*randomized_response(1), "1").examine(10)
    assert "1,000" in refusal.value.advice


def test_effort_multiplies_the_runs_and_never_leaves_too_few() -> None:
    worlds = randomized_response(1)
    assert trial(*worlds, "1", effort=Fraction(3)).examine(2000).runs == 6000
    assert trial(*worlds, "1", effort=Fraction(1, 2)).examine(8000).runs == 4000
    assert trial(*worlds, "1", effort=Fraction(1, 20)).examine(2000).runs == 1000


def test_as_many_releases_are_made_as_it_takes() -> None:
    made = iter(range(10))
    seen = as_many(lambda: np.full(3, next(made)), 7)
    assert seen.tolist() == [0, 0, 0, 1, 1, 1, 2]
    assert next(made) == 3


@pytest.mark.parametrize(
    ("side", "count"), [(Side.AT_LEAST, 3), (Side.AT_MOST, 4), (Side.EXACTLY, 2)]
)
def test_an_event_counts_the_outcomes_that_belong_to_it(side: Side, count: int) -> None:
    assert OutcomeSet(side, 2).count(np.array([0, 1, 2, 2, 5])) == count


def test_an_event_reads_as_words() -> None:
    assert str(OutcomeSet(Side.AT_MOST, -3)) == "at most -3"


def test_a_threshold_that_splits_two_samples_is_found() -> None:
    likely, rare = np.repeat([4, 5], 1000), np.repeat([0, 1], 1000)
    event = most_telling(likely, rare, Fraction(0))
    assert event.count(likely) == 2000
    assert event.count(rare) == 0


def test_a_single_value_between_others_is_found() -> None:
    likely = np.repeat([0, 1, 2], [1000, 1000, 1000])
    rare = np.repeat([0, 2], [1500, 1500])
    assert most_telling(likely, rare, Fraction(0)) == OutcomeSet(Side.EXACTLY, 1)


def test_a_lucky_rare_event_does_not_beat_a_solid_one() -> None:
    likely = np.concatenate([np.repeat([0, 1], [3000, 6990]), np.full(10, 9)])
    rare = np.repeat([0, 1], [7000, 3000])
    assert most_telling(likely, rare, Fraction(0)) == OutcomeSet(Side.AT_LEAST, 1)


def test_samples_with_more_values_than_candidates_are_still_told_apart() -> None:
    rare = np.arange(20_000)
    likely = rare + 10_000
    event = most_telling(likely, rare, Fraction(0))
    assert event.side is Side.AT_LEAST
    assert event.count(rare) <= 100
