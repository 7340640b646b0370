"""What is said to be known of a table."""

import numpy as np
import pytest

from hushway.release.forecast.known import Known, known_sums, sure_share


def test_a_cell_of_twice_its_error_is_sure() -> None:
    parts = [(np.array([6, 10]), np.array([3.0, 5.5])), (np.array([4]), np.array([2.0]))]
    assert sure_share(parts) == pytest.approx(10 / 20)
    assert sure_share(parts, hidden=20.0) == pytest.approx(10 / 40)


def test_nothing_is_known_of_nothing() -> None:
    assert sure_share([(np.zeros(3), np.ones(3))]) == 0
    sums = known_sums("origins", np.zeros(2), np.ones(2))
    assert (sums.within, sums.error) == (0, None)


def test_a_sum_is_close_if_its_interval_ends_within_a_tenth() -> None:
    sums = known_sums("origins", np.array([1000, 500]), np.array([51.0, 26.0]))
    assert sums.within == pytest.approx(1000 / 1500)
    assert sums.error == pytest.approx(77 / 1500)


def test_the_sentence_is_the_same_before_and_after() -> None:
    sums = (known_sums("total", np.array([1000]), np.array([1.0])),)
    known = Known(counted="trips", cells="flows", sure=0.05, sums=sums)
    assert known.sentence == (
        "5% of the trips stand in flows of at least twice their error. Share in sums that "
        "are sure within 10%: total 100%. Use sums: single flows say little here."
    )
    assert known.foreseen == "About " + known.sentence.replace("stand", "would stand").replace(
        "that are", "that would be"
    )


def test_sums_are_not_advised_where_there_are_none() -> None:
    known = Known(counted="visits", cells="counts", sure=0.0)
    assert known.sentence.endswith("their error. Single counts say little here.")
