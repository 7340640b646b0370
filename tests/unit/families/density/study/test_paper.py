from datetime import date
from typing import Any

import numpy as np
import pytest
import shapely
from scipy.fft import dct

from hushway.errors import PlanError
from hushway.families.density.planning.trial import area_truth
from hushway.families.density.public.cover import Cover, Pieces
from hushway.families.density.public.visits import DensityUniverse, Sites
from hushway.families.density.study.paper import (
    BoundedMatrix,
    Efpa,
    Efpag,
    PaperPlan,
    paper_density,
    perturb,
    repaired_rule,
    selection_log_chances,
    smallest_cluster,
    subtraction_rule,
)
from hushway.geography.areas import Area, Areas
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods
from hushway.privacy.measured import Internal

DELTA = 2e-6
LOG = np.log(4 / DELTA)


class Silence:
    """A generator without noise that writes down the scales it is asked for."""

    def __init__(self) -> None:
        self.laplaces: list[Any] = []
        self.normals: list[Any] = []

    def laplace(self, _middle: float, scale: Any, size: Any = None) -> Any:
        self.laplaces.append(scale)
        return 0.0 if size is None else np.zeros(size)

    def normal(self, _middle: float, scale: Any, size: Any) -> Any:
        self.normals.append(scale)
        return np.zeros(size)

    def gumbel(self, _middle: float, _scale: float, size: Any) -> Any:
        return np.zeros(size)


def universe() -> DensityUniverse:
    """Three sites and three areas over two days of hours; the cover is site 0 and areas 1, 2.

    Site 0 meets all areas, sites 1 and 2 lie in areas 1 and 2. The ground of site 0 in area 1 goes
    to the area, that in area 2 to the site.
    """
    shapes = [shapely.box(2 + i / 10, 48, 2.1 + i / 10, 48.1) for i in range(3)]
    places = tuple(Location(id=str(i), name="", lon=2.0, lat=48.0, zone="z") for i in range(3))
    return DensityUniverse(
        areas=Areas(areas=tuple(Area(id=str(i), name="", shape=s) for i, s in enumerate(shapes))),
        periods=Periods(
            zone="Europe/Paris",
            first_day=date(2007, 9, 10),
            last_day=date(2007, 9, 11),
            opens=0,
            closes=1440,
            minutes=60,
            cycle="window",
        ),
        sites=Sites(locations=Locations(places), site=np.arange(3)),
        cover=Cover(
            pieces=Pieces(
                sites=3,
                areas=3,
                site=np.array([0, 0, 0, 1, 2]),
                area=np.array([0, 1, 2, 1, 2]),
                size=np.array([4.0, 3.0, 1.0, 5.0, 2.0]),
            ),
            is_site=np.array([True, False, False]),
            member=np.array([0, 1, 2]),
            cell=np.array([0, 1, 0, 1, 2]),
            centres=np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 0.0]]),
        ),
    )


def visits(seed: int = 1) -> BoundedMatrix:
    """Each person has one visit, so that the histogram and the total agree with the series."""
    hourly = np.random.default_rng(seed).poisson(40, (3, 48))
    return BoundedMatrix(visits=hourly, first=hourly.sum(axis=1), total=int(hourly.sum()))


def plan(mechanism: Any, epsilon: float, **switches: Any) -> PaperPlan:
    return PaperPlan(mechanism=mechanism, epsilon=epsilon, delta=DELTA, max_visits=30, **switches)


def run(chosen: PaperPlan, data: BoundedMatrix, rng: Any = None) -> np.ndarray:
    return paper_density(chosen, data, universe(), rng or Silence()).value


def test_the_repaired_rule_gives_every_piece_to_one_cell() -> None:
    rule = repaired_rule(universe().cover)
    assert rule.cells_of_sites == pytest.approx(np.array([[5 / 8, 0, 0], [3 / 8, 1, 0], [0, 0, 1]]))
    assert rule.cells_of_sites.sum(axis=0) == pytest.approx(np.ones(3))
    assert rule.areas_of_cells == pytest.approx(np.array([[4 / 5, 0, 0], [0, 1, 0], [1 / 5, 0, 1]]))


def test_the_subtraction_rule_is_that_of_the_paper() -> None:
    rule = subtraction_rule(universe().cover)
    area_1, area_2 = np.array([3 / 8, 1, 0]), np.array([1 / 8, 0, 1])
    site_0 = np.array([1, 0, 0]) - 3 / 8 * area_1 - 1 / 8 * area_2
    assert rule.cells_of_sites == pytest.approx(np.array([site_0, area_1, area_2]))


def test_the_subtraction_rule_brings_exact_areas_back() -> None:
    data = visits().visits
    rule = subtraction_rule(universe().cover)
    found = rule.areas_of_cells @ (rule.cells_of_sites @ data)
    assert found == pytest.approx(area_truth(universe(), data))


@pytest.mark.parametrize("mechanism", ["lpa", "efpa", "efpag"])
@pytest.mark.parametrize("scaling", [True, False])
def test_without_noise_the_areas_of_the_cover_come_out(mechanism: str, *, scaling: bool) -> None:
    data = visits()
    chosen = plan(mechanism, 1e9, scaling=scaling, smoothing=False)
    rule = repaired_rule(universe().cover)
    expected = rule.areas_of_cells @ rule.cells_of_sites @ data.visits
    assert run(chosen, data) == pytest.approx(expected)


@pytest.mark.parametrize("mechanism", ["lpa", "efpa", "efpag"])
def test_without_noise_the_subtraction_rule_gives_the_truth(mechanism: str) -> None:
    # Every cell is a cluster of its own, so that it keeps its own shape.
    data = visits()
    chosen = plan(mechanism, 1e9, clustering=False, smoothing=False, subtract=True)
    rule = subtraction_rule(universe().cover)
    assert (rule.cells_of_sites @ data.visits > 0).all()
    assert run(chosen, data) == pytest.approx(area_truth(universe(), data.visits))


def test_totals_of_the_histogram_undo_the_cutting_down() -> None:
    full = visits()
    cut = BoundedMatrix(visits=full.visits, first=full.first, total=3 * full.total)
    chosen = plan("efpag", 1e9, smoothing=False)
    assert run(chosen, cut) == pytest.approx(3 * run(chosen, full))


def test_the_budget_of_the_improved_scheme_is_split_as_printed() -> None:
    rng = Silence()
    run(plan("efpag", 0.3), visits(), rng)
    assert rng.laplaces == pytest.approx([2 / 0.15, 2 * 732 / 0.15])
    (deviation,) = rng.normals
    assert np.unique(deviation) == pytest.approx(np.sqrt(8 * 30 * LOG) / 0.15)


def test_the_budget_without_improved_scaling_is_split_as_printed() -> None:
    rng = Silence()
    run(plan("efpag", 0.3, scaling=False), visits(), rng)
    assert rng.laplaces == pytest.approx([2 * 30 / 0.3])


def test_half_of_the_budget_goes_to_the_series() -> None:
    assert plan("efpa", 0.3).law == Efpa(epsilon=0.15, length=np.sqrt(30))
    assert plan("efpag", 0.3).law == Efpag(epsilon=0.15, delta=DELTA, length=np.sqrt(30))


def test_naive_laplace_noise_has_the_whole_budget() -> None:
    rng = Silence()
    run(plan("lpa", 0.3), visits(), rng)
    assert rng.laplaces == pytest.approx([30 / 0.3])
    assert rng.normals == []


def test_laplace_noise_on_terms_grows_with_their_number() -> None:
    law = Efpa(epsilon=0.15, length=np.sqrt(30))
    rng = Silence()
    deviation = law.deviation(np.array([1.0, 9.0]))
    law.draw(deviation, 4, rng)
    assert deviation**2 == pytest.approx(8 * 30 * np.array([1, 9]) / 0.15**2)
    assert rng.laplaces[0].ravel() == pytest.approx(2 * np.sqrt(30) * np.array([1.0, 3.0]) / 0.15)


@pytest.mark.parametrize(
    "law", [Efpa(epsilon=0.7, length=2.0), Efpag(epsilon=0.7, delta=DELTA, length=2.0)]
)
def test_chances_of_the_number_of_terms_are_as_printed(law: Any) -> None:
    series = np.array([3.0, 0.0, 8.0, 1.0, 1.0])
    terms = dct(series, norm="ortho")
    weights = []
    for k in range(1, 6):
        noise = 2 * k * 2 / 0.7 if isinstance(law, Efpa) else np.sqrt(2 * k * LOG) * 2 / 0.7
        cost = np.sqrt(sum(term**2 for term in terms[k:])) + noise
        weights.append(np.exp(-0.7 * cost / 4))
    found = np.exp(selection_log_chances(law, series[None, :])[0])
    assert found == pytest.approx(np.array(weights) / sum(weights))


def test_numbers_of_terms_are_drawn_with_their_chances() -> None:
    law = Efpag(epsilon=4.0, delta=DELTA, length=0.5)
    series = np.tile([5.0, 0.0, 4.0, 0.0, 1.0], (40_000, 1))
    noisy = perturb(law, series, np.random.default_rng(2))
    terms = np.abs(dct(noisy, norm="ortho", axis=1)) > 1e-9
    found = np.bincount(terms.sum(axis=1), minlength=6)[1:] / len(series)
    expected = np.exp(selection_log_chances(law, series[:1])[0])
    assert (expected > 0.01).all()
    assert found == pytest.approx(expected, abs=5 * np.sqrt(0.25 / 40_000))


@pytest.mark.parametrize(
    "law", [Efpa(epsilon=900.0, length=20.0), Efpag(epsilon=900.0, delta=DELTA, length=20.0)]
)
def test_kept_terms_carry_noise_of_the_printed_variance(law: Any) -> None:
    series = np.tile(np.random.default_rng(3).normal(0, 500, 6), (50_000, 1))
    assert selection_log_chances(law, series[:1])[0, -1] > -1e-9
    noise = perturb(law, series, np.random.default_rng(4)) - series
    assert noise.std() == pytest.approx(float(law.deviation(np.array([6.0]))[0]), rel=0.01)


def test_the_threshold_is_that_of_section_six() -> None:
    law = Efpag(epsilon=0.15, delta=DELTA, length=np.sqrt(30))
    deviation = np.sqrt(8 * 30 * LOG) / 0.15
    assert smallest_cluster(law, 168) == pytest.approx(np.sqrt(168) * deviation / 0.01)
    law_of_all = Efpa(epsilon=0.15, length=np.sqrt(30))
    deviation = np.sqrt(8 * 30 * 168) / 0.15
    assert smallest_cluster(law_of_all, 168) == pytest.approx(np.sqrt(168) * deviation / 0.01)


def test_cells_of_a_cluster_share_their_shape() -> None:
    chosen = plan("efpag", 0.3, smoothing=False)
    merged = run(chosen, visits())
    shapes = merged / merged.sum(axis=1, keepdims=True)
    assert shapes == pytest.approx(np.tile(shapes[0], (3, 1)))
    apart = run(plan("efpag", 1e9, clustering=False, smoothing=False), visits())
    shapes = apart / apart.sum(axis=1, keepdims=True)
    assert shapes != pytest.approx(np.tile(shapes[0], (3, 1)))


def test_smoothing_replaces_the_nights_only() -> None:
    rough = run(plan("efpag", 1e9, smoothing=False), visits())
    smooth = run(plan("efpag", 1e9), visits())
    night = np.tile(np.arange(24) <= 6, 2)
    assert np.array_equal(rough[:, ~night], smooth[:, ~night])
    assert not np.isclose(rough[:, night], smooth[:, night], rtol=1e-6).any()


def test_naive_laplace_ignores_the_improvements() -> None:
    data = visits()
    plain = plan("lpa", 0.3, clustering=False, scaling=False, smoothing=False)
    improved, naive = (run(p, data, np.random.default_rng(5)) for p in (plan("lpa", 0.3), plain))
    assert np.array_equal(improved, naive)


@pytest.mark.parametrize("mechanism", ["lpa", "efpa", "efpag"])
@pytest.mark.parametrize("subtract", [True, False])
def test_results_are_marked_and_never_negative(mechanism: str, *, subtract: bool) -> None:
    chosen = plan(mechanism, 0.3, subtract=subtract)
    found = paper_density(chosen, visits(), universe(), np.random.default_rng(6))
    assert isinstance(found, Internal)
    assert found.value.shape == (3, 48)
    assert np.isfinite(found.value).all()
    assert (found.value >= 0).all()


def test_nobody_is_no_problem() -> None:
    nobody = BoundedMatrix(
        visits=np.zeros((3, 48), dtype=np.int64), first=np.zeros(3, dtype=np.int64), total=0
    )
    assert not run(plan("efpag", 0.3), nobody).any()


@pytest.mark.parametrize(
    "wrong",
    [
        {"mechanism": "fpa"},
        {"epsilon": 0.0},
        {"delta": 0.0},
        {"max_visits": 0},
        {"max_visits_in_total": 0},
    ],
)
def test_plans_that_the_paper_has_not_are_refused(wrong: dict[str, Any]) -> None:
    right = {"mechanism": "efpag", "epsilon": 0.3, "delta": DELTA, "max_visits": 30}
    with pytest.raises(PlanError):
        PaperPlan(**(right | wrong))
