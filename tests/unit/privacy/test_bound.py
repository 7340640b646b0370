from fractions import Fraction

import numpy as np
import pytest

from hushway.errors import PrivacyError
from hushway.privacy.bound import Bound


def test_a_unit_that_fills_one_cell_moves_it_by_all_its_records() -> None:
    bound = Bound(cells=1, each=5, total=5)
    assert (bound.l1, bound.l2_squared) == (5, 25)


def test_a_unit_that_spreads_its_records_moves_each_cell_once() -> None:
    bound = Bound(cells=5, each=1, total=5)
    assert (bound.l1, bound.l2_squared) == (5, 5)


def test_the_remainder_goes_into_one_more_cell() -> None:
    bound = Bound(cells=4, each=3, total=8)
    assert (bound.l1, bound.l2_squared) == (8, 9 + 9 + 4)


def test_the_total_limits_what_one_cell_can_get() -> None:
    bound = Bound(cells=4, each=30, total=7)
    assert (bound.l1, bound.l2_squared) == (7, 49)


def test_cells_times_each_limits_the_total() -> None:
    bound = Bound(cells=2, each=3, total=100)
    assert (bound.l1, bound.l2_squared) == (6, 18)


@pytest.mark.parametrize("part", ["cells", "each", "total"])
@pytest.mark.parametrize("value", [0, -1, 1.5, float("nan"), "2", True, None, Fraction(2)])
def test_a_part_that_is_not_a_whole_number_of_at_least_one_is_refused(
    part: str, value: int
) -> None:
    with pytest.raises(PrivacyError, match="whole number"):
        Bound(**{"cells": 1, "each": 1, "total": 1, part: value})


def test_a_numpy_integer_is_refused_because_it_would_overflow_in_silence() -> None:
    big = np.int64(1 << 40)
    with pytest.raises(PrivacyError, match="whole number"):
        Bound(cells=big, each=big, total=big)
    exact = Bound(cells=1 << 40, each=1 << 40, total=1 << 90)
    assert exact.l1 == 1 << 80
