"""A source that shows only what it is asked for leads to the same table."""

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.families.od.fit.projection.dense_cells import (
    Foreseeable,
    TailForecast,
    noise_forecast,
)
from hushway.families.od.fit.projection.problem import GroupedCells, Margin
from hushway.families.od.fit.projection.project import EVERYTHING, few_distinct, project
from support.od_problems import cells_by_group as dense


class Reluctant:
    """Shows what is asked for and writes down what was asked."""

    def __init__(self, values: IntArray, groups: IntArray, count: int) -> None:
        self._values = values
        self._groups = groups
        self.sizes = np.bincount(groups, minlength=count).astype(np.int64)
        self.asked: list[IntArray] = []

    def above(self, thresholds: IntArray) -> GroupedCells:
        self.asked.append(thresholds.copy())
        cells = np.flatnonzero(self._values >= thresholds[self._groups])
        order = np.lexsort((cells, -self._values[cells], self._groups[cells]))
        cells = cells[order]
        shown = np.bincount(self._groups[cells], minlength=len(self.sizes))
        start = np.concatenate([[0], np.cumsum(shown)]).astype(np.int64)
        return GroupedCells(start=start, cells=cells, values=self._values[cells])


class Foresighted(Reluctant):
    """Also knows the scale of its noise, rightly or wrongly."""

    def __init__(self, values: IntArray, groups: IntArray, count: int, scale: float) -> None:
        super().__init__(values, groups, count)
        self._scale = scale

    def forecast(self) -> TailForecast:
        return noise_forecast(self.sizes, self._scale)


def problem(seed: int) -> tuple[IntArray, IntArray, int, list[Margin]]:
    rng = np.random.default_rng(seed)
    count, each = 60, 300
    groups = np.repeat(np.arange(count), each)
    rng.shuffle(groups)
    truth = (rng.random(count * each) < 0.01) * rng.integers(1, 60, count * each)
    values = truth + np.rint(rng.laplace(0, 10, count * each)).astype(np.int64)
    margins = []
    for element in (np.zeros(count, dtype=np.int64), np.arange(count) // 5, np.arange(count) % 7):
        size = int(element.max()) + 1
        exact = np.bincount(element[groups], truth, size)
        counts = np.rint(exact + rng.laplace(0, 10, size)).astype(np.int64)
        margins.append(Margin(element=element, counts=counts, weight=count * each / size))
    return values, groups, count, margins


@pytest.mark.parametrize("scale", [1.0, 10.0, 300.0])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_lazy_and_dense_cells_give_the_same_table(seed: int, scale: float) -> None:
    values, groups, count, margins = problem(seed)
    whole = project(dense(values, groups, count), margins)
    source = Foresighted(values, groups, count, scale)
    assert isinstance(source, Foreseeable)
    lazy = project(source, margins)
    assert np.array_equal(whole.cells, lazy.cells)
    assert np.allclose(whole.values, lazy.values, rtol=0, atol=1e-9)
    assert np.allclose(whole.shifts, lazy.shifts, rtol=0, atol=1e-9)
    assert len(source.asked) == lazy.optimality.rounds


def test_a_good_forecast_shows_a_small_part_of_the_cells() -> None:
    values, groups, count, margins = problem(4)
    source = Foresighted(values, groups, count, 10.0)
    project(source, margins)
    assert np.mean(values >= source.asked[-1][groups]) < 0.1


def test_a_source_without_a_forecast_is_asked_for_positive_cells_first() -> None:
    values, groups, count, margins = problem(5)
    source = Reluctant(values, groups, count)
    lazy = project(source, margins)
    assert np.all(source.asked[0] == 1)
    assert np.array_equal(lazy.cells, project(dense(values, groups, count), margins).cells)


def test_thresholds_only_fall_and_are_never_many() -> None:
    for seed in range(6, 12):
        values, groups, count, margins = problem(seed)
        source = Foresighted(values, groups, count, 500.0)
        project(source, margins)
        for one in source.asked:
            assert len(np.unique(one)) <= 64
        for first, second in zip(source.asked, source.asked[1:], strict=False):
            assert np.all(second <= first)
            assert np.any(second < first)


def test_totals_far_above_the_noise_make_a_lazy_source_show_everything() -> None:
    values, groups, count, _ = problem(13)
    lift = Margin(element=np.zeros(count, np.int64), counts=np.array([10**8]), weight=1e6)
    lazy = project(Foresighted(values, groups, count, 10.0), [lift])
    assert len(lazy.cells) == len(values)


def test_rounding_thresholds_to_few_levels_only_lowers_them() -> None:
    rng = np.random.default_rng(1)
    for top in (10, 100, 10**6, 10**15):
        thresholds = rng.integers(-top, top, 5000)
        thresholds[::7] = EVERYTHING
        rounded = few_distinct(thresholds)
        assert np.all(rounded <= thresholds)
        assert len(np.unique(rounded)) <= 64
        assert np.array_equal(rounded == EVERYTHING, thresholds == EVERYTHING)
