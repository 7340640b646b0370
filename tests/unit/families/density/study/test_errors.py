import warnings

import numpy as np
import pytest
from matplotlib.cbook import boxplot_stats
from scipy import stats
from scipy.optimize import linprog
from scipy.spatial.distance import cdist

from hushway.errors import DataError
from hushway.families.density.study import errors as module
from hushway.families.density.study.errors import (
    box_of,
    density_errors,
    earth_movers,
    transport,
    weekly_earth_movers,
)


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


def city(areas: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two noisy distributions, some areas empty in one or both, and the centres in metres."""
    rng = np.random.default_rng(seed)
    truth = rng.gamma(0.7, 100.0, areas)
    release = np.maximum(truth + rng.normal(0, 40, areas), 0.0)
    truth[rng.random(areas) < 0.1] = 0.0
    return truth, release, rng.random((areas, 2)) * 10_000


def by_linear_programme(p: np.ndarray, q: np.ndarray, distance: np.ndarray) -> float:
    """The unreduced problem with every flow, by HiGHS."""
    size = len(p)
    rows = np.vstack([np.kron(np.eye(size), np.ones(size)), np.kron(np.ones(size), np.eye(size))])
    sums = np.concatenate([p / p.sum(), q / q.sum()])
    # One row follows from the others; with rounding errors it would contradict them.
    return float(linprog(distance.ravel(), A_eq=rows[:-1], b_eq=sums[:-1]).fun)


def by_network_simplex(p: np.ndarray, q: np.ndarray, distance: np.ndarray) -> float:
    """The unreduced problem with every flow, by the solver that gets the reduced one."""
    with warnings.catch_warnings():
        # The package's own source warns when it is compiled.
        warnings.simplefilter("ignore")
        from ot.lp import emd2
    return float(emd2(p / p.sum(), q / q.sum(), distance))


def silent(_step: str, _share: float | None = None, /) -> None:
    pass


@pytest.mark.parametrize("seed", range(8))
def test_the_distance_is_that_of_the_unreduced_linear_programme(seed: int) -> None:
    truth, release, centres = city(18, seed)
    distance = cdist(centres, centres)
    expected = by_linear_programme(truth, release, distance)
    assert expected > 1.0
    assert earth_movers(truth, release, distance) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_the_distance_is_that_of_the_unreduced_network_simplex(seed: int) -> None:
    truth, release, centres = city(250, seed)
    distance = cdist(centres, centres)
    expected = by_network_simplex(truth, release, distance)
    assert earth_movers(truth, release, distance) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_heights_prove_that_no_transport_is_cheaper(seed: int) -> None:
    truth, release, centres = city(300, seed)
    distance = cdist(centres, centres)
    found = transport(truth, release, distance)
    heights = found.potential
    assert (np.abs(heights[:, None] - heights[None, :]) <= distance + 1e-6).all()
    difference = heights @ (truth / truth.sum() - release / release.sum())
    assert difference == pytest.approx(found.cost, rel=1e-9)


def test_on_a_line_the_distance_is_that_between_cumulative_shares() -> None:
    rng = np.random.default_rng(9)
    place = np.sort(rng.random(40)) * 1000
    truth, release = rng.random(40), rng.random(40)
    gap = np.cumsum(truth / truth.sum() - release / release.sum())[:-1]
    expected = float(np.abs(gap) @ np.diff(place))
    distance = np.abs(place[:, None] - place)
    assert earth_movers(truth, release, distance) == pytest.approx(expected)


def test_moving_everything_to_one_place_costs_the_way_there() -> None:
    centres = np.array([[0.0, 0.0], [300.0, 400.0]])
    distance = cdist(centres, centres)
    assert earth_movers(np.array([7.0, 0.0]), np.array([0.0, 2.0]), distance) == 500.0


def test_scaled_distributions_are_the_same() -> None:
    truth, _, centres = city(50, 1)
    assert earth_movers(truth, truth * 3.7, cdist(centres, centres)) == pytest.approx(0, abs=1e-9)


def test_a_distribution_without_mass_has_no_distance() -> None:
    distance = np.array([[0.0, 1.0], [1.0, 0.0]])
    some, none = np.array([1.0, 2.0]), np.zeros(2)
    assert np.isnan(earth_movers(some, none, distance))
    assert np.isnan(earth_movers(none, some, distance))
    assert np.isnan(earth_movers(none, none, distance))


@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
def test_masses_that_are_no_masses_are_refused(wrong: float) -> None:
    distance = np.array([[0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(DataError, match="finite numbers"):
        earth_movers(np.array([1.0, wrong]), np.array([1.0, 2.0]), distance)


def test_a_solver_that_gives_up_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_PIVOTS", 3)
    truth, release, centres = city(100, 2)
    with pytest.raises(DataError, match="gave up"):
        earth_movers(truth, release, cdist(centres, centres))


def test_a_week_is_compared_hour_by_hour() -> None:
    rng = np.random.default_rng(11)
    truth, release = rng.random((2, 30, 6))
    truth[:, 4] = 0.0
    centres = rng.random((30, 2)) * 1000
    told: list[float | None] = []
    found = weekly_earth_movers(
        truth, release, centres, progress=lambda _step, share=None, /: told.append(share)
    )
    distance = cdist(centres, centres)
    expected = [earth_movers(truth[:, t], release[:, t], distance) for t in range(6)]
    assert found.tolist() == pytest.approx(expected, nan_ok=True)
    assert np.flatnonzero(np.isnan(found)).tolist() == [4]
    assert told == pytest.approx([t / 6 for t in range(6)])


def test_hours_can_be_chosen() -> None:
    rng = np.random.default_rng(12)
    truth, release = rng.random((2, 20, 5))
    centres = rng.random((20, 2))
    every = weekly_earth_movers(truth, release, centres, progress=silent)
    chosen = weekly_earth_movers(truth, release, centres, hours=[3, 0], progress=silent)
    assert chosen.tolist() == every[[3, 0]].tolist()
