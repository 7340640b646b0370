"""Cities, windows and budgets at the edge of what makes sense."""

from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hushway.families.density.fit.table import Denoise, DensityTable
from hushway.families.density.mechanism.series import density_series, naive_laplace
from hushway.families.density.public.visits import VisitLimits
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss
from support.density_towns import bins_of, generous, town_of

LIMITS = VisitLimits(max_visits=8, max_visits_in_total=20)
RHO = ZCDPLoss(Fraction(1, 2))
SPOTS = ((0.2, 0.3), (0.7, 0.4), (0.4, 0.9))
WAYS: tuple[Denoise, ...] = ("patterns", "sure", "cuts", "none")


def check(table: DensityTable) -> None:
    """What is true of every density, however odd the city."""
    universe = table.universe
    shape = (len(universe.areas), universe.bins)
    assert table.counts.shape == table.standard_error.shape == shape
    assert np.isfinite(table.counts).all()
    assert np.isfinite(table.standard_error).all()
    assert table.counts.min() >= 0
    assert table.standard_error.min() > 0
    assert np.array_equal(table.counts, np.round(table.counts, 2))
    assert table.measured_series.shape == (table.diagnostics["clusters"], universe.bins)
    assert table.cluster.shape == (len(universe.cover),)


WINDOWS: dict[str, dict[str, Any]] = {
    "half hours": {"days": 1, "minutes": 30},
    "two hours": {"days": 3, "minutes": 120},
    "days": {"days": 7, "minutes": 1440},
    "one period": {"days": 1, "minutes": 1440},
    "two periods": {"days": 2, "minutes": 1440},
    "one day": {"days": 1},
    "a month": {"days": 31, "minutes": 180},
    "clocks go forward": {"days": 2, "first": date(2026, 3, 28)},
    "clocks go back": {"days": 2, "first": date(2026, 10, 24)},
    "mornings": {"days": 2, "closes": 720},
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", WINDOWS)
def test_every_window_and_bin_gives_a_sound_density(name: str) -> None:
    periods = bins_of(**WINDOWS[name])
    city = town_of(3, 2, towers=SPOTS, periods=periods, people=800, visits=5)
    for denoise in WAYS:
        night = name != "one period"
        check(city.release(density_series(LIMITS, budget=RHO, denoise=denoise, night=night)))
    everything = VisitLimits(max_visits=len(periods), max_visits_in_total=len(periods))
    table = city.release(generous(everything))
    assert np.abs(table.counts - city.truth).max() < 0.02 + 0.002 * city.truth.max()


TOWNS: dict[str, dict[str, Any]] = {
    "positions": {"columns": 3, "rows": 2},
    "one area": {"columns": 1, "rows": 1, "towers": SPOTS},
    "one area by positions": {"columns": 1, "rows": 1},
    "one site": {"columns": 3, "rows": 2, "towers": SPOTS[:1]},
    "one site and one area": {"columns": 1, "rows": 1, "towers": SPOTS[:1]},
    "areas without towers": {"columns": 6, "rows": 5, "towers": SPOTS},
    "towers at one point": {"columns": 2, "rows": 2, "towers": (*SPOTS, SPOTS[0])},
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", TOWNS)
@pytest.mark.parametrize("scaling", [True, False], ids=["scaled", "unscaled"])
def test_every_map_gives_a_sound_density(name: str, scaling: bool) -> None:
    city = town_of(**TOWNS[name], periods=bins_of(2, 120), people=500, visits=4)
    for denoise in WAYS:
        check(city.release(density_series(LIMITS, budget=RHO, denoise=denoise, scaling=scaling)))
    everything = VisitLimits(max_visits=24, max_visits_in_total=24)
    table = city.release(generous(everything, scaling=scaling))
    assert np.abs(table.counts - city.truth).max() < 0.02 + 0.002 * city.truth.max()


def test_an_area_without_a_tower_gets_its_share_of_the_cells_that_reach_it() -> None:
    city = town_of(6, 5, towers=SPOTS, periods=bins_of(1, 120), people=900, visits=4)
    everything = VisitLimits(max_visits=24, max_visits_in_total=24)
    table = city.release(generous(everything))
    assert (table.counts.sum(axis=1) > 0).all()


@pytest.mark.parametrize("denoise", WAYS)
@pytest.mark.parametrize("scaling", [True, False], ids=["scaled", "unscaled"])
def test_a_city_without_a_single_visit_has_a_density_too(denoise: Denoise, scaling: bool) -> None:
    city = town_of(towers=SPOTS, periods=bins_of(1, 60), people=10)
    none = np.array([], dtype=np.int64)
    empty = replace(city, person=none, site=none, bin=none)
    check(empty.release(density_series(LIMITS, budget=RHO, denoise=denoise, scaling=scaling)))
    table = empty.release(generous(LIMITS, denoise, scaling=scaling, clustering=True))
    check(table)
    assert table.counts.sum() < 20


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "budget",
    [
        ZCDPLoss(Fraction(1, 10**6)),
        ZCDPLoss(Fraction(1, 10**4)),
        ZCDPLoss(Fraction(10**3)),
        PureLoss(Fraction(1, 100)),
        PureLoss(Fraction(1, 10)),
        PureLoss(Fraction(100)),
    ],
    ids=str,
)
def test_budgets_may_be_tiny_or_large(budget: Loss) -> None:
    city = town_of(towers=SPOTS, periods=bins_of(1, 60), people=500)
    for scaling in (True, False):
        for denoise in ("patterns", "sure", "none"):
            check(
                city.release(
                    density_series(LIMITS, budget=budget, denoise=denoise, scaling=scaling)
                )
            )


def test_laplace_noise_is_louder_but_sound(little_paris: Any) -> None:
    epsilon = PureLoss(Fraction(3))
    limits = VisitLimits(max_visits=10, max_visits_in_total=100)
    table = little_paris.release(density_series(limits, budget=epsilon))
    check(table)
    off = np.abs(table.counts - little_paris.truth) / table.standard_error
    assert 0.85 < (off < 1.96).mean() < 0.999
    check(little_paris.release(naive_laplace(limits, budget=epsilon)))


def test_one_visit_of_a_person_is_enough() -> None:
    one = VisitLimits(max_visits=1, max_visits_in_total=1)
    city = town_of(towers=SPOTS, periods=bins_of(1, 60), people=500)
    check(city.release(density_series(one, budget=RHO)))
    assert city.release(generous(one)).counts.sum() == pytest.approx(500, rel=0.01)
