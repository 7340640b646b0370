import numpy as np
import pytest

from hushway.families.density.city.paris import paris
from hushway.families.density.fit.scaling import all_visits, levels_of
from hushway.families.density.fit.table import Denoise
from hushway.families.density.fit.totals import answers_of
from hushway.families.density.mechanism.series import DensitySeries, density_series
from hushway.families.density.planning.trial import budget_of
from hushway.families.density.public.visits import VisitLimits
from hushway.families.density.study.errors import density_errors
from hushway.families.density.study.gains import DEFAULT, VARIANTS, fit_variant, measure_gains
from hushway.families.density.study.scene import DensityScene, paris_scene

MOST = 20
LIMITS = VisitLimits(max_visits=MOST, max_visits_in_total=200)


@pytest.fixture(scope="module")
def scene() -> DensityScene:
    return paris_scene(
        paris(5, people=20_000, towers=60, areas=30), [MOST], max_visits_in_total=200
    )


def mechanism(scene: DensityScene, denoise: Denoise = "patterns") -> DensitySeries:
    budget = budget_of("1", "0.000001")
    return density_series(scene.cities[MOST].limits, budget=budget, denoise=denoise)


@pytest.mark.parametrize(
    ("variant", "denoise"),
    [(DEFAULT, "patterns"), ("first cosines, cut by SURE", "sure"), ("raw noisy series", "none")],
)
def test_what_the_product_offers_is_fitted_as_the_product_does(
    scene: DensityScene, variant: str, denoise: Denoise
) -> None:
    chosen = mechanism(scene, denoise)
    measured = scene.cities[MOST].measured(chosen, 1)
    published = chosen.fit(measured, scene.universe).counts
    found = fit_variant(VARIANTS[variant], measured, scene.universe, LIMITS).value
    # What is published is rounded to hundredths.
    assert np.abs(found - published).max() < 0.00501


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", VARIANTS)
def test_every_fit_has_no_negative_counts_and_is_scaled_towards_all_visits(
    scene: DensityScene, name: str
) -> None:
    measured = scene.cities[MOST].measured(mechanism(scene), 2)
    found = fit_variant(VARIANTS[name], measured, scene.universe, LIMITS).value
    assert (found >= 0).all()
    answers = answers_of(measured)
    # Told by the measured number and by how busy people are.
    visits = all_visits(answers, levels_of(answers, scene.universe, LIMITS).activity)
    assert visits is not None
    counted = float(answers.series.values.sum())
    if VARIANTS[name].scaled:
        # Not quite all the way: the number of all visits is noisy too.
        assert 1.02 * counted < found.sum() <= visits.value
    else:
        assert found.sum() < 1.01 * counted


def test_variants_differ_from_each_other(scene: DensityScene) -> None:
    measured = scene.cities[MOST].measured(mechanism(scene), 2)
    fits = [fit_variant(v, measured, scene.universe, LIMITS).value for v in VARIANTS.values()]
    for at, one in enumerate(fits):
        assert all(np.abs(one - other).max() > 1e-3 for other in fits[:at])


def test_scores_are_errors_over_the_counted_areas(scene: DensityScene) -> None:
    city, chosen = scene.cities[MOST], mechanism(scene)
    counted = np.array([0, 3, 4])
    scores = measure_gains(city, chosen, scene.truth, range(2), counted=counted).value
    assert set(scores) == set(VARIANTS)
    measured = city.measured(chosen, 1)
    fitted = fit_variant(VARIANTS[DEFAULT], measured, scene.universe, LIMITS).value
    errors = density_errors(scene.truth[counted], fitted[counted]).value
    again = scores[DEFAULT][1]
    assert (again.mre, again.pearson, again.rsse) == (errors.mre, errors.pearson, errors.rsse)
    everywhere = measure_gains(city, chosen, scene.truth, range(1)).value[DEFAULT][0]
    assert everywhere.mre != scores[DEFAULT][0].mre
