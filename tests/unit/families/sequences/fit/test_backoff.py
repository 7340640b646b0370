"""Histories are pooled by where stops repeat, and expected records become whole ones evenly."""

import numpy as np
import pytest

from hushway.families.sequences.fit.backoff import (
    END,
    NEW,
    Model,
    Moves,
    all_keys,
    kinds_of,
    pooled,
    stops_back,
)
from hushway.families.sequences.fit.completion_rounding import spread_added


def test_a_place_is_known_by_its_last_visit() -> None:
    history = np.array([5, 7, 7, 5])
    assert [stops_back(history, place) for place in (5, 7, 6)] == [1, 2, 0]


def test_round_trips_from_different_homes_have_one_shape_and_their_own_last_stop() -> None:
    kinds, _ = all_keys(np.array([[5, 7, 7], [1, 2, 2], [1, 2, 3], [3, 2, 2]]))
    shape, shape_and_stop = kinds[:, 2], kinds[:, 3]
    assert shape[0] == shape[1] == shape[3] != shape[2]
    assert shape_and_stop[1] == shape_and_stop[3] != shape_and_stop[0]


def test_going_back_is_told_from_going_to_a_new_place() -> None:
    histories = np.array([[5, 7], [1, 2]])
    kinds = kinds_of(histories, np.array([0, 0, 1]), np.array([7, 5, 7]))
    assert kinds.tolist() == [2, 3, NEW]


@pytest.fixture
def model() -> Model:
    """From place 0, six in ten end, three go to place 1 and one to place 2."""
    kind_keys, place_keys = all_keys(np.zeros((3, 1), dtype=np.int64))
    moves = Moves(
        kind_keys=kind_keys,
        place_keys=place_keys,
        kind=np.array([END, NEW, NEW]),
        place=np.array([0, 1, 2]),
        records=np.array([6e9, 3e9, 1e9]),
    )
    return pooled([moves], places=4)


@pytest.mark.parametrize("each", [1, 7, 1000])
def test_fractions_of_records_add_up_over_many_prefixes(model: Model, each: int) -> None:
    prefixes = 7000 // each
    histories = np.zeros((prefixes, 1), dtype=np.int64)
    counts = np.full(prefixes, each)
    stay, (row, place, records) = spread_added(model, histories, counts)
    total = stay + np.bincount(row, records, minlength=prefixes)
    np.testing.assert_array_equal(total, counts)
    went = np.bincount(place, records, minlength=4)
    expected = np.array([0, 0.3, 0.1, 0]) * prefixes * each
    # Golden steps are even to within a few of thousands; independent draws would miss by about 40.
    np.testing.assert_allclose(went, expected, atol=5)
    assert stay.sum() == pytest.approx(0.6 * prefixes * each, abs=5)


def test_nothing_seen_means_that_nearly_all_end() -> None:
    stay, _ = spread_added(pooled([], places=4), np.zeros((1000, 1), np.int64), np.full(1000, 1))
    assert stay.sum() == pytest.approx(900, abs=5)
