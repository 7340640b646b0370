"""Sums that flows come to: as measured, never negative, and right where most links are empty."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hushway.arrays import FloatArray
from hushway.families.links.fit.completion import not_negative
from hushway.families.links.mechanism.counts import link_counts
from hushway.families.links.public.universe import ClassZones, MovementLimits
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss

LIMITS = MovementLimits(max_items=200)
# Noise of 50 on every link, where most carry nobody, and of 2,000 on every sum.
LITTLE: list[Loss] = [ZCDPLoss(Fraction(1, 20)), PureLoss(Fraction(10))]
RUNS = range(1, 9)


def published_sums(table: Any) -> FloatArray:
    """What shows and the rest, by (period, class and zone)."""
    group, used = ClassZones(universe=table.universe).links
    place = table.period * len(used) + group[table.link]
    return np.asarray(np.bincount(place, table.counts, len(table.rest.counts)) + table.rest.counts)


def measured_sums(table: Any) -> FloatArray:
    """What was measured of them; no sum can come to less than 0, which Laplace noise often does."""
    periods = len(table.universe.periods)
    return np.maximum(table.class_totals.reshape(periods, -1)[:, :-2].ravel(), 0.0)


@pytest.mark.parametrize("budget", LITTLE)
def test_published_sums_agree_with_what_was_measured_of_them(build: Any, budget: Loss) -> None:
    town = build(200, periods=3)
    mechanism = link_counts(LIMITS, budget=budget, left_out=Fraction(0))
    apart = []
    for run in RUNS:
        table = town.release(mechanism, run)
        error = table.noise[ClassZones(universe=town.universe).name]
        apart.append((published_sums(table) - measured_sums(table)) / error)
    assert np.mean(np.abs(np.concatenate(apart)) <= 2.5) >= 0.99


@pytest.mark.parametrize("budget", LITTLE)
def test_all_people_are_as_many_as_there_are_where_most_links_are_empty(
    build: Any, budget: Loss
) -> None:
    """Cut off at 0, noise of 50 on a thousand links would be 20,000 people in each period."""
    town = build(200, periods=3)
    mechanism = link_counts(LIMITS, budget=budget, left_out=Fraction(0))
    off = [published_sums(town.release(mechanism, run)).sum() - town.truth.sum() for run in RUNS]
    assert abs(np.mean(off)) < 4 * np.std(off) / len(RUNS) ** 0.5


def test_sums_that_may_be_so_stay_as_they_are() -> None:
    sums = np.array([[5.0, 0.0, 7.0], [1.0, 2.0, 3.0]])
    assert not_negative(sums, np.ones_like(sums)) == pytest.approx(sums, abs=0.01)


def test_what_is_cut_off_is_taken_from_others_by_their_variances() -> None:
    found = not_negative(np.array([[-3.0, 10.0, 10.0]]), np.array([[1.0, 1.0, 2.0]]))
    assert found == pytest.approx(np.array([[0.0, 9.0, 8.0]]), abs=0.01)


def test_margins_are_kept_where_they_are_not_negative() -> None:
    sums = np.random.default_rng(1).normal(2, 5, (6, 40))
    found = not_negative(sums, np.full_like(sums, 25.0))
    assert found.min() >= 0
    assert found.sum(axis=1) == pytest.approx(sums.sum(axis=1), abs=1)
    assert found.sum() == pytest.approx(sums.sum(), rel=1e-3)


def test_less_than_nobody_is_nobody() -> None:
    assert not_negative(np.full((2, 3), -4.0), np.ones((2, 3))).sum() < 0.01
