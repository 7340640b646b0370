"""Ranks of records bound every unit, whatever limits are asked for."""

import ibis
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushway.arrays import IntArray
from hushway.engine.ranks import RankSteps
from hushway.errors import PrivacyError
from hushway.privacy.contribution import LADDER, ladder_with
from hushway.privacy.query import ExactCounts

SIZE = 7
sizes = st.lists(st.integers(1, 700), min_size=1, max_size=6)


def ranked(steps: RankSteps, each: list[int]) -> ExactCounts:
    """Returns counts by (step, cell) of people with so many records, in cells by turns."""
    cells: list[IntArray] = []
    for number in each:
        rank = np.arange(min(number, steps.ladder[-1]))
        cells.append(steps.of_array(rank) * SIZE + rank % SIZE)
    found, values = np.unique(np.concatenate(cells), return_counts=True)
    return ExactCounts(cells=found, values=values.astype(np.int64))


@given(each=sizes, first=st.sampled_from((0, *LADDER[:-1])), further=st.integers(1, 4))
def test_a_range_of_ranks_holds_as_many_records_as_it_is_long(
    each: list[int], first: int, further: int
) -> None:
    steps = RankSteps(LADDER)
    at = 0 if first == 0 else LADDER.index(first) + 1
    last = LADDER[min(at + further - 1, len(LADDER) - 1)]
    counted = steps.between(ranked(steps, each), SIZE, first, last)
    expected = sum(max(0, min(number, last) - first) for number in each)
    assert counted.values.sum() == expected
    assert (np.diff(counted.cells) > 0).all()


@given(each=sizes)
def test_everybody_is_in_one_class(each: list[int]) -> None:
    steps = RankSteps(LADDER)
    found = steps.units(ranked(steps, each), SIZE)
    expected = np.zeros(len(LADDER), dtype=np.int64)
    for number in each:
        expected[np.searchsorted(LADDER, number, side="right") - 1] += 1
    assert np.array_equal(found.cells, np.flatnonzero(expected))
    assert np.array_equal(found.values, expected[found.cells])


@pytest.mark.parametrize("ladder", [(1,), (5,), ladder_with(7), LADDER])
def test_engines_and_arrays_take_the_same_steps(ladder: tuple[int, ...]) -> None:
    steps = RankSteps(ladder)
    rank = np.arange(ladder[-1])
    table = ibis.memtable(pa.table({"rank": rank}))
    found = table.select(step=steps.of_column(table["rank"])).to_pyarrow()["step"].to_numpy()
    assert np.array_equal(found, steps.of_array(rank))


def test_ranks_that_were_not_told_apart_are_refused() -> None:
    steps = RankSteps((4,))
    counts = ranked(steps, [9])
    with pytest.raises(PrivacyError, match="by these ranks"):
        steps.between(counts, SIZE, 0, 3)
