import numpy as np
import pytest

from hushway.arrays import FloatArray
from hushway.families.density.city.paris import paris
from hushway.families.density.fit.scaling import all_visits, levels_of
from hushway.families.density.fit.table import Denoise
from hushway.families.density.fit.totals import answers_of
from hushway.families.density.fit.wiener import learn_series_model, wiener_filter
from hushway.families.density.mechanism.series import DensitySeries, density_series
from hushway.families.density.planning.trial import budget_of
from hushway.families.density.public.visits import VisitLimits
from hushway.families.density.study.errors import density_errors
from hushway.families.density.study.gains import (
    DEFAULT,
    VARIANTS,
    city_prior,
    clamp_and_normalise,
    fit_variant,
    frequency_bands,
    james_stein_bands,
    kriged,
    measure_gains,
)
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


BINS = 48


def daily(rows: int) -> FloatArray:
    hours = np.arange(BINS)
    return np.tile(100 + 80 * np.sin(2 * np.pi * hours / 24), (rows, 1))


def test_bands_hold_every_cosine_once_and_at_least_three_each() -> None:
    for bins in (3, 4, 8, 9, 24, 168, 169):
        bands = frequency_bands(bins)
        covered = [at for band in bands for at in range(band.start, band.stop)]
        assert covered == list(range(bins))
        assert all(band.stop - band.start >= 3 for band in bands)


def test_series_without_noise_stay_as_they_are() -> None:
    series = np.random.default_rng(1).normal(50, 20, (6, BINS))
    assert james_stein_bands(series, 0.0, np.zeros_like(series)) == pytest.approx(series)


def test_a_series_that_is_its_prior_and_noise_comes_back_near_the_prior() -> None:
    prior = daily(200)
    noisy = prior + np.random.default_rng(2).normal(0, 10, prior.shape)
    found = james_stein_bands(noisy, 100.0, prior)
    assert ((found - prior) ** 2).mean() < 0.35 * 100
    towards_nothing = james_stein_bands(noisy, 100.0, np.zeros_like(prior))
    assert ((found - prior) ** 2).mean() < ((towards_nothing - prior) ** 2).mean() < 100


def test_the_prior_is_the_city_scaled_to_each_total() -> None:
    series = np.array([[1.0, 3.0, 0.0], [1.0, 3.0, -2.0]])
    assert city_prior(series, np.array([4.0, 40.0])) == pytest.approx(
        np.array([[1.0, 3.0, 0.0], [10.0, 30.0, 0.0]])
    )


def doses_of_a_field(places: int) -> tuple[FloatArray, FloatArray]:
    """Series whose one pattern changes slowly from west to east, and where they are."""
    east = np.linspace(0, 10_000, places)
    pattern = np.cos(2 * np.pi * np.arange(BINS) / 24)
    truth = 100 + 30 * np.sin(east / 2000)[:, None] * pattern
    return truth, np.column_stack([east, np.zeros(places)])


def test_places_without_neighbours_are_cleaned_as_by_the_product() -> None:
    truth, centres = doses_of_a_field(60)
    noisy = truth + np.random.default_rng(3).normal(0, 20, truth.shape)
    totals = truth.sum(axis=1)
    rhythms = learn_series_model(noisy, totals, 400.0)
    alone = kriged(noisy, totals, 400.0, rhythms, centres * 1e6)
    assert alone == pytest.approx(wiener_filter(noisy, totals, 400.0, rhythms).values, rel=1e-6)


def test_neighbours_that_are_alike_help_each_other() -> None:
    truth, centres = doses_of_a_field(120)
    noisy = truth + np.random.default_rng(4).normal(0, 60, truth.shape)
    totals = truth.sum(axis=1)
    rhythms = learn_series_model(noisy, totals, 3600.0)
    assert rhythms.patterns >= 1
    apart = wiener_filter(noisy, totals, 3600.0, rhythms).values
    together = kriged(noisy, totals, 3600.0, rhythms, centres)
    assert ((together - truth) ** 2).mean() < 0.9 * ((apart - truth) ** 2).mean()


def test_rows_are_cut_off_at_0_and_sum_to_their_totals() -> None:
    found = clamp_and_normalise(np.array([[-1.0, 1.0, 3.0], [-1.0, -2.0, 0.0]]), np.array([8.0, 6]))
    assert found == pytest.approx(np.array([[0.0, 2.0, 6.0], [2.0, 2.0, 2.0]]))
