"""What the bound leaves out is put back, and what remains unknown is in the errors."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from hushway.families.links.city.road_city import road_city
from hushway.families.links.fit.table import LinkTable
from hushway.families.links.mechanism.counts import LEFT_OUT, link_counts, smaller_noise
from hushway.families.links.planning.invented_rows import Drives, random_drives
from hushway.families.links.public.universe import MovementLimits
from hushway.families.links.rows.bounding import ArrayMovements
from hushway.families.links.study.scene import LinkScene, one_period
from hushway.privacy.loss import Loss, ZCDPLoss

NOTHING = Fraction(0)
# Less than a fifth of what some of these people have.
LIMITS = MovementLimits(max_items=20)
DELTA = Fraction(1, 10**6)
PLENTY = ZCDPLoss(Fraction(100_000))


@cache
def scene() -> LinkScene:
    """Most people have one trip or two, and some have 12."""
    roads = road_city(6, links=1000)
    single = random_drives(roads, 30_000, 6)
    random = np.random.default_rng(6)
    each = np.where(random.random(30_000) < 0.03, 12, 1 + random.integers(0, 2, 30_000))
    owner = np.repeat(np.arange(30_000), each)[:30_000][random.permutation(30_000)]
    return LinkScene(
        universe=one_period(roads), drives=Drives(person=owner[single.person], item=single.item)
    )


@cache
def counter(*, left_out: bool, key_seed: int = 0) -> ArrayMovements:
    return scene().bounded(replace(LIMITS, left_out=left_out), key_seed=key_seed)


def release(budget: Loss, left_out: Fraction = LEFT_OUT, seed: int = 1) -> LinkTable:
    mechanism = link_counts(LIMITS, budget=budget, left_out=left_out)
    measured = scene().measured(counter(left_out=left_out > 0), mechanism, seed)
    return mechanism.fit(measured, scene().universe)


def held(table: LinkTable, least: float) -> float:
    """How many counts of at least so many persons are within two standard errors."""
    large = table.counts >= least
    truth = scene().truth[table.link]
    return float((np.abs(table.counts - truth) <= 2 * table.standard_error)[large].mean())


def test_without_noise_only_the_draw_of_the_sample_is_left() -> None:
    table = release(PLENTY)
    truth = scene().truth[table.link]
    bounded = release(PLENTY, NOTHING)
    lost = 1 - bounded.counts.sum() / scene().truth[bounded.link].sum()
    assert lost > 0.1
    assert table.counts.sum() / truth.sum() == pytest.approx(1, abs=0.005)
    busy = truth > 300
    assert (np.abs(table.counts - truth) / truth)[busy].max() < 0.1
    assert held(table, 300) > 0.9


def test_busy_links_are_as_good_as_their_errors_say() -> None:
    budget = smaller_noise(Fraction(4), DELTA, LIMITS)
    asked = [release(budget, seed=seed) for seed in range(1, 5)]
    large = [float((table.counts >= 100).sum()) for table in asked]
    assert min(large) > 100
    assert np.mean([held(table, 100) for table in asked]) > 0.9
    # As counted, two errors hold next to none of these.
    assert held(release(budget, NOTHING), 100) < 0.2


def test_errors_are_no_larger_than_they_must_be() -> None:
    """Not so wide that they always hold: a half of them are more than a third of one off."""
    table = release(smaller_noise(Fraction(4), DELTA, LIMITS))
    off = np.abs(table.counts - scene().truth[table.link]) / table.standard_error
    assert np.median(off[table.counts >= 100]) > 0.33


def test_sums_and_kilometres_are_whole_too() -> None:
    table = release(smaller_noise(Fraction(4), DELTA, LIMITS))
    length = scene().universe.roads.length / 1000
    km = float(table.counts @ length[table.link]) + float(table.rest.km.sum())
    assert km == pytest.approx(float(scene().truth @ length), rel=0.03)


def test_where_nothing_is_left_out_little_is_put_back() -> None:
    """Everybody has few items: what is put back is noise, and errors allow for it."""
    roads = road_city(6, links=1000)
    few = LinkScene(universe=one_period(roads), drives=random_drives(roads, 30_000, 6))
    limits = MovementLimits(max_items=100)
    mechanism = link_counts(limits, budget=smaller_noise(Fraction(4), DELTA, limits))
    ratios, holds = [], []
    for seed in range(1, 5):
        table = mechanism.fit(few.measured(few.bounded(limits), mechanism, seed), few.universe)
        truth = few.truth[table.link]
        ratios.append(table.counts.sum() / truth.sum())
        holds.append((np.abs(table.counts - truth) <= 2 * table.standard_error).mean())
    assert np.mean(ratios) == pytest.approx(1, abs=0.05)
    assert np.mean(holds) > 0.9
