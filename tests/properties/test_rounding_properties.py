"""Controlled rounding against its definition, on margins nobody chose."""

from itertools import pairwise, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hushway.arrays import FloatArray, IntArray
from hushway.families.od.fit.rounding.controlled import round_cells, round_totals
from hushway.families.od.fit.rounding.network import GroupedMargin, grouped_margin, two_chains

EXAMPLES = settings(max_examples=60, deadline=None)


@st.composite
def chains(draw: st.DrawFn, groups: int) -> list[IntArray]:
    """Up to three margins, each of which joins elements of the one before it."""
    margins: list[IntArray] = []
    above = np.arange(groups)
    for _ in range(draw(st.integers(0, 3))):
        numbers = st.integers(0, draw(st.integers(0, min(groups, 12) - 1)))
        joined = draw(st.lists(numbers, min_size=groups, max_size=groups))
        above = np.array(joined)[above]
        margins.append(above)
    return margins


@st.composite
def tables(draw: st.DrawFn) -> tuple[FloatArray, list[IntArray]]:
    """Group totals in eighths, which floats add without an error, and two chains, mixed."""
    groups = draw(st.integers(1, 20))
    totals = draw(st.lists(st.integers(0, 40), min_size=groups, max_size=groups))
    margins = draw(chains(groups)) + draw(chains(groups))
    return np.array(totals) / 8, draw(st.permutations(margins))


def is_floor_or_ceiling(real: FloatArray, whole: FloatArray | IntArray) -> bool:
    return bool(np.all((whole == np.floor(real)) | (whole == np.ceil(real))))


@EXAMPLES
@given(table=tables())
def test_two_chains_of_margins_are_rounded_exactly(
    table: tuple[FloatArray, list[IntArray]],
) -> None:
    totals, margins = table
    rounded = round_totals(totals, margins)
    assert rounded.exact
    everything = np.zeros(len(totals), dtype=np.int64)
    for element in (np.arange(len(totals)), everything, *margins):
        real = np.bincount(element, totals)
        assert is_floor_or_ceiling(real, np.bincount(element, rounded.totals))


@EXAMPLES
@given(table=tables(), data=st.data())
def test_cells_groups_and_margins_are_rounded_at_once(
    table: tuple[FloatArray, list[IntArray]], data: st.DataObject
) -> None:
    _, margins = table
    groups = len(table[0])
    place = st.tuples(st.integers(0, groups - 1), st.integers(0, 30))
    cells = np.array(data.draw(st.lists(place, min_size=1, max_size=40)))
    group, values = cells[:, 0], cells[:, 1] / 8
    totals = np.bincount(group, values, groups)
    rounded = round_cells(values, group, round_totals(totals, margins).totals)
    assert is_floor_or_ceiling(values, rounded)
    for element in (np.arange(groups), *margins):
        real = np.bincount(element[group], values)
        assert is_floor_or_ceiling(real, np.bincount(element[group], rounded))


@EXAMPLES
@given(
    cells=st.lists(st.tuples(st.integers(0, 3), st.floats(0, 9)), min_size=1, max_size=40),
    data=st.data(),
)
def test_the_cells_that_lack_least_are_rounded_up(
    cells: list[tuple[int, float]], data: st.DataObject
) -> None:
    group, values = np.array([g for g, _ in cells]), np.array([v for _, v in cells])
    floors = np.floor(values).astype(np.int64)
    # Fractions that differ by less than 2^-32 are equal.
    lacks = np.rint((1 - (values - floors)) * 2**32)
    totals, ups = np.zeros(4, dtype=np.int64), np.zeros(4, dtype=np.int64)
    for number in range(4):
        here = group == number
        ups[number] = data.draw(st.integers(0, int(np.sum(here & (values > floors)))))
        totals[number] = floors[here].sum() + ups[number]
    raised = round_cells(values, group, totals) - floors
    assert set(raised.tolist()) <= {0, 1}
    for number in range(4):
        here = (group == number) & (values > floors)
        assert raised[group == number].sum() == ups[number]
        np.testing.assert_array_equal(
            np.sort(lacks[here & (raised == 1)]), np.sort(lacks[here])[: ups[number]]
        )


def refines(finer: GroupedMargin, coarser: GroupedMargin) -> bool:
    return len(set(zip(finer.element, coarser.element, strict=True))) == finer.count


def is_chain(margins: list[GroupedMargin]) -> bool:
    ordered = sorted(margins, key=lambda margin: margin.count)
    return all(refines(b, a) for a, b in pairwise(ordered))


@EXAMPLES
@given(
    elements=st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=1, max_size=5)
)
def test_no_two_chains_hold_more_elements_than_those_chosen(elements: list[list[int]]) -> None:
    margins = [grouped_margin(np.array(element)) for element in elements]
    chosen = two_chains(margins)
    assert all(is_chain([margins[m] for m in chain]) for chain in chosen)
    counts = [margin.count if margin.count > 1 else 0 for margin in margins]
    most = 0
    for sides in product(range(3), repeat=len(margins)):
        split = [[m for m, side in enumerate(sides) if side == wanted] for wanted in range(2)]
        if all(is_chain([margins[m] for m in chain]) for chain in split):
            most = max(most, sum(counts[m] for chain in split for m in chain))
    assert sum(counts[m] for chain in chosen for m in chain) == most
