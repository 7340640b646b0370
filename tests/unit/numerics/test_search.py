"""Numbers are found in a stretch of ascending ones where bisect finds them."""

from bisect import bisect_left, bisect_right

import numpy as np
import pytest

from hushway.numerics.search import first_above, first_at_least


@pytest.mark.parametrize("length", range(12))
def test_numbers_are_found_where_bisect_finds_them(length: int) -> None:
    rng = np.random.default_rng(length)
    ascending = np.sort(rng.integers(0, 8, length))
    # What stands outside the stretch must not be looked at.
    outside = np.concatenate([[100, 100], ascending, [-100, -100]])
    begin, end = 2, 2 + length
    for number in range(-1, 9):
        least = first_at_least(outside, number, begin, end)
        above = first_above(outside.astype(np.float64), float(number), begin, end)
        assert least == begin + bisect_left(ascending.tolist(), number)
        assert above == begin + bisect_right(ascending.tolist(), number)
