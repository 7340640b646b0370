import copy
import gc
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest

from hushway.errors import PrivacyError
from hushway.privacy import measured as measured_module
from hushway.privacy.bound import Bound
from hushway.privacy.events import LaplaceEvent
from hushway.privacy.measured import Measured, MeasuredSparse
from hushway.privacy.noise.grouped import Grouping, OneGroup
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.noise.lazy import LazyVector
from hushway.privacy.query import Query
from hushway.privacy.randomness import SeededSource
from support.boxes import Boxes

QUERY = Query(name="trips", cells=Boxes())
LAW = DiscreteLaplace(Fraction(3))
EVENT = LaplaceEvent(
    query="trips", cells=100, bound=Bound(cells=1, each=1, total=1), scale=Fraction(3)
)


def sparse(threshold: int | None = 4, groups: Grouping | None = None) -> MeasuredSparse:
    vector = LazyVector(
        law=LAW,
        size=100,
        cells=np.array([5, 50], dtype=np.int64),
        counts=np.array([1000, 2000], dtype=np.int64),
        source=SeededSource(2),
        groups=groups,
    )
    return MeasuredSparse(
        query=QUERY,
        threshold=threshold,
        variance=LAW.variance,
        event=EVENT,
        vector=vector,
        groups=groups,
    )


def test_a_sparse_measurement_shows_its_own_threshold_unless_another_is_given() -> None:
    answer = sparse(threshold=4)
    assert answer.reveal().values.min() >= 4
    assert len(answer.reveal(-200).cells) == 100
    assert answer.reveal().cells.tolist() == answer.reveal(4).cells.tolist()


def test_a_threshold_of_numpy_counts_as_the_whole_number_it_is() -> None:
    answer = sparse()
    assert answer.reveal(np.int64(6)).cells.tolist() == answer.reveal(6).cells.tolist()


@pytest.mark.parametrize("threshold", [1.5, "4", np.float64(4)])
def test_a_threshold_that_is_not_a_whole_number_is_refused(threshold: int) -> None:
    with pytest.raises(TypeError):
        sparse().reveal(threshold)


def test_without_a_threshold_of_its_own_one_must_be_given() -> None:
    answer = sparse(threshold=None)
    with pytest.raises(PrivacyError, match="no threshold of its own"):
        answer.reveal()
    assert {5, 50} <= set(answer.reveal(100).cells.tolist())


def test_with_groups_it_can_be_looked_at_group_by_group() -> None:
    groups = OneGroup(100)
    answer = sparse(threshold=None, groups=groups)
    shown = answer.reveal_groups(np.array([500]))
    assert shown.cells.tolist() == [5, 50]
    assert shown.start.tolist() == [0, 2]
    assert answer.groups is groups


def test_without_groups_it_cannot_be_looked_at_group_by_group() -> None:
    with pytest.raises(PrivacyError, match="has no groups"):
        sparse().reveal_groups(np.array([500]))


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_sparse_measurement_cannot_be_copied(duplicate: Callable[[object], object]) -> None:
    """A copy would draw the hidden cells again, and the empty ones would differ."""
    with pytest.raises(PrivacyError, match="copied"):
        duplicate(sparse())


def test_a_sparse_measurement_takes_no_further_attributes() -> None:
    with pytest.raises(AttributeError):
        sparse().exact = 1  # type: ignore[attr-defined]  # must fail


def test_a_sparse_measurement_that_is_gone_leaves_no_vector_behind() -> None:
    gc.collect()
    before = len(measured_module._VECTORS)
    answer = sparse()
    assert len(measured_module._VECTORS) == before + 1
    del answer
    gc.collect()
    assert len(measured_module._VECTORS) == before


def test_a_dense_measurement_cannot_be_reassigned() -> None:
    answer = Measured(
        query=QUERY, values=np.zeros(100, dtype=np.int64), variance=LAW.variance, event=EVENT
    )
    with pytest.raises(FrozenInstanceError):
        answer.variance = Fraction(0)
