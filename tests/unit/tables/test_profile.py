"""Histograms of rows by owner: quantiles, what a limit leaves out, and the limit that is enough."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushway.tables.profile import RowsFound, Sizes


def sizes(*each: int) -> Sizes:
    size, owners = np.unique(np.array(each, dtype=np.int64), return_counts=True)
    # In another order than ascending: an engine guarantees none.
    return Sizes.of({"size": size[::-1], "owners": owners[::-1]})


def test_quantiles_are_numbers_that_somebody_has() -> None:
    found = sizes(*[1] * 50, *[2] * 40, *[7] * 9, 100)
    assert found.quantiles() == {"50%": 1, "90%": 2, "99%": 7, "most": 100}
    assert found.number == 100


def test_who_has_nothing_that_counts_is_nobody() -> None:
    found = sizes(0, 0, 3)
    assert found.people(plausible=10).people == 1
    nobody = sizes(0)
    assert nobody.people(plausible=10).quantiles == {}
    limit = nobody.limited("max_trips", "trips", 2)
    assert (limit.owners, limit.cut_off, limit.enough) == (0, 0.0, 1)


def test_a_limit_leaves_out_what_is_beyond_it() -> None:
    limit = sizes(1, 2, 3, 14).limited("max_trips", "trips", 2)
    assert (limit.owners_above, limit.owners) == (2, 4)
    assert limit.cut_off == pytest.approx(13 / 20)


def test_implausible_are_those_above_and_not_those_at_the_number() -> None:
    people = sizes(5, 6, 6, 7).people(plausible=6)
    assert (people.implausible_ids, people.implausible_rows) == (1, 7)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30))
def test_the_limit_that_is_enough_keeps_95_percent_and_no_smaller_one_does(each: list[int]) -> None:
    enough = sizes(*each).limited("max_trips", "trips", 1).enough
    kept = [sum(min(one, limit) for one in each) for limit in (enough - 1, enough)]
    assert kept[1] >= 0.95 * sum(each)
    assert enough == 1 or kept[0] < 0.95 * sum(each)


def test_what_was_found_does_not_print_itself() -> None:
    found = RowsFound(read=4711, kept=4242, people=sizes(4711).people(1))
    assert "4" not in repr(found).split(" object at ", maxsplit=1)[0]
