"""CountingContext and intervals as people write them."""

import math

import pytest

from hushway.study.results import Interval


@pytest.mark.parametrize(
    ("mean", "half_width", "written"),
    [
        (0.5034, 0.0226, "0.503 ± 0.023"),
        (291.6, 112.4, "292 ± 112"),
        (2156.4, 26.2, "2,156 ± 26"),
        (99.96, 9.96, "100 ± 10"),
        (41.0, math.nan, "41"),
    ],
)
def test_numbers_are_short_and_never_powers_of_ten(
    mean: float, half_width: float, written: str
) -> None:
    said = str(Interval(mean=mean, half_width=half_width))
    assert said.replace("\N{NO-BREAK SPACE}", " ") == written
