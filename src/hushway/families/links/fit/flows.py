"""Noisy flows on a network, made plausible: non-negative, conserved at nodes, alike in groups.

What comes into a node leaves it, but for trips that begin or end there. Links of one kind carry
flows of one order. Both hold up to a variance that is known or estimated, and are weighed against
the noise of what was measured: least squares with a bound at 0. Everything here sees noisy numbers
only.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from scipy.sparse import csr_array, vstack

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.public.roads import RoadNetwork

# Least squares with linear rules and a bound at 0, by Newton's method on the dual.
#
# Given the force y_r of each rule, flows are known one by one: x = max(0, (wanted - A'y) / trust).
# What is left is to find forces at which each rule gives way by as much as its looseness allows, A
# x - target = looseness * y. That is the minimum of a convex function, piecewise quadratic, of far
# fewer unknowns than there are flows (a semismooth Newton method, Qi and Sun 1993); its steps are
# solved by conjugate gradients.

_STEPS: Final = 100
# In units of a flow's own error: where none moves by more than this, the search ends.
STILL: Final = 1e-3
_TURNS: Final = 200
_RESIDUAL: Final = 1e-2
_LEAST_STEP: Final = 1e-4
_DECREASE: Final = 1e-4


@dataclass(frozen=True, kw_only=True, eq=False)
class Rules:
    """What flows do together: each row of the matrix comes to its target, but for its looseness."""

    matrix: csr_array
    target: FloatArray
    looseness: FloatArray

    @cached_property
    def across(self) -> csr_array:
        """The transpose, by rows."""
        return self.matrix.T.tocsr()

    @cached_property
    def squares(self) -> csr_array:
        """The squares of all entries."""
        return self.matrix.multiply(self.matrix).tocsr()


@dataclass(frozen=True, kw_only=True, eq=False)
class _Point:
    """Forces of rules, the flows that follow, and the dual function there."""

    forces: FloatArray
    flows: FloatArray
    value: float


def least_squares(wanted: FloatArray, trust: FloatArray, rules: Rules) -> FloatArray:
    """Returns the flows x >= 0 with the least trust x^2 / 2 - wanted x + what the rules cost.

    A rule costs the square of what it misses its target by over twice its looseness.
    """

    def point(forces: FloatArray) -> _Point:
        flows = np.maximum((wanted - rules.across @ forces) / trust, 0.0)
        value = trust @ flows**2 / 2 + (rules.target + rules.looseness * forces / 2) @ forces
        return _Point(forces=forces, flows=flows, value=float(value))

    now = point(np.zeros(len(rules.target)))
    unit = np.sqrt(trust)
    for _ in range(_STEPS):
        before, now = now, _stepped(now, trust, rules, point)
        if np.max(np.abs(now.flows - before.flows) * unit, initial=0.0) < STILL:
            break
    return now.flows


def _stepped(
    now: _Point, trust: FloatArray, rules: Rules, point: Callable[[FloatArray], _Point]
) -> _Point:
    """Returns the next point: a Newton step, halved until the dual function falls."""
    slope = rules.target + rules.looseness * now.forces - rules.matrix @ now.flows
    way = _newton_step(slope, (now.flows > 0) / trust, rules)
    gain, size = float(slope @ way), 1.0
    after = point(now.forces + way)
    while after.value > now.value + _DECREASE * size * gain and size > _LEAST_STEP:
        size /= 2
        after = point(now.forces + size * way)
    return after


def _newton_step(slope: FloatArray, give: FloatArray, rules: Rules) -> FloatArray:
    """Solves (A diag(give) A' + looseness) step = -slope by preconditioned conjugate gradients."""
    scale = rules.squares @ give + rules.looseness
    step, left = np.zeros_like(slope), -slope
    direction = left / scale
    size = float(left @ direction)
    enough = _RESIDUAL**2 * size
    for _ in range(_TURNS):
        if size <= enough:
            break
        image = rules.matrix @ (give * (rules.across @ direction)) + rules.looseness * direction
        length = size / float(direction @ image)
        step, left = step + length * direction, left - length * image
        before, size = size, float(left @ (left / scale))
        direction = left / scale + size / before * direction
    return step


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

    def looseness(self, counts: FloatArray, variance: FloatArray) -> float:
        """Returns by how much nodes are out of balance, as a variance for each person passing.

        Estimated from noisy counts: what their imbalance shows beyond the noise.
        """
        beyond = (self.matrix @ counts) ** 2 - self._passing @ variance
        passing = float((self._passing @ np.maximum(counts, 0.0)).sum())
        return max(float(beyond.sum()) / max(passing, 1.0), _LEAST_LOOSENESS)

    def variance(self, counts: FloatArray, variance: FloatArray) -> FloatArray:
        """Returns the variance of each node's imbalance."""
        passing = np.maximum(self._passing @ np.maximum(counts, 0.0), 1.0)
        return np.asarray(self.looseness(counts, variance) * passing + 1.0)


def balance_of(roads: RoadNetwork) -> Balance:
    """Returns the balance of a network's nodes over links, beginnings and ends, in that order."""
    links, nodes = np.arange(roads.links), np.arange(roads.nodes)
    rows = np.concatenate([roads.head, roads.tail, nodes, nodes])
    items = np.concatenate([links, links, roads.links + nodes, roads.links + roads.nodes + nodes])
    signs = np.repeat([1.0, -1.0, 1.0, -1.0], [len(links), len(links), len(nodes), len(nodes)])
    shape = (roads.nodes, roads.links + 2 * roads.nodes)
    return Balance(matrix=csr_array((signs, (rows, items)), shape=shape))


@dataclass(frozen=True, kw_only=True, eq=False)
class FlowProblem:
    """What is known of flows besides their noisy measurement.

    Attributes:
        variance: Variance of the noise in each.
        expected: What a flow is expected to be before it is measured.
        spread: Variance of flows around that; infinite to expect nothing.
        balance: One row for each node: +1 for flows that come in, -1 for those that leave.
        imbalance: Variance of each row's sum around 0; infinite to conserve nothing.
        group: The group of each flow; -1 if it has none.
        sum_variance: Variance of each; infinite where there is no measurement.
    """

    noisy: FloatArray
    variance: FloatArray
    expected: FloatArray
    spread: FloatArray
    balance: csr_array
    imbalance: FloatArray
    group: IntArray
    sums: FloatArray
    sum_variance: FloatArray


def fitted_flows(problem: FlowProblem) -> FloatArray:
    """Returns the most plausible flows, none of them negative."""
    return least_squares(
        problem.noisy / problem.variance + problem.expected / problem.spread,
        1 / problem.variance + 1 / problem.spread,
        _rules(problem),
    )


def _rules(problem: FlowProblem) -> Rules:
    """Returns nodes and sums as rules; those that anything may break are none."""
    inside = np.flatnonzero(problem.group >= 0)
    shape = len(problem.sums), len(problem.noisy)
    sums = csr_array((np.ones(len(inside)), (problem.group[inside], inside)), shape=shape)
    looseness = np.concatenate([problem.imbalance, problem.sum_variance])
    target = np.concatenate([np.zeros(len(problem.imbalance)), problem.sums])
    held = np.isfinite(looseness)
    return Rules(
        matrix=vstack([problem.balance, sums]).tocsr()[held],
        target=target[held],
        looseness=looseness[held],
    )


_ROUNDS: Final = 4


def fitted_errors(problem: FlowProblem) -> FloatArray:
    """Returns the standard error of each flow, without the bound at 0, by belief propagation.

    A node sends each of its flows what the others leave for it, and how surely; so does a sum
    (Weiss and Freeman 2001). On roads the messages converge within a few rounds.
    """
    flows = len(problem.noisy)
    entries = problem.balance.tocoo()
    nodes = problem.balance.shape[0]
    grouped = np.flatnonzero(problem.group >= 0)
    rule = np.concatenate([entries.row, nodes + problem.group[grouped]])
    flow = np.concatenate([entries.col, grouped])
    looseness = np.concatenate([problem.imbalance, problem.sum_variance])
    own = 1 / problem.variance + 1 / problem.spread
    told = np.zeros(len(flow))
    for _ in range(_ROUNDS):
        known = own + np.bincount(flow, told, minlength=flows)
        without = 1 / (known[flow] - told)
        others = looseness[rule] + np.bincount(rule, without, minlength=len(looseness))[rule]
        told = 1 / (others - without)
    known = own + np.bincount(flow, told, minlength=flows)
    return np.asarray(1 / np.sqrt(known))
