import numpy as np

from hushway.families.od.city.demand import rank_within
from hushway.numerics.chance import draw, generator, largest, race, shuffle


def test_ranks_count_earlier_entries_of_the_same_group() -> None:
    groups = np.array([3, 1, 3, 3, 1, 2])
    assert rank_within(groups).tolist() == [0, 0, 1, 2, 1, 0]
    assert rank_within(np.array([], dtype=np.int64)).tolist() == []


def test_draws_follow_their_weights_and_never_hit_weight_zero() -> None:
    drawn = draw(generator(1, 2), np.array([0.0, 1.0, 3.0, 0.0]), 40_000)
    share = np.bincount(drawn, minlength=4) / 40_000
    assert share[[0, 3]].tolist() == [0, 0]
    assert abs(share[2] - 0.75) < 0.01


def test_a_race_prefers_weight_and_leaves_out_weight_zero() -> None:
    weights = np.array([0.0, 1e-9, 1.0, 1.0])
    winners = [largest(race(generator(seed, 0), weights), 2).tolist() for seed in range(50)]
    assert all(winner == [2, 3] for winner in winners)


def test_a_shuffle_is_an_order_of_all() -> None:
    assert sorted(shuffle(generator(1, 1), 100).tolist()) == list(range(100))


def test_streams_of_one_seed_differ() -> None:
    assert generator(1, 0).random() != generator(1, 1).random() != generator(2, 0).random()
