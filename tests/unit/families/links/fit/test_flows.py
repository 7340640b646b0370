"""Fitted flows against a solver of quadratic programmes, on networks small enough for it."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import clarabel
import numpy as np
import pytest
from scipy import sparse

from hushway.arrays import FloatArray
from hushway.families.links.city.road_city import road_city
from hushway.families.links.fit import flows
from hushway.families.links.fit.completion import not_negative
from hushway.families.links.fit.flows import FlowProblem, balance_of, fitted_errors, fitted_flows
from hushway.families.links.mechanism.counts import link_counts
from hushway.families.links.public.universe import ClassZones, MovementLimits
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss
from support.link_towns import town_of

# A city takes seconds.
SEEDS: list[Any] = [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))]


def ring(links: int) -> sparse.csr_array:
    """The balance of a ring road: link i leads from node i to node i + 1; no trips begin or end."""
    link = np.arange(links)
    rows = np.concatenate([(link + 1) % links, link])
    signs = np.repeat([1.0, -1.0], links)
    return sparse.csr_array((signs, (rows, np.tile(link, 2))), shape=(links, links))


def problem(seed: int, balance: sparse.csr_array, *, noise: float = 9.0) -> FlowProblem:
    random = np.random.default_rng(seed)
    nodes, flows = balance.shape
    truth = random.gamma(0.5, 20.0, flows)
    group = random.integers(0, 4, flows)
    return FlowProblem(
        noisy=truth + random.normal(0, noise**0.5, flows),
        variance=np.full(flows, noise),
        expected=random.gamma(0.5, 20.0, flows),
        spread=random.uniform(5, 50, flows),
        balance=balance,
        imbalance=random.uniform(1, 20, nodes),
        group=group,
        sums=np.bincount(group, truth, minlength=4) + random.normal(0, 5, 4),
        sum_variance=np.full(4, 25.0),
    )


def quadratic(given: FlowProblem) -> tuple[sparse.csc_matrix, FloatArray]:
    """The sum of squares as x'Px/2 - q'x, up to a constant."""
    flows = len(given.noisy)
    inside = given.group >= 0
    groups = sparse.csr_array(
        (np.ones(inside.sum()), (given.group[inside], np.flatnonzero(inside))),
        shape=(len(given.sums), flows),
    )
    matrix = (
        sparse.diags_array(1 / given.variance + 1 / given.spread)
        + given.balance.T @ sparse.diags_array(1 / given.imbalance) @ given.balance
        + groups.T @ sparse.diags_array(1 / given.sum_variance) @ groups
    )
    linear = (
        given.noisy / given.variance
        + given.expected / given.spread
        + groups.T @ (given.sums / given.sum_variance)
    )
    return sparse.csc_matrix(matrix), np.asarray(linear)


def by_quadratic_programme(given: FlowProblem) -> FloatArray:
    matrix, linear = quadratic(given)
    flows = len(linear)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(
        sparse.triu(matrix).tocsc(),
        -linear,
        sparse.csc_matrix(-np.eye(flows)),
        np.zeros(flows),
        [clarabel.NonnegativeConeT(flows)],
        settings,
    )
    return np.array(solver.solve().x)


def value(given: FlowProblem, flows: FloatArray) -> float:
    matrix, linear = quadratic(given)
    return float(flows @ (matrix @ flows) / 2 - linear @ flows)


def error_share(given: FlowProblem, ours: FloatArray) -> float:
    """How far ours are from the best flows, in standard deviations of the noise."""
    best = by_quadratic_programme(given)
    return float(np.sqrt(np.mean((ours - best) ** 2 / given.variance)))


@pytest.mark.parametrize("seed", range(12))
def test_flows_of_a_ring_are_the_best_ones(seed: int) -> None:
    given = problem(seed, ring(5 + 3 * seed))
    ours = fitted_flows(given)
    assert ours.min() >= 0
    assert error_share(given, ours) < 0.01


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_flows_of_a_city_are_the_best_ones_but_for_a_part_of_the_noise(seed: int) -> None:
    """The fit stops early: what is missing is small beside the noise that it is made from."""
    given = problem(seed, balance_of(road_city(seed, links=1000)).matrix)
    ours = fitted_flows(given)
    assert ours.min() >= 0
    assert error_share(given, ours) < 0.02


@pytest.mark.parametrize("seed", SEEDS)
def test_with_more_patience_flows_of_a_city_are_the_best_ones(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flows, "STILL", 1e-5)
    given = problem(seed, balance_of(road_city(seed, links=1000)).matrix)
    assert error_share(given, fitted_flows(given)) < 0.005


@pytest.mark.parametrize("seed", SEEDS)
def test_many_flows_at_nothing_are_found(seed: int) -> None:
    """Noise larger than most flows, so that many of the best ones are 0."""
    given = replace(
        problem(seed, balance_of(road_city(seed, links=1000)).matrix, noise=900.0),
        sum_variance=np.full(4, np.inf),
    )
    given = replace(given, spread=np.full(len(given.noisy), np.inf))
    ours, best = fitted_flows(given), by_quadratic_programme(given)
    assert (best < 1e-3).mean() > 0.1
    assert (ours[best < 1e-6] < 1.0).mean() > 0.95
    assert error_share(given, ours) < 0.02
    start = value(given, np.maximum(given.noisy, 0.0)) - value(given, best)
    assert value(given, ours) - value(given, best) < 0.001 * start


@pytest.mark.parametrize("seed", SEEDS)
def test_errors_are_those_of_the_whole_problem(seed: int) -> None:
    """Beside the inverse of all that is known; without nodes and sums they would be 9% off."""
    given = problem(seed, balance_of(road_city(seed, links=1000)).matrix)
    matrix, _ = quadratic(given)
    exact = np.sqrt(np.diag(np.linalg.inv(matrix.toarray())))
    found = fitted_errors(given)
    assert found == pytest.approx(exact, rel=0.08)
    assert np.mean(found / exact) == pytest.approx(1, abs=0.01)
    alone = np.sqrt(1 / (1 / given.variance + 1 / given.spread))
    assert np.mean(alone / exact) > 1.05


def test_without_anything_known_flows_are_clamped() -> None:
    given = problem(1, ring(9))
    nothing = replace(
        given,
        noisy=np.array([3.0, -2.0, 0.0, 1.5, -7.0, 4.0, 9.0, 2.0, -1.0]),
        spread=np.full(9, np.inf),
        imbalance=np.full(9, np.inf),
        sum_variance=np.full(4, np.inf),
    )
    assert fitted_flows(nothing) == pytest.approx(np.maximum(nothing.noisy, 0.0), abs=1e-12)


def test_flows_without_a_group_are_in_no_sum() -> None:
    given = problem(2, ring(8))
    alone = replace(
        given, group=np.full(8, -1), sums=np.full(4, 1e6), sum_variance=np.full(4, 1e-3)
    )
    without = replace(given, sum_variance=np.full(4, np.inf))
    assert fitted_flows(alone) == pytest.approx(fitted_flows(without), abs=1e-2)


def test_a_ring_that_loses_nobody_carries_one_flow_all_around() -> None:
    given = replace(
        problem(3, ring(6)),
        spread=np.full(6, np.inf),
        imbalance=np.full(6, 1e-6),
        noisy=np.arange(6.0),
    )
    unsummed = replace(given, sum_variance=np.full(4, np.inf))
    assert fitted_flows(unsummed) == pytest.approx(np.full(6, 2.5), abs=0.05)


def test_a_group_that_is_known_exactly_keeps_its_sum() -> None:
    given = replace(
        problem(4, ring(8)),
        imbalance=np.full(8, np.inf),
        group=np.zeros(8, dtype=np.int64),
        sums=np.array([200.0]),
        sum_variance=np.array([1e-6]),
    )
    assert fitted_flows(given).sum() == pytest.approx(200.0, rel=0.01)


def test_no_flows_at_all_stay_nothing() -> None:
    given = problem(5, ring(7))
    empty = replace(
        given, noisy=np.zeros(7), expected=np.zeros(7), sums=np.zeros(4), spread=np.full(7, 1.0)
    )
    assert fitted_flows(empty).tolist() == [0.0] * 7


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
def test_published_sums_agree_with_what_was_measured_of_them(budget: Loss) -> None:
    town = town_of(200, periods=3)
    mechanism = link_counts(LIMITS, budget=budget, left_out=Fraction(0))
    apart = []
    for run in RUNS:
        table = town.release(mechanism, run)
        error = table.noise[ClassZones(universe=town.universe).name]
        apart.append((published_sums(table) - measured_sums(table)) / error)
    assert np.mean(np.abs(np.concatenate(apart)) <= 2.5) >= 0.99


@pytest.mark.parametrize("budget", LITTLE)
def test_all_people_are_as_many_as_there_are_where_most_links_are_empty(budget: Loss) -> None:
    """Cut off at 0, noise of 50 on a thousand links would be 20,000 people in each period."""
    town = town_of(200, periods=3)
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
