"""The sparse form has the law of a dense draw, cell by cell and all cells together.

The dense law is enumerated: cells are independent, so the chance of seeing exactly these cells with
exactly these values is a product. Values far above the threshold are counted together.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hushway.privacy.noise.gaussian import DiscreteGaussian
from hushway.privacy.noise.inversion import NoiseLaw
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.noise.lazy import LazyVector, Shown
from hushway.privacy.randomness import SeededSource
from support.goodness_of_fit import chi_square

ENOUGH = 1e-4
RUNS = 2500
HIDDEN = 0

LAPLACE = DiscreteLaplace(Fraction(1))
GAUSSIAN = DiscreteGaussian(Fraction(2))


def mass(law: NoiseLaw, z: NDArray[np.int64]) -> NDArray[np.float64]:
    grid = np.arange(-80, 81)
    exponent = np.abs(grid) if isinstance(law, DiscreteLaplace) else grid**2 / 4
    weights = np.exp(-exponent.astype(np.float64))
    return (weights / weights.sum())[z + 80]


def dense_law(
    law: NoiseLaw, exact: Sequence[int], threshold: int, values: int
) -> NDArray[np.float64]:
    """The chance of every joint outcome: each cell hidden, at one of the values, or above them."""
    per_cell = []
    for count in exact:
        shown = mass(law, np.arange(threshold, threshold + values) - count)
        below = mass(law, np.arange(-60, threshold) - count).sum()
        per_cell.append([below, *shown, 1 - below - shown.sum()])
    return np.array([np.prod(outcome) for outcome in product(*per_cell)])


def outcome_of(shown: Shown, size: int, threshold: int, values: int) -> int:
    code = np.zeros(size, dtype=np.int64)
    code[shown.cells] = 1 + np.minimum(shown.values - threshold, values)
    return int(np.ravel_multi_index(tuple(code), (values + 2,) * size))


def lazy_vector(law: NoiseLaw, exact: Sequence[int], source: SeededSource) -> LazyVector:
    counts = np.array(exact, dtype=np.int64)
    cells = np.flatnonzero(counts)
    return LazyVector(law=law, size=len(exact), cells=cells, counts=counts[cells], source=source)


CASES = [(LAPLACE, (0, 2, 0, 0), 1, 2), (GAUSSIAN, (0, 1, 0, 0), 1, 2)]
MORE_CASES = [
    (LAPLACE, (0, 0, 0), 1, 3),
    (LAPLACE, (0, 0, 1, 0), 0, 2),
    (LAPLACE, (0, 0, 0, 0, 0, 0), 2, 1),
    (GAUSSIAN, (0, 0, 0), -1, 3),
]
LOOKS: list[Any] = [
    (3, 1, 0),
    *(pytest.param(looks, marks=pytest.mark.long) for looks in ((3,), (4, 2), (2, 5, 2))),
]


@pytest.mark.parametrize(
    "case", [*CASES, *(pytest.param(case, marks=pytest.mark.long) for case in MORE_CASES)], ids=str
)
def test_all_that_is_shown_has_the_law_of_a_dense_draw(
    case: tuple[NoiseLaw, Sequence[int], int, int],
) -> None:
    law, exact, threshold, values = case
    source = SeededSource(41)
    observed = np.zeros((values + 2) ** len(exact))
    for _ in range(RUNS):
        shown = lazy_vector(law, exact, source).reveal(threshold)
        observed[outcome_of(shown, len(exact), threshold, values)] += 1
    assert chi_square(observed, dense_law(law, exact, threshold, values)) > ENOUGH


@pytest.mark.long
@pytest.mark.parametrize("looks", LOOKS, ids=str)
@pytest.mark.parametrize("law", [LAPLACE, pytest.param(GAUSSIAN, marks=pytest.mark.long)], ids=str)
def test_looking_step_by_step_has_the_law_of_looking_once(
    law: NoiseLaw, looks: Sequence[int]
) -> None:
    exact, last, values = (0, 1, 0, 0), -1, 2
    source = SeededSource(42)
    observed = np.zeros((values + 2) ** len(exact))
    for _ in range(1500):
        seen = lazy_vector(law, exact, source)
        for threshold in looks:
            seen.reveal(threshold)
        observed[outcome_of(seen.reveal(last), len(exact), last, values)] += 1
    assert chi_square(observed, dense_law(law, exact, last, values)) > ENOUGH


@pytest.mark.long
def test_what_two_looks_show_together_has_the_law_of_a_dense_draw() -> None:
    """The pair (what the first look showed, what the second added), enumerated jointly."""
    high, low = 2, 0
    source = SeededSource(43)
    observed = np.zeros((4, 4, 4))
    for _ in range(RUNS):
        seen = lazy_vector(LAPLACE, (0, 0, 3), source)
        first, second = seen.reveal(high), seen.reveal(low)
        code = np.full(3, HIDDEN)
        code[second.cells] = 1 + (second.values > low)
        code[first.cells] = 3
        observed[tuple(code)] += 1
    chances = []
    for count in (0, 0, 3):
        reach = mass(LAPLACE, np.arange(high, 60) - count).sum()
        at, above = mass(LAPLACE, np.array([low, low + 1]) - count)
        chances.append([1 - reach - at - above, at, above, reach])
    expected = np.array([np.prod(outcome) for outcome in product(*chances)])
    assert chi_square(observed.ravel(), expected) > ENOUGH


@pytest.mark.parametrize("law", [LAPLACE, GAUSSIAN], ids=str)
def test_the_values_of_many_empty_cells_have_the_law_above_the_threshold(law: NoiseLaw) -> None:
    empty = np.empty(0, dtype=np.int64)
    seen = LazyVector(law=law, size=200_000, cells=empty, counts=empty, source=SeededSource(44))
    for threshold in (4, 2, 1, -1):
        seen.reveal(threshold)
    values = seen.reveal(-2).values
    observed = np.bincount(values + 2, minlength=40)
    hidden = 200_000 - observed.sum()
    expected = mass(law, np.arange(-2, 38))
    assert chi_square([hidden, *observed], [1 - expected.sum(), *expected]) > ENOUGH


def test_the_places_of_many_empty_cells_are_spread_evenly() -> None:
    size = 10**12
    occupied = np.arange(0, 10**6, 7, dtype=np.int64)
    seen = LazyVector(
        law=DiscreteLaplace(Fraction(2)),
        size=size,
        cells=occupied,
        counts=np.full(len(occupied), -(10**6), dtype=np.int64),
        source=SeededSource(45),
    )
    cells = seen.reveal(36).cells
    lower = np.setdiff1d(seen.reveal(34).cells, cells)
    for group in (cells, lower):
        assert len(group) > 1000
        parts = np.bincount(group // (size // 20), minlength=20)
        assert chi_square(parts, np.full(20, 1 / 20)) > ENOUGH
