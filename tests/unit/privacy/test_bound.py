from fractions import Fraction

import numpy as np
import pytest

from hushway.errors import PrivacyError
from hushway.privacy.bound import Bound


@pytest.mark.parametrize(
    ("cells", "each", "total", "l1", "l2_squared"),
    [
        pytest.param(1, 5, 5, 5, 25, id="one cell gets all records"),
        pytest.param(5, 1, 5, 5, 5, id="each cell gets one"),
        pytest.param(4, 3, 8, 8, 9 + 9 + 4, id="the remainder goes into one more cell"),
        pytest.param(4, 30, 7, 7, 49, id="the total limits what one cell gets"),
        pytest.param(2, 3, 100, 6, 18, id="cells times each limits the total"),
    ],
)
def test_sensitivities_are_those_of_the_worst_unit(
    cells: int, each: int, total: int, l1: int, l2_squared: int
) -> None:
    bound = Bound(cells=cells, each=each, total=total)
    assert (bound.l1, bound.l2_squared) == (l1, l2_squared)


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
