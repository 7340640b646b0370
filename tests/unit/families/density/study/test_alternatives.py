import numpy as np
import pytest

from hushway.arrays import FloatArray
from hushway.families.density.fit.wiener import learn_series_model, wiener_filter
from hushway.families.density.study.gains import (
    city_prior,
    clamp_and_normalise,
    frequency_bands,
    james_stein_bands,
    kriged,
)

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
