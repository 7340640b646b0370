"""Small crowds, busy people, and places that noise hides: what is published of them."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hushway.families.density.mechanism.recommended import Spends
from hushway.families.density.mechanism.series import DensitySeries, density_series
from hushway.families.density.public.visits import VisitLimits
from hushway.privacy.loss import ZCDPLoss
from support.density_towns import rho_of, town_of

LIMITS = VisitLimits(max_visits=30, max_visits_in_total=200)


def spending(limits: VisitLimits, *, activity: bool) -> DensitySeries:
    """A mechanism with so much to spend that only the limits are in the way."""
    plenty = ZCDPLoss(Fraction(1000))
    return DensitySeries(
        limits=limits,
        spends=Spends(
            series=ZCDPLoss(Fraction(limits.max_visits * 1000)),
            histogram=plenty,
            activity=plenty if activity else None,
            total=ZCDPLoss(Fraction(limits.max_visits_in_total**2 * 10)),
        ),
    )


def off(table: Any, city: Any) -> float:
    """By how much totals of areas are off, as a share of all visits."""
    truth = city.truth.sum(axis=1)
    return float(np.abs(table.counts.sum(axis=1) - truth).sum() / truth.sum())


@pytest.fixture(scope="module")
def two_kinds() -> Any:
    """Residents with four visits in one half of the town, and 400 restless people in the other."""
    city = town_of(4, 3, people=10)
    random = np.random.default_rng(4)
    residents, restless = np.repeat(np.arange(4000), 4), np.repeat(np.arange(4000, 4400), 120)
    areas = city.universe.site_count
    site = np.concatenate(
        [
            random.integers(0, areas // 2, len(residents)),
            random.integers(areas // 2, areas, len(restless)),
        ]
    )
    person = np.concatenate([residents, restless])
    hours = random.integers(0, city.universe.bins, len(person))
    return replace(city, person=person, site=site, bin=hours)


def test_places_of_busy_people_are_not_scaled_like_all_others(two_kinds: Any) -> None:
    few = VisitLimits(max_visits=10, max_visits_in_total=200)
    alike = two_kinds.release(spending(few, activity=False))
    told_apart = two_kinds.release(spending(few, activity=True))
    assert off(alike, two_kinds) > 0.4
    assert off(told_apart, two_kinds) < 0.12


def test_what_is_cut_off_of_busy_people_is_added_again(two_kinds: Any) -> None:
    strict = VisitLimits(max_visits=10, max_visits_in_total=20)
    silent = two_kinds.release(spending(strict, activity=False))
    table = two_kinds.release(spending(strict, activity=True))
    truth = two_kinds.truth.sum()
    assert silent.counts.sum() < 0.5 * truth
    assert table.counts.sum() == pytest.approx(truth, rel=0.15)


def test_intervals_hold_what_the_limits_left_out(two_kinds: Any) -> None:
    few = VisitLimits(max_visits=10, max_visits_in_total=200)
    table = two_kinds.release(density_series(few, budget=ZCDPLoss(Fraction(2))))
    inside = np.abs(table.counts - two_kinds.truth) <= 1.96 * table.standard_error
    assert inside.mean() > 0.9


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("clustering", [True, False])
def test_no_busy_area_is_said_to_be_empty_for_sure(seed: int, clustering: bool) -> None:
    # 300 areas, of which a few hold most visits; the noise in a total is hundreds of visits.
    city = town_of(20, 15, people=3000)
    way = density_series(LIMITS, budget=rho_of("0.3"), clustering=clustering)
    table = city.release(way, seed)
    truth = city.truth.sum(axis=1)
    busy = truth > 150
    assert busy.sum() > 15
    # Errors of one area go together, so they add up as they are.
    most = (table.counts + 3 * table.standard_error).sum(axis=1)
    assert (most[busy] > truth[busy] / 2).all()
    assert table.standard_error[busy].min() > 0.1


SIZES = {"0": (-1, 0.5), "1-5": (0.5, 5.5), "6-20": (5.5, 20.5), "21-100": (20.5, 100.5)}
SIZES["more"] = (100.5, np.inf)


@pytest.mark.parametrize("epsilon", ["1", "4"])
def test_intervals_hold_by_size_of_the_true_count(little_paris: Any, epsilon: str) -> None:
    truth: NDArray[np.float64] = little_paris.truth
    way = density_series(LIMITS, budget=rho_of(epsilon))
    tables = [little_paris.release(way, seed) for seed in range(3)]
    for low, high in SIZES.values():
        chosen = (truth > low) & (truth <= high)
        held = [
            (np.abs(table.counts - truth) <= 1.96 * table.standard_error)[chosen].mean()
            for table in tables
        ]
        assert np.mean(held) > 0.9


@pytest.mark.parametrize("epsilon", ["0.3", "1", "4"])
def test_a_crowd_of_five_hundred_is_better_than_an_empty_table(
    little_paris: Any, epsilon: str
) -> None:
    few = little_paris.person < 500
    crowd = replace(
        little_paris,
        person=little_paris.person[few],
        site=little_paris.site[few],
        bin=little_paris.bin[few],
    )
    way = density_series(LIMITS, budget=rho_of(epsilon))
    off = [((crowd.release(way, seed).counts - crowd.truth) ** 2).mean() for seed in range(3)]
    assert np.mean(off) < (crowd.truth**2).mean()
