"""What the bound leaves out is put back, and what remains unknown is in the errors."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from hushway.arrays import FloatArray
from hushway.families.links.city.road_city import road_city
from hushway.families.links.fit.completion import Completed, LeftOut, beyond_of, completed
from hushway.families.links.fit.missing_shares import (
    Counted,
    LeftOutWeight,
    Nesting,
    Shares,
    common_shares,
    excess_variance,
    group_shares,
    shares_by_size,
)
from hushway.families.links.fit.table import LinkTable
from hushway.families.links.mechanism.counts import LEFT_OUT, link_counts, smaller_noise
from hushway.families.links.planning.invented_rows import Drives, random_drives
from hushway.families.links.public.universe import WEIGHTS, MovementLimits
from hushway.families.links.rows.bounding import ArrayMovements
from hushway.families.links.study.scene import LinkScene, one_period
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import counting_event
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss
from hushway.privacy.measured import Measured

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


CELLS = 4000
SHARES = np.array([0.3, 0.07, 0.013])
NOISE, NOISE_LEFT, NOISE_SUMS = 11, 31, 350


def _measured(values: FloatArray, deviation: int) -> Measured:
    return Measured(
        query=None,
        values=np.rint(values).astype(np.int64),
        variance=Fraction(deviation**2),
        event=counting_event("links", 1, PureLoss(Fraction(1)), Bound(cells=1, each=1, total=1)),
    )


def _nesting() -> Nesting:
    none = np.zeros(CELLS, dtype=np.int64)
    return Nesting(kind=none, group=none)


@dataclass(frozen=True, kw_only=True)
class City:
    """Links on which people with very many items are more or fewer than usual, by all weights."""

    truth: FloatArray
    found: Completed


def _city(seed: int, persons: float, varying: float) -> City:
    """Returns a city in which the shares of both large weights vary together between links."""
    random = np.random.default_rng(seed)
    counts = random.poisson(persons, CELLS).astype(np.float64)
    more = random.gamma(1 / varying, varying, CELLS)
    mean = SHARES[:, None] * counts * np.stack([np.ones(CELLS), more, more])
    missing = random.poisson(mean)
    unseen = random.poisson(mean * (np.array(WEIGHTS) - 1)[:, None])
    items = _measured(counts + random.normal(0, NOISE, CELLS), NOISE)
    cells = _measured((missing + random.normal(0, NOISE_LEFT, missing.shape)).ravel(), NOISE_LEFT)
    sums = missing.sum(axis=1) + random.normal(0, NOISE_SUMS, len(WEIGHTS))
    left = LeftOut(cells=cells, classes=_measured(sums, NOISE_SUMS))
    once = np.zeros(CELLS, dtype=np.int64)
    found = completed(beyond_of(items, left, _nesting(), period=once, most=8))
    return City(truth=counts + missing.sum(axis=0) + unseen.sum(axis=0), found=found)


@pytest.mark.parametrize("persons", [150.0, 400.0])
def test_errors_of_weights_that_go_together_are_added_up(persons: float) -> None:
    """As independent ones they would be too small by a third, and hold nine times in ten."""
    held, wide = [], []
    for seed in range(4):
        city = _city(seed, persons, 0.16 * min(1.0, 200 / persons))
        error = np.sqrt(city.found.variance + city.found.together)
        off = city.found.counts - city.truth
        held.append(np.mean(np.abs(off) <= 2 * error))
        wide.append(np.sqrt(np.mean(error**2) / np.mean(off**2)))
    assert 0.93 < np.mean(held) < 0.98
    assert np.mean(wide) == pytest.approx(1, abs=0.12)


def test_busy_links_may_lose_another_share_than_their_group() -> None:
    random = np.random.default_rng(1)
    counts = np.where(np.arange(CELLS) < 100, 1500.0, 40.0)
    share = np.where(counts > 1000, 0.03, 0.06)
    told = LeftOutWeight(
        weight=4,
        cells=share * counts + random.normal(0, NOISE_LEFT, CELLS),
        classes=np.array([float((share * counts).sum())]),
        noise=float(NOISE_LEFT**2),
        sum_noise=float(NOISE_LEFT**2),
    )
    ground = Counted(counts=counts, noise=float(NOISE**2), nesting=_nesting())
    common = common_shares([told], float(ground.counts.sum()))
    of_groups = group_shares(ground, told, *common)
    found = shares_by_size(ground, told, of_groups)
    group = float(of_groups.mean[0])
    assert abs(found.mean[0] - 0.03) < abs(group - 0.03) / 2
    # Quiet links may be of any size, as far as noise lets it be seen.
    assert found.mean[-1] == pytest.approx(group)


def test_without_a_share_no_size_has_one() -> None:
    ground = Counted(counts=np.full(CELLS, 500.0), noise=1.0, nesting=_nesting())
    told = LeftOutWeight(
        weight=1, cells=np.zeros(CELLS), classes=np.zeros(1), noise=0.0, sum_noise=0.0
    )
    found = shares_by_size(ground, told, Shares(mean=np.zeros(1), variance=np.zeros(1)))
    assert not found.mean.any()
    assert np.isfinite(found.variance).all()


def test_what_is_usual_is_believed_where_noise_hides_the_rest() -> None:
    random = np.random.default_rng(2)
    squares = np.full(500, 4.0)
    seen = random.normal(0, np.sqrt(0.3 * squares))
    quiet, loud = np.full(500, 1e-3), np.full(500, 1e4)
    assert excess_variance(seen, quiet, squares, 0.1) == pytest.approx(0.3, rel=0.2)
    assert excess_variance(seen, loud, squares, 0.1) == pytest.approx(0.1, rel=0.05)
    assert 0 < excess_variance(np.zeros(500), quiet, squares, 0.1) < 0.01


def test_nobody_is_taken_to_have_very_many_items_where_few_have_some_more() -> None:
    """Noise of half a deviation by the largest weight would be 8% of all that counted."""

    def told(weight: int, missing: float) -> LeftOutWeight:
        classes = np.array([missing / weight])
        return LeftOutWeight(
            weight=weight, cells=classes, classes=classes, noise=1.0, sum_noise=100.0**2
        )

    def of_largest(some_more: float) -> float:
        weights = [told(1, some_more), told(4, some_more), told(16, 800.0)]
        return 16 * float(common_shares(weights, 10_000.0)[-1].mean[0])

    assert of_largest(100.0) < 0.02
    assert of_largest(5_000.0) > 0.06
