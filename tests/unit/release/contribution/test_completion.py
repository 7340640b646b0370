"""What limits leave out is told by noisy sums and a noisy histogram, with errors that hold."""

import math

import numpy as np
import pytest

from hushway.privacy.bound import Bound
from hushway.privacy.calibration import noise_for
from hushway.privacy.contribution import LADDER
from hushway.privacy.loss import PureLoss
from hushway.release.contribution.completion import LeftOutSums, LeftOutTotal, completion_of
from hushway.release.contribution.crowd import Crowd
from hushway.release.contribution.limits import WHOLE, chosen_limits

NOISE = 30.0


def crowd_of(each: np.ndarray, seed: int = 0, noise: float = NOISE) -> Crowd:
    people = np.bincount(np.searchsorted(LADDER, each, side="right") - 1, minlength=len(LADDER))
    noisy = people + np.random.default_rng(seed).normal(0, noise, len(LADDER))
    return Crowd(ladder=LADDER, noisy=np.rint(noisy).astype(int).tolist(), variance=noise**2)


def week(seed: int = 0) -> np.ndarray:
    """Returns trips of commuters and of all others."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.binomial(12, 0.8, 20_000), 1 + rng.geometric(0.4, 30_000)])


def cell_noise(limit: int) -> float:
    return 2.0 * (limit / 0.7) ** 2


def test_a_noisy_histogram_tells_how_many_records_there_are() -> None:
    each = week()
    crowd = crowd_of(each)
    for limit in (1, 4, 8):
        left = np.maximum(each - limit, 0).sum()
        error = np.sqrt(crowd.left_out_variance(limit))
        assert abs(crowd.left_out(limit) - left) < 3 * error
        assert error < 0.1 * each.sum()


def test_where_noise_hides_everybody_there_may_be_twice_as_many_records() -> None:
    crowd = crowd_of(np.empty(0, dtype=np.int64))
    found = completion_of(np.full(8, 5.0), [], crowd, chosen_limits(crowd, cell_noise, None))
    assert not found.added.any()
    assert found.sum_variance(np.zeros(8, dtype=np.int64), 1)[0] == pytest.approx(40.0**2)


def test_one_sum_of_all_that_is_left_out_reaches_people_whom_noise_hides() -> None:
    each = week()
    crowd = crowd_of(each)
    limits = chosen_limits(crowd, cell_noise, 4, part=PureLoss)
    assert limits.whole is not None
    assert limits.whole > limits.sums
    reach, spend = limits.whole - limits.cells, PureLoss(limits.share * WHOLE)
    variance = float(noise_for(spend, Bound.of_records(reach)).variance)
    counted = np.full(8, np.minimum(each, 4).sum() / 8)
    left = np.clip(each - 4, 0, reach).sum()
    errors, alone = [], completion_of(counted, [], crowd, limits).whole.sum()
    for draw in np.random.default_rng(1).normal(left, math.sqrt(variance), 200):
        told = LeftOutTotal(value=draw, variance=variance, limit=limits.whole)
        found = completion_of(counted, [], crowd, limits, told)
        errors.append(found.added.sum() - np.maximum(each - 4, 0).sum())
    stated = found.whole.sum()
    assert 0.5 * stated < np.sqrt(np.mean(np.square(errors))) < 1.2 * stated
    assert stated < alone / 2


def test_the_error_grows_step_by_step_with_the_part_of_people_whom_noise_hides() -> None:
    found = []
    for shown in (0, 250, 500, 750, 1000):
        noisy = [shown] + [0] * (len(LADDER) - 1)
        crowd = Crowd(ladder=LADDER, noisy=noisy, variance=1.0)
        limits = chosen_limits(crowd, cell_noise, 8)
        whole = completion_of(np.full(8, 125.0), [], crowd, limits)
        found.append(np.sqrt(whole.sum_variance(np.zeros(8, dtype=np.int64), 1)[0]) / 1000)
    np.testing.assert_allclose(found, [1, 0.75, 0.5, 0.25, 0], atol=0.01)


def test_a_limit_that_nobody_exceeds_adds_no_error() -> None:
    crowd = crowd_of(np.full(50_000, 3))
    found = completion_of(np.full(8, 5.0), [], crowd, chosen_limits(crowd, cell_noise, 8))
    assert found.sum_variance(np.zeros(8, dtype=np.int64), 1)[0] == pytest.approx(0, abs=1e-6)


def test_nobody_is_seen_in_noise_alone() -> None:
    crowd = crowd_of(np.empty(0, dtype=np.int64))
    assert crowd.records == 0
    assert chosen_limits(crowd, cell_noise, None).cells == 1


def test_a_limit_is_smaller_than_what_the_busiest_do_and_larger_budgets_allow_more() -> None:
    crowd = crowd_of(week())
    little = chosen_limits(crowd, lambda limit: 100 * cell_noise(limit), None)
    much = chosen_limits(crowd, lambda limit: cell_noise(limit) / 100, None)
    assert 1 <= little.cells <= much.cells <= 16
    assert little.asks_left_out
    assert little.share > much.share


def test_a_given_limit_stays_and_nothing_is_asked_where_nothing_is_left_out() -> None:
    crowd = crowd_of(np.full(50_000, 3))
    limits = chosen_limits(crowd, cell_noise, 3)
    assert limits.cells == 3
    assert not limits.asks_left_out
    assert limits.share == 0


@pytest.mark.parametrize("seed", range(4))
def test_completed_cells_and_sums_are_those_of_all_records(seed: int) -> None:
    rng = np.random.default_rng(seed)
    each, cells, groups = week(seed), 400, 20
    crowd = crowd_of(each, seed)
    limits = chosen_limits(crowd, cell_noise, 4)
    group = np.arange(cells) % groups
    # What is left out differs between groups: busy people are drawn to some of them.
    drawn = rng.lognormal(0, 0.5, groups)[group]
    place = rng.random((each.sum(),)) * cells
    person = np.repeat(np.arange(len(each)), each)
    rank = np.arange(len(person)) - np.repeat(np.cumsum(each) - each, each)
    busy = each[person] > 6
    chosen = np.searchsorted(np.cumsum(drawn), rng.random(busy.sum()) * drawn.sum())
    cell = place.astype(int)
    cell[busy] = np.minimum(chosen, cells - 1)
    truth = np.bincount(cell, minlength=cells).astype(float)
    counted = np.bincount(cell[rank < limits.cells], minlength=cells).astype(float)
    beyond = (rank >= limits.cells) & (rank < limits.sums)
    noisy = np.bincount(group[cell[beyond]], minlength=groups) + rng.normal(0, NOISE, groups)
    sums = LeftOutSums(element=group, values=noisy, variance=NOISE**2)
    found = completion_of(counted, [sums], crowd, limits)
    whole = counted + found.added
    assert whole.sum() == pytest.approx(truth.sum(), rel=0.02)
    by_group = np.bincount(group, whole - truth, groups)
    held = np.abs(by_group) <= 3 * np.sqrt(found.sum_variance(group, groups))
    assert held.all()
    # Which cells got too much is nothing that the total is unsure of.
    total = found.sum_variance(np.zeros_like(group), 1)[0]
    assert total == pytest.approx(found.whole.sum() ** 2)
    assert np.abs(by_group).sum() < 0.3 * np.abs(np.bincount(group, counted - truth)).sum()
