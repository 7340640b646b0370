from collections.abc import Callable, Sequence

import numpy as np
import pytest

from hushway.errors import PrivacyError
from hushway.privacy.noise.exponential import uniform_below
from hushway.privacy.noise.grouped_draws import uniform_subsets
from hushway.privacy.randomness import BitSource, SeededSource

Script = Callable[[Sequence[int], int], BitSource]

LAST = (1 << 64) - 1


@pytest.mark.parametrize("limit", [1, 2, 3, 1000, 3 << 61, (1 << 63) - 1, 1 << 63])
def test_uniform_numbers_stay_below_their_limit(limit: int) -> None:
    values = uniform_below(SeededSource(1), 2000, limit)
    assert values.min() >= 0
    assert int(values.max()) < limit


@pytest.mark.parametrize("limit", [3, 7, 10**12, 3 << 61, (1 << 63) - 1])
def test_words_beyond_the_last_whole_multiple_are_drawn_again(limit: int, scripted: Script) -> None:
    multiple = (1 << 64) // limit * limit
    assert uniform_below(scripted([multiple - 1], 0), 1, limit)[0] == limit - 1
    if multiple <= LAST:
        assert uniform_below(scripted([multiple, LAST, 5], 0), 1, limit)[0] == 5 % limit


@pytest.mark.parametrize("limit", [1, 2, 1 << 40, 1 << 63])
def test_a_power_of_two_uses_every_word(limit: int, scripted: Script) -> None:
    assert uniform_below(scripted([LAST], 0), 1, limit)[0] == limit - 1


@pytest.mark.parametrize("limit", [0, -1, (1 << 63) + 1])
def test_a_limit_that_cannot_be_is_refused(limit: int) -> None:
    with pytest.raises(PrivacyError, match="limit"):
        uniform_below(SeededSource(1), 1, limit)


@pytest.mark.parametrize(
    ("count", "universe"),
    [(0, 0), (0, 5), (5, 5), (4, 5), (1, 1), (3, 6), (999, 1000), (1000, 10**12), (50_000, 99_999)],
)
def test_a_subset_is_ascending_distinct_and_inside_its_universe(count: int, universe: int) -> None:
    subset = uniform_subsets(SeededSource(3), [count], [universe])
    assert subset.dtype == np.int64
    assert len(subset) == count
    assert (np.diff(subset) > 0).all()
    if count:
        assert subset[0] >= 0
        assert subset[-1] < universe


def test_a_subset_of_everything_is_everything() -> None:
    assert uniform_subsets(SeededSource(3), [7], [7]).tolist() == list(range(7))


@pytest.mark.parametrize(("count", "universe"), [(6, 5), (-1, 5), (1, 0)])
def test_a_subset_that_cannot_be_is_refused(count: int, universe: int) -> None:
    with pytest.raises(PrivacyError, match="subset"):
        uniform_subsets(SeededSource(3), [count], [universe])


def test_repeats_keep_their_first_appearance(scripted: Script) -> None:
    drawn = uniform_subsets(scripted([7, 3, 7, 3, 9], 1), [3], [100])
    assert drawn.tolist() == [3, 7, 9]
