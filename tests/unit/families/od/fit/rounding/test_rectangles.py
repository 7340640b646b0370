import numpy as np
import pytest

from hushway.families.od.fit.rounding import network
from hushway.families.od.fit.rounding.controlled import round_totals
from hushway.families.od.fit.rounding.cycle_cancelling import ONE
from hushway.families.od.fit.rounding.rectangles import cancel_rectangles


@pytest.mark.parametrize("seed", range(5))
def test_rows_and_columns_keep_their_sums_and_few_cells_stay_fractional(seed: int) -> None:
    rng = np.random.default_rng(seed)
    row, column = np.indices((64, 80), dtype=np.int32).reshape(2, -1)
    flows = rng.integers(1, ONE, row.size)
    before = flows.copy()
    none = np.empty((0, row.size), dtype=np.int64)
    left = cancel_rectangles(flows, ONE - 2 * before, (column, row), none, np.zeros(0))
    for end in (row, column):
        moved = np.zeros(end.max() + 1, dtype=np.int64)
        np.add.at(moved, end, flows - before)
        assert not moved.any()
    assert np.array_equal(left, np.flatnonzero((flows > 0) & (flows < ONE)))
    assert len(left) < row.size / 6


@pytest.mark.parametrize("seed", range(5))
def test_large_tables_are_rounded_like_small_ones(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    period, origin, destination = np.indices((5, 30, 31)).reshape(3, -1)
    zones = 4 * period + 2 * (origin % 2) + destination % 2
    elements = [period, 30 * period + origin, 31 * period + destination, zones]
    totals = rng.gamma(0.3, 0.5, size=period.size)
    searched = round_totals(totals, elements)
    monkeypatch.setattr(network, "_MANY", 0)
    rounded = round_totals(totals, elements)
    for element in elements[:3]:
        off = np.bincount(element, rounded.totals - totals)
        assert np.abs(off).max() < 1
    assert rounded.shifts[3] < 3
    off, before = rounded.totals - totals, searched.totals - totals
    assert off @ off < 1.05 * (before @ before)
