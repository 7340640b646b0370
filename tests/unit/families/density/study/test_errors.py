import numpy as np
import pytest
from matplotlib.cbook import boxplot_stats
from scipy import stats

from hushway.errors import DataError
from hushway.families.density.study.errors import box_of, density_errors


def test_errors_are_those_of_a_table_worked_out_by_hand() -> None:
    truth = np.array([[10.0, 30.0], [0.0, 2000.0]])
    release = np.array([[15.0, 24.0], [1.0, 1000.0]])
    found = density_errors(truth, release).value
    # The second cell's sanity bound is 0.1 % of 2,000 visits: 2.
    assert found.mre_by_cell.tolist() == pytest.approx([(0.5 + 0.2) / 2, (0.5 + 0.5) / 2])
    assert found.mre == pytest.approx((0.35 + 0.5) / 2)
    assert found.relative_error_by_bin.tolist() == pytest.approx([0.5, 0.35])
    assert found.pearson_by_cell.tolist() == pytest.approx([1.0, 1.0])
    assert found.rsse == pytest.approx((np.sqrt(61) + np.sqrt(1_000_001)) / 2)
    assert found.empty_cells == 0


def test_correlations_are_pearsons() -> None:
    rng = np.random.default_rng(3)
    truth = rng.gamma(2.0, 10.0, (20, 24))
    release = truth + rng.normal(0, 10, truth.shape)
    found = density_errors(truth, release).value
    expected = [stats.pearsonr(a, b).statistic for a, b in zip(truth, release, strict=True)]
    assert found.pearson_by_cell == pytest.approx(expected)
    assert found.pearson == pytest.approx(np.mean(expected))


def test_the_truth_itself_is_free_of_errors() -> None:
    truth = np.random.default_rng(4).gamma(2.0, 10.0, (5, 24))
    found = density_errors(truth, truth.copy()).value
    assert (found.mre, found.rsse) == (0.0, 0.0)
    assert found.pearson == pytest.approx(1.0)


def test_empty_cells_are_left_out_and_counted() -> None:
    truth = np.array([[1.0, 3.0], [0.0, 0.0]])
    release = np.array([[1.0, 4.0], [3.0, 4.0]])
    found = density_errors(truth, release).value
    assert np.isnan(found.mre_by_cell[1])
    assert np.isnan(found.pearson_by_cell[1])
    assert found.mre == pytest.approx(1 / 6)
    assert found.relative_error_by_bin.tolist() == pytest.approx([0.0, 1 / 3])
    assert found.mre_box.median == pytest.approx(1 / 6)
    assert found.rsse == pytest.approx((1 + 5) / 2)
    assert found.empty_cells == 1


def test_a_truth_without_visits_has_no_means() -> None:
    found = density_errors(np.zeros((2, 3)), np.ones((2, 3))).value
    assert np.isnan([found.mre, found.pearson, found.mre_box.median]).all()
    assert np.isnan(found.relative_error_by_bin).all()
    assert found.empty_cells == 2


def test_a_constant_release_follows_nothing() -> None:
    truth = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    release = np.array([[0.1, 0.1, 0.1], [1.0, 2.0, 3.0]])
    found = density_errors(truth, release).value
    assert found.pearson_by_cell.tolist() == pytest.approx([0.0, 1.0])
    assert found.pearson == pytest.approx(0.5)


def test_a_constant_truth_has_no_trend_to_follow() -> None:
    truth = np.array([[0.1, 0.1, 0.1], [1.0, 2.0, 3.0]])
    release = np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    found = density_errors(truth, release).value
    assert np.isnan(found.pearson_by_cell[0])
    assert found.pearson == pytest.approx(-1.0)
    assert found.empty_cells == 0


def test_boxes_are_those_of_box_plots() -> None:
    values = np.random.default_rng(6).standard_t(2, 200)
    (expected,) = boxplot_stats(values)
    found = box_of(np.concatenate([values, [np.nan]]))
    assert found.low_whisker == expected["whislo"]
    assert found.low_quartile == expected["q1"]
    assert found.median == expected["med"]
    assert found.high_quartile == expected["q3"]
    assert found.high_whisker == expected["whishi"]
    assert found.beyond == len(expected["fliers"]) > 0


@pytest.mark.parametrize("shape", [(2, 4), (3,), (0, 3)])
def test_densities_of_different_shapes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(DataError, match="same cells and periods"):
        density_errors(np.ones((2, 3) if len(shape) == 2 and shape[0] else shape), np.ones(shape))
