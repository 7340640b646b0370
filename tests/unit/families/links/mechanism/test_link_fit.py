"""What becomes of noisy links: never negative, better than noise, and right without noise."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hushway.families.links.fit.flows import balance_of
from hushway.families.links.fit.table import LinkTable, fitted_speeds, group_prior
from hushway.families.links.mechanism.counts import LinkCounts, link_counts
from hushway.families.links.public.universe import SPEED_STEP, ClassZones, MovementLimits
from hushway.privacy.loss import ZCDPLoss
from support.link_towns import town_of

# More items than any trip here has: nothing is cut.
LIMITS = MovementLimits(max_items=200)
NOTHING = Fraction(0)
PLENTY = ZCDPLoss(Fraction(100_000))
# A sigma of 10 on every link.
SOME = ZCDPLoss(Fraction(1))


def way(budget: ZCDPLoss = SOME, **options: Any) -> LinkCounts:
    return link_counts(LIMITS, budget=budget, **{"left_out": NOTHING} | options)


def spread(table: LinkTable) -> NDArray[np.float64]:
    links = table.universe.roads.links
    counts = np.zeros(table.universe.size)
    counts[table.period * links + table.link] = table.counts
    return counts.reshape(-1, links)


def error(town: Any, mechanism: LinkCounts) -> float:
    table = town.release(mechanism)
    return float(np.sqrt(np.mean((spread(table) - town.truth) ** 2)))


def test_a_huge_budget_recovers_the_counts(town: Any) -> None:
    table = town.release(way(PLENTY, publish_above_se=0.0))
    assert spread(table) == pytest.approx(town.truth, abs=0.5)
    plain = town.release(
        way(
            PLENTY, publish_above_se=0.0, shrink_to_class=False, conserve=False, classes=Fraction(0)
        )
    )
    assert spread(plain) == pytest.approx(town.truth, abs=0.2)


def test_periods_are_fitted_by_themselves() -> None:
    town = town_of(1000, periods=3)
    table = town.release(way(PLENTY, publish_above_se=0.0))
    assert spread(table) == pytest.approx(town.truth, abs=0.5)
    assert sorted(set(table.period.tolist())) == [0, 1, 2]


@pytest.mark.parametrize("publish_above_se", [0.0, 2.0, 5.0])
def test_rows_are_plausible_and_in_order(town: Any, publish_above_se: float) -> None:
    table = town.release(way(publish_above_se=publish_above_se))
    assert table.counts.min() > 0
    assert table.standard_error.min() > 0
    assert np.array_equal(table.counts, np.round(table.counts, 2))
    assert np.array_equal(table.standard_error, np.round(table.standard_error, 2))
    assert (np.diff(table.period * town.universe.roads.links + table.link) > 0).all()
    assert (table.counts >= publish_above_se * (table.standard_error - 0.01) - 0.01).all()
    assert table.threshold == publish_above_se
    assert table.diagnostics["published_rows"] == len(table.link)


def test_a_higher_threshold_shows_fewer_links(town: Any) -> None:
    rows = [
        len(town.release(way(publish_above_se=publish_above_se)).link)
        for publish_above_se in (0.0, 2.0, 4.0)
    ]
    assert rows[0] > rows[1] > rows[2] > 0


def test_each_part_of_the_fit_helps(town: Any) -> None:
    bare = {
        "shrink_to_class": False,
        "conserve": False,
        "classes": Fraction(0),
        "publish_above_se": 0.0,
    }
    clamped = error(town, way(**bare))
    balanced = error(town, way(**bare | {"conserve": True}))
    expected = error(town, way(**bare | {"shrink_to_class": True}))
    whole = error(town, way(publish_above_se=0.0))
    noise = float(LIMITS.max_items / (2 * SOME.rho)) ** 0.5
    assert clamped < noise
    assert balanced < 0.95 * clamped
    assert expected < 0.95 * clamped
    assert whole < min(balanced, expected)


def test_nobody_at_all_is_published_as_little_more_than_nothing() -> None:
    town = town_of(2000)
    empty = type(town)(
        universe=town.universe,
        **dict.fromkeys(("person", "period", "item", "steps"), np.empty(0, dtype=np.int64)),
    )
    table = empty.release(way())
    # Noise of 10 on each of a thousand links would be some 4,000 in all if it were clamped.
    assert table.counts.sum() < 1500


def test_sums_of_classes_are_published_if_they_were_measured(town: Any) -> None:
    groups = ClassZones(universe=town.universe)
    measured = town.release(way(PLENTY)).class_totals
    assert measured is not None
    assert len(measured) == groups.size
    truth = np.bincount(groups.of(town.item), minlength=groups.size)
    assert measured == pytest.approx(truth, abs=12)
    assert town.release(way(classes=Fraction(0))).class_totals is None


def test_speeds_are_told_where_they_can_be(town: Any) -> None:
    table = town.release(way(PLENTY, speeds=Fraction(1, 2)))
    assert table.speed is not None
    assert table.speed_error is not None
    told = ~np.isnan(table.speed)
    assert told.mean() > 0.9
    assert np.array_equal(told, ~np.isnan(table.speed_error))
    usual = town.universe.roads.speed[table.link]
    # Everybody was one step faster than usual.
    assert np.median(table.speed[told] - usual[told]) == pytest.approx(SPEED_STEP, abs=0.5)
    assert town.release(way()).speed is None


def test_speeds_that_noise_drowns_are_left_out() -> None:
    speed, wrong = fitted_speeds(
        np.array([100.0, 1.0]), 4.0, np.array([100.0, 1.0]), np.ones(2), np.array([50.0, 50.0])
    )
    assert speed[0] == pytest.approx(55.0, abs=0.2)
    assert np.isnan(speed[1])
    assert np.isnan(wrong[1])


def test_no_links_have_no_speeds() -> None:
    nothing = np.empty(0)
    speed, wrong = fitted_speeds(nothing, 1.0, nothing, nothing, nothing)
    assert len(speed) == len(wrong) == 0


def test_whole_trips_balance_every_node(town: Any) -> None:
    items = np.bincount(town.item, minlength=town.universe.items).astype(np.float64)
    assert np.abs(balance_of(town.universe.roads).matrix @ items).max() == 0


def test_looseness_is_told_from_what_noise_does_not_explain(town: Any) -> None:
    balance = balance_of(town.universe.roads)
    items = np.bincount(town.item, minlength=town.universe.items).astype(np.float64)
    random = np.random.default_rng(3)
    noisy = items + random.normal(0, 3, len(items))
    noise = np.full(len(items), 9.0)
    assert balance.looseness(noisy, noise) < 0.2
    # Persons who vanish on the way.
    lost = np.where(random.random(len(items)) < 0.3, 0.0, items)
    assert balance.looseness(lost, 0 * noise) > 1
    assert (balance.variance(noisy, noise) >= 1).all()


def test_items_are_expected_to_be_like_their_group() -> None:
    random = np.random.default_rng(5)
    group = np.repeat([0, 1, 2], 500)
    counts = np.array([0.0, 40.0, 5.0])[group] + random.normal(0, 3, 1500)
    counts[1007] = 300.0
    mean, variance = group_prior(counts, np.full(1500, 9.0), group, 3)
    assert mean[600] == pytest.approx(40.0, abs=0.5)
    assert variance[:500].max() < 9.0
    # Streets of one kind are never taken for alike, whatever their noisy counts say.
    assert variance[500:1000].min() > 1000.0
    # What is far from its group is not drawn to it.
    assert variance[1007] > 1000 * 9.0


def test_a_group_without_items_does_no_harm() -> None:
    mean, variance = group_prior(np.array([1.0, 3.0]), np.ones(2), np.array([0, 2]), 4)
    assert mean.tolist() == [1.0, 3.0]
    assert (variance > 0).all()


def test_the_mean_of_a_group_makes_nothing_surer_that_lies_above_it(town: Any) -> None:
    """A few links carry many times the mean: it does not say how far they go."""
    table = town.release(way(classes=NOTHING, conserve=False))
    # Next to no group has a mean of that many.
    above = table.standard_error[table.counts > 60]
    assert len(above) > 10
    assert np.mean(above > 9.99) > 0.9
