"""How close a published density comes to the truth, and whether it knows how close."""

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hushway.families.density.fit.scaling import AllVisits, scale_of
from hushway.families.density.fit.table import Denoise, DensityTable
from hushway.families.density.mechanism.people import DensityPeople
from hushway.families.density.mechanism.series import density_series, naive_laplace
from hushway.families.density.public.visits import VisitLimits
from hushway.families.density.study.errors import density_errors
from hushway.privacy.loss import PureLoss, ZCDPLoss
from support.density_towns import generous, rho_of, town_of

EVERYTHING = VisitLimits(max_visits=168, max_visits_in_total=168)
LIMITS = VisitLimits(max_visits=30, max_visits_in_total=200)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("denoise", ["patterns", "sure", "cuts", "none"])
@pytest.mark.parametrize(("scaling", "clustering"), [(True, True), (True, False), (False, True)])
def test_with_a_fortune_to_spend_the_truth_comes_out(
    towers_town: Any, denoise: Denoise, scaling: bool, clustering: bool
) -> None:
    way = generous(EVERYTHING, denoise, scaling=scaling, clustering=clustering)
    table = towers_town.release(way)
    assert table.diagnostics["clusters"] == len(towers_town.universe.cover)
    truth = towers_town.truth
    # A visit is cut into 1024 parts, and counts are rounded to hundredths.
    assert np.abs(table.counts - truth).max() < 0.02 + 0.002 * truth.max()
    assert table.counts.sum() == pytest.approx(truth.sum(), rel=1e-3)


def test_with_positions_only_the_noise_is_left() -> None:
    city = town_of()
    table = city.release(generous(EVERYTHING))
    assert np.abs(table.counts - city.truth).max() <= 0.05


def test_what_was_drawn_at_random_is_scaled_back_to_all_visits(towers_town: Any) -> None:
    few = VisitLimits(max_visits=2, max_visits_in_total=168)
    table = towers_town.release(generous(few))
    visits = len(towers_town.person)
    assert table.diagnostics["scale"] == pytest.approx(visits / 4000, rel=0.01)
    assert table.counts.sum() == pytest.approx(visits, rel=0.01)


def test_the_counts_sum_to_the_noisy_number_of_all_visits(little_paris: Any) -> None:
    table = little_paris.release(density_series(LIMITS, budget=rho_of(3)))
    assert table.diagnostics["scale"] > 1
    # Classes of activity tell the same number, and have a say in it.
    assert table.counts.sum() == pytest.approx(table.measured_total, rel=5e-3)


def test_a_number_of_all_visits_below_those_of_the_series_is_not_believed(towers_town: Any) -> None:
    # So little is left for the total that it is as often negative as not.
    way = density_series(
        VisitLimits(max_visits=6, max_visits_in_total=10**6),
        budget=ZCDPLoss(Fraction(1)),
        denoise="none",
    )
    tables = [towers_town.release(way, seed) for seed in range(8)]
    hopeless = [table for table in tables if table.measured_total < 0]
    assert hopeless
    for table in hopeless:
        # Classes of activity tell about as many as the series counts.
        assert 0.9 < table.diagnostics["scale"] < 1.1
        assert table.counts.sum() > 0
        # Who reads the counts is told that the number of all visits is not known.
        busy = table.counts > 1
        assert (table.standard_error[busy] > table.counts[busy]).all()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("denoise", ["patterns", "sure", "none"])
@pytest.mark.parametrize("epsilon", ["0.3", "1", "3"])
def test_standard_errors_hold_what_they_promise(
    little_paris: Any, denoise: Denoise, epsilon: str
) -> None:
    way = density_series(LIMITS, budget=rho_of(epsilon), denoise=denoise)
    held, wide = [], []
    for seed in (1, 3):
        table = little_paris.release(way, seed)
        assert table.standard_error.min() > 0
        off = np.abs(table.counts - little_paris.truth)
        held.append((off < 1.96 * table.standard_error).mean())
        wide.append((table.standard_error**2).mean() / (off**2).mean())
    # They hold what they guarantee, and are not so wide that they say nothing.
    assert np.mean(held) > 0.93
    assert np.mean(wide) < (3.5 if denoise == "patterns" else 5)


def test_standard_errors_hold_when_the_number_of_visits_is_the_trouble(little_paris: Any) -> None:
    # At these limits the noise in the number of all visits is as large as half of it.
    loose = VisitLimits(max_visits=30, max_visits_in_total=1000)
    way = density_series(loose, budget=rho_of("0.3"))
    for seed in (1, 5):
        table = little_paris.release(way, seed)
        off = np.abs(table.counts - little_paris.truth) / table.standard_error
        assert (off < 1.96).mean() > 0.85


def test_a_single_cluster_knows_its_own_noise(little_paris: Any) -> None:
    way = density_series(LIMITS, budget=rho_of("0.1"), cluster_error=0.002)
    table = little_paris.release(way)
    assert table.diagnostics["clusters"] == 1
    whole = table.counts.sum(axis=0)
    truth = little_paris.truth.sum(axis=0)
    # The errors of areas in one cluster go together, so they add up as they are.
    off = np.abs(whole - truth) / table.standard_error.sum(axis=0)
    assert (off < 1.96).mean() > 0.85


def test_patterns_beat_cosines_and_cosines_beat_nothing(little_paris: Any) -> None:
    truth = little_paris.truth

    def error(denoise: Denoise, seed: int) -> float:
        way = density_series(LIMITS, budget=rho_of(1), denoise=denoise, cluster_error=0.02)
        return density_errors(truth, little_paris.release(way, seed).counts).value.mre

    for seed in (1, 2):
        assert error("patterns", seed) < error("sure", seed) < error("none", seed)


def test_all_of_it_together_beats_noise_on_every_count_many_times(little_paris: Any) -> None:
    truth = little_paris.truth
    ours = little_paris.release(density_series(LIMITS, budget=rho_of(1)))
    naive = little_paris.release(naive_laplace(LIMITS, budget=PureLoss(Fraction(1))))
    assert (
        3 * density_errors(truth, ours.counts).value.mre
        < density_errors(truth, naive.counts).value.mre
    )


def test_the_night_is_replaced_by_curves_that_fall_and_rise(little_paris: Any) -> None:
    plain = density_series(LIMITS, budget=rho_of(1), denoise="none", clustering=False)
    smooth = little_paris.release(replace(plain, night=True))
    rough = little_paris.release(plain)
    truth = little_paris.truth.reshape(-1, 7, 24)[:, :, 1:4]
    of_night = [table.counts.reshape(-1, 7, 24)[:, :, 1:4] for table in (smooth, rough)]
    errors = [np.abs(counts - truth).mean() for counts in of_night]
    assert errors[0] < errors[1]


def test_the_fit_tells_the_totals_of_its_two_sources_apart(towers_town: Any) -> None:
    # People who are often at the first site: by people it has fewer visits than by visits.
    repeated = replace(
        towers_town,
        person=np.concatenate([towers_town.person, np.repeat(np.arange(400), 60)]),
        site=np.concatenate([towers_town.site, np.zeros(400 * 60, dtype=np.int64)]),
        bin=np.concatenate([towers_town.bin, np.tile(np.arange(60), 400)]),
    )
    table = repeated.release(density_series(EVERYTHING, budget=ZCDPLoss(Fraction(10))))
    assert table.diagnostics["totals_mismatch"] > 0.1
    assert towers_town.release(
        density_series(EVERYTHING, budget=ZCDPLoss(Fraction(10)))
    ).diagnostics["totals_mismatch"] == pytest.approx(0, abs=0.05)
    assert table.counts.sum(axis=1) == pytest.approx(repeated.truth.sum(axis=1), rel=0.1, abs=60)


@pytest.mark.parametrize(("noise", "trusted"), [(1.0, 1.0), (200.0, 0.862), (1e6, 0.0)])
def test_what_is_beyond_the_series_is_trusted_as_far_as_it_stands_out_from_noise(
    noise: float, trusted: float
) -> None:
    scale = scale_of(AllVisits(1200.0, noise**2, 0.0), 1000.0)
    assert scale.value == pytest.approx(1 + 0.2 * trusted, abs=1e-3)
    # What is not believed may be true all the same.
    missed = 0.2 * (1 - trusted)
    off = math.sqrt((noise / 1000) ** 2 + missed**2) / scale.value
    assert math.sqrt(scale.variance) == pytest.approx(off, rel=0.03)


def test_a_small_crowd_is_not_scaled_by_the_noise_in_the_number_of_all_visits() -> None:
    # The noise is five times the visits that were counted, and nearly twice as much came of it.
    assert scale_of(AllVisits(10_000.0, 5_000.0**2, 0.0), 1000.0).value < 1.2
    # Ten times what noise could explain is believed.
    assert scale_of(AllVisits(12_000.0, 1_000.0**2, 0.0), 1000.0).value > 11
    # Not if what the series counted is itself no more than twice its noise.
    assert scale_of(AllVisits(12_000.0, 1_000.0**2, 0.0), 1000.0, 500.0**2).value < 1.2


def test_visits_of_people_whom_noise_hides_are_in_the_error_and_not_in_the_scale() -> None:
    seen, hidden = (scale_of(AllVisits(2000.0, 1.0, more), 1000.0) for more in (0.0, 500.0))
    assert hidden.value == seen.value == pytest.approx(2.0, abs=1e-3)
    assert math.sqrt(hidden.variance) == pytest.approx(500 / 2000, rel=0.01)


RELEASES = 12


def deviations(table: DensityTable) -> Iterator[float]:
    """Yields how far published sums are from measured ones, in deviations of their noise."""
    universe, quanta, noise = table.universe, table.quanta, table.noise
    if table.measured_total is not None:
        yield (table.counts.sum() - table.measured_total) / noise["all visits"]
    # Every area is a cell of the cover.
    counted = table.counts.sum(axis=1) / table.diagnostics["scale"]
    off = np.bincount(table.cluster, counted) - table.measured_series.sum(axis=1) / quanta
    yield from off / (noise["visits by (cluster, period)"] / quanta * np.sqrt(universe.bins))


@pytest.mark.parametrize("epsilon", ["0.3", "1", "4"])
@pytest.mark.parametrize("visits", [1, 6, 40])
def test_published_sums_are_within_the_errors_of_measured_ones(visits: int, epsilon: str) -> None:
    town = town_of(4, 3, people=20_000 // visits, visits=visits)
    budget = PureLoss(Fraction(epsilon))
    way = DensityPeople(budget=budget, max_visits=None, max_visits_in_total=None)
    off = [one for seed in range(RELEASES) for one in deviations(town.release(way, seed))]
    assert (np.abs(off) <= 2.5).mean() >= 0.99
