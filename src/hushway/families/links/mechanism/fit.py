"""The table that the links family publishes, and how noise becomes one: all post-processing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import Bounds, minimize
from scipy.sparse import csr_array

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.errors import PrivacyError
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.public.universe import (
    SPEED_STEP,
    ClassZones,
    LinkUniverse,
    MovementCells,
    SpeedSums,
)
from hushway.privacy.measured import Measured
from hushway.release.mechanism import Measurements, noise_of


@dataclass(frozen=True, kw_only=True, eq=False)
class LinkTable:
    """Published counts of links. Safe for anyone to see.

    Attributes:
        universe: The public roads, periods and zones.
        period: Period of each published row, ascending.
        link: Its link, ascending within a period.
        counts: Estimated persons: finite, above 0, rounded to hundredths.
        standard_error: What each is expected to be off by: finite, above 0, rounded likewise.
        speed: Mean speed in km/h, rounded to tenths, NaN where it cannot be told; None if not
            measured.
        speed_error: Standard error of the speed, NaN likewise; None if not measured.
        threshold: Links whose noisy count is below it are not shown.
        class_totals: Noisy persons by group of `ClassZones`; None if not measured.
        noise: Standard deviation of the noise in each measurement, by what was asked.
        diagnostics: How the fit went, as plain JSON values.
    """

    universe: LinkUniverse
    period: IntArray
    link: IntArray
    counts: FloatArray
    standard_error: FloatArray
    speed: FloatArray | None
    speed_error: FloatArray | None
    threshold: float
    class_totals: IntArray | None
    noise: Mapping[str, float]
    diagnostics: Mapping[str, Any] = field(default_factory=dict)


# Persons count once on a link that they use twice, so nodes are never balanced quite exactly.
_LEAST_LOOSENESS = 0.05


@dataclass(frozen=True, kw_only=True, eq=False)
class Balance:
    """The balance of every node over the items of a period.

    Attributes:
        matrix: One row for each node: +1 for links that come in and trips that begin there, -1 for
            links that leave and trips that end.
    """

    matrix: csr_array

    @cached_property
    def _passing(self) -> csr_array:
        return abs(self.matrix)

    def looseness(self, counts: FloatArray, variance: float) -> float:
        """Returns by how much nodes are out of balance, as a variance for each person passing.

        Told from noisy counts: what their imbalance shows beyond the noise.
        """
        beyond = (self.matrix @ counts) ** 2 - variance * self._degrees
        passing = float((self._passing @ np.maximum(counts, 0.0)).sum())
        return max(float(beyond.sum()) / max(passing, 1.0), _LEAST_LOOSENESS)

    def variance(self, counts: FloatArray, variance: float) -> FloatArray:
        """Returns the variance of each node's imbalance."""
        passing = np.maximum(self._passing @ np.maximum(counts, 0.0), 1.0)
        return np.asarray(self.looseness(counts, variance) * passing + 1.0)

    @cached_property
    def _degrees(self) -> FloatArray:
        return np.asarray(self._passing @ np.ones(self.matrix.shape[1]))


def balance_of(roads: RoadNetwork) -> Balance:
    """Returns the balance of a network's nodes over links, beginnings and ends, in that order."""
    links, nodes = np.arange(roads.links), np.arange(roads.nodes)
    rows = np.concatenate([roads.head, roads.tail, nodes, nodes])
    items = np.concatenate([links, links, roads.links + nodes, roads.links + roads.nodes + nodes])
    signs = np.repeat([1.0, -1.0, 1.0, -1.0], [len(links), len(links), len(nodes), len(nodes)])
    shape = (roads.nodes, roads.links + 2 * roads.nodes)
    return Balance(matrix=csr_array((signs, (rows, items)), shape=shape))


# A speed that may be off by more than this says nothing, in km/h.
_LARGEST_ERROR = 10.0
_SLOWEST = 1.0
# Links differ by about a step from each other, even where noise hides it. Without this floor all
# speeds could be taken for one, with standard errors that nobody should believe.
_LEAST_SPEED_SPREAD = 1.0


def fitted_speeds(
    steps: FloatArray,
    variance: float,
    counts: FloatArray,
    errors: FloatArray,
    usual: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Returns mean speeds and their standard errors in km/h; NaN where nothing can be told.

    The mean step of a link is its noisy sum over its fitted count. It is drawn towards the mean of
    all links by as much as its own noise outweighs how links differ.

    Args:
        steps: Noisy sums of steps from the usual speed.
        variance: Variance of the noise in each.
        counts: Fitted persons.
        errors: Their standard errors.
        usual: Usual speeds.
    """
    mean = steps / counts
    # A count that is off changes the mean in proportion.
    noise = variance / counts**2 + mean**2 * (errors / counts) ** 2
    weight = 1 / noise
    common = float(weight @ mean / weight.sum()) if len(mean) else 0.0
    differ = float(weight @ ((mean - common) ** 2 - noise) / weight.sum()) if len(mean) else 0.0
    spread = max(differ, _LEAST_SPEED_SPREAD)
    trust = spread / (spread + noise)
    best = common + trust * (mean - common)
    error = SPEED_STEP * np.sqrt(spread * noise / (spread + noise))
    speed = np.maximum(usual + SPEED_STEP * best, _SLOWEST)
    told = SPEED_STEP * np.sqrt(noise) <= _LARGEST_ERROR
    return (
        np.where(told, np.round(speed, 1), np.nan),
        np.where(told, np.maximum(np.round(error, 1), 0.1), np.nan),
    )


_HUNDREDTH = 0.01


@dataclass(frozen=True, kw_only=True, eq=False)
class _Fitted:
    """Fitted persons by (period, link), and what they are expected to be off by."""

    values: FloatArray
    errors: FloatArray
    looseness: float


@dataclass(frozen=True, kw_only=True, eq=False)
class _Answers:
    """What was measured, told apart by what was asked."""

    items: Measured
    classes: Measured | None
    speeds: Measured | None


def fit_links(
    measured: Measurements, universe: LinkUniverse, *, shown: float, expect: bool, conserve: bool
) -> LinkTable:
    """Fits the flows of every period, and keeps the links that stand out."""
    answers = _told_apart(measured)
    groups = ClassZones(universe=universe)
    variance = float(answers.items.variance)
    noisy = answers.items.values.astype(np.float64).reshape(len(universe.periods), -1)
    sums, sum_variance = _sums(answers.classes, groups)
    group = groups.of(np.arange(universe.items))
    balance = balance_of(universe.roads)
    values, errors = np.empty_like(noisy), np.empty_like(noisy)
    loose = []
    for period, counts in enumerate(noisy):
        expected, spread = expectation(counts, variance, group, groups.groups)
        problem = FlowProblem(
            noisy=counts,
            variance=variance,
            expected=expected,
            spread=spread if expect else np.full(len(counts), np.inf),
            balance=balance.matrix,
            imbalance=_imbalance(balance, counts, variance, conserve=conserve),
            group=group,
            sums=sums[period],
            sum_variance=sum_variance,
        )
        values[period] = fitted_flows(problem)
        # The error without conservation and sums, which only make it smaller.
        errors[period] = np.sqrt(1 / (1 / variance + 1 / problem.spread))
        loose.append(balance.looseness(counts, variance))
    links = universe.roads.links
    fitted = _Fitted(
        values=values[:, :links], errors=errors[:, :links], looseness=float(np.mean(loose))
    )
    return _table(answers, universe, fitted, shown, noise_of(measured))


def _told_apart(measured: Measurements) -> _Answers:
    found = {type(one.query.cells): one for one in measured if isinstance(one, Measured)}
    if MovementCells not in found:
        raise PrivacyError(
            "Links cannot be fitted without their counts.",
            advice="Give `fit` what `measure` returned.",
        )
    return _Answers(
        items=found[MovementCells],
        classes=found.get(ClassZones),
        speeds=found.get(SpeedSums),
    )


def _sums(classes: Measured | None, groups: ClassZones) -> tuple[FloatArray, FloatArray]:
    periods = len(groups.universe.periods)
    if classes is None:
        return np.zeros((periods, groups.groups)), np.full(groups.groups, np.inf)
    values = classes.values.astype(np.float64).reshape(periods, groups.groups)
    return values, np.full(groups.groups, float(classes.variance))


def _imbalance(
    balance: Balance, counts: FloatArray, variance: float, *, conserve: bool
) -> FloatArray:
    if not conserve:
        return np.full(balance.matrix.shape[0], np.inf)
    return balance.variance(counts, variance)


def _table(
    answers: _Answers,
    universe: LinkUniverse,
    fitted: _Fitted,
    shown: float,
    noise: Mapping[str, float],
) -> LinkTable:
    values, errors = fitted.values, fitted.errors
    standing = (values >= shown * errors) & (values >= _HUNDREDTH)
    period, link = (index.astype(np.int64) for index in np.nonzero(standing))
    speed = None if answers.speeds is None else _speeds(answers.speeds, universe, fitted, standing)
    classes = answers.classes
    return LinkTable(
        universe=universe,
        period=period,
        link=link,
        counts=np.round(values[standing], 2),
        standard_error=np.maximum(np.round(errors[standing], 2), _HUNDREDTH),
        speed=None if speed is None else speed[0],
        speed_error=None if speed is None else speed[1],
        threshold=shown,
        class_totals=None if classes is None else classes.values,
        noise=noise,
        diagnostics={"published_rows": len(link), "looseness_of_nodes": fitted.looseness},
    )


def _speeds(
    speeds: Measured, universe: LinkUniverse, fitted: _Fitted, standing: BoolArray
) -> tuple[FloatArray, FloatArray]:
    steps = speeds.values.astype(np.float64).reshape(fitted.values.shape)
    usual = np.broadcast_to(universe.roads.speed, fitted.values.shape)
    return fitted_speeds(
        steps[standing],
        float(speeds.variance),
        fitted.values[standing],
        fitted.errors[standing],
        usual[standing],
    )


# Streets of one kind differ by about as much as their mean. Without such a floor a group of quiet
# ones could be taken for a constant, with standard errors that nobody should believe.
_LEAST_VARIATION = 1.0
_LEAST_SPREAD = 1e-3


def expectation(
    counts: FloatArray, variance: float, group: IntArray, groups: int
) -> tuple[FloatArray, FloatArray]:
    """Returns the mean of each item's group, and how far items are from it, as variances.

    Some links carry far more than others of their kind. Where a noisy count is further from the
    mean than the group's spread and the noise explain, its spread is widened by as much, so that
    busy roads are not drawn down to the others.

    Args:
        counts: Noisy counts.
        variance: Variance of the noise in each.
        group: The group of each.
        groups: Number of groups.
    """
    size = np.maximum(np.bincount(group, minlength=groups), 1)
    middle = np.maximum(np.bincount(group, counts, minlength=groups) / size, 0.0)
    mean = middle[group]
    apart = (counts - mean) ** 2
    beyond = np.bincount(group, apart, minlength=groups) / size - variance
    floor = (_LEAST_VARIATION * middle) ** 2 + _LEAST_SPREAD * variance
    spread = np.maximum(beyond, floor)[group]
    return mean, spread * np.maximum(apart / (spread + variance), 1.0)


# Noisy flows on a network, made plausible: never negative, conserved at nodes, alike in groups.
#
# What comes into a node leaves it, but for trips that begin or end there. Links of one kind carry
# flows of one order. Both are learnt or known up to a variance, and weighed against the noise of
# what was measured: a least-squares problem with a bound at 0. Everything here sees noisy numbers
# only.

_STEPS = 1000
# In units of the noise: where no flow would move by more than this, the search ends.
_SLOPE = 1e-2
_GAIN = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class FlowProblem:
    """What is known of flows besides their noisy measurement.

    Attributes:
        noisy: Noisy flows.
        variance: Variance of the noise in each.
        expected: What a flow is expected to be before it is measured.
        spread: Variance of flows around that; infinite to expect nothing.
        balance: One row for each node: +1 for flows that come in, -1 for those that leave.
        imbalance: Variance of each row's sum around 0; infinite to conserve nothing.
        group: The group of each flow; -1 if it has none.
        sums: Measured sum of each group.
        sum_variance: Variance of each; infinite where there is no measurement.
    """

    noisy: FloatArray
    variance: float
    expected: FloatArray
    spread: FloatArray
    balance: csr_array
    imbalance: FloatArray
    group: IntArray
    sums: FloatArray
    sum_variance: FloatArray


def fitted_flows(problem: FlowProblem) -> FloatArray:
    """Returns the most plausible flows, none of them negative."""
    trust = 1 / problem.variance + 1 / problem.spread
    node_weight = 1 / problem.imbalance
    sum_weight = 1 / problem.sum_variance
    grouped = problem.group >= 0
    group = np.where(grouped, problem.group, 0)
    across = problem.balance.T.tocsr()
    squares = problem.balance.multiply(problem.balance).T @ node_weight
    # Flows are measured in units in which all of them are about as stiff.
    unit = 1 / np.sqrt(trust + squares + np.where(grouped, sum_weight[group], 0.0))
    wanted = problem.noisy / problem.variance + problem.expected / problem.spread
    wanted = wanted + np.where(grouped, (sum_weight * problem.sums)[group], 0.0)

    def cost(scaled: FloatArray) -> tuple[float, FloatArray]:
        flows = scaled * unit
        totals = np.bincount(group, np.where(grouped, flows, 0.0), minlength=len(problem.sums))
        pulled = across @ (node_weight * (problem.balance @ flows))
        held = np.where(grouped, (sum_weight * totals)[group], 0.0)
        slope = trust * flows + pulled + held
        return float(flows @ (slope / 2 - wanted)), (slope - wanted) * unit

    start = np.maximum(problem.noisy, 0.0) / unit
    found = minimize(
        cost,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(0.0, np.inf),
        options={"maxiter": _STEPS, "maxfun": 2 * _STEPS, "gtol": _SLOPE, "ftol": _GAIN},
    )
    return np.asarray(np.maximum(found.x, 0.0) * unit)
