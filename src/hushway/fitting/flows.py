"""Noisy flows on a network, made plausible: never negative, conserved at nodes, alike in groups.

What comes into a node leaves it, but for trips that begin or end there. Links of one kind carry
flows of one order. Both are learnt or known up to a variance, and weighed against the noise of what
was measured: a least-squares problem with a bound at 0, solved by conjugate gradients on the flows
that are above it. Everything here sees noisy numbers only.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_ROUNDS = 6
_STEPS = 60
_TOLERANCE = 1e-3


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

    def apply(flows: FloatArray) -> FloatArray:
        totals = np.bincount(group, np.where(grouped, flows, 0.0), minlength=len(problem.sums))
        pulled = across @ (node_weight * (problem.balance @ flows))
        held = np.where(grouped, (sum_weight * totals)[group], 0.0)
        return np.asarray(trust * flows + pulled + held)

    wanted = problem.noisy / problem.variance + problem.expected / problem.spread
    wanted = wanted + np.where(grouped, (sum_weight * problem.sums)[group], 0.0)
    squares = problem.balance.multiply(problem.balance).T @ node_weight
    diagonal = trust + squares + np.where(grouped, sum_weight[group], 0.0)
    flows = np.maximum(problem.noisy, 0.0)
    free = np.ones(len(flows), dtype=np.bool_)
    for _ in range(_ROUNDS):
        flows = _conjugate(apply, wanted, diagonal, np.where(free, flows, 0.0), free)
        pushed = apply(np.maximum(flows, 0.0)) - wanted
        # A flow that was taken to 0 comes back where the sum of squares would fall.
        wanted_free = np.where(free, flows > 0, pushed < 0)
        flows = np.maximum(flows, 0.0)
        if (wanted_free == free).all():
            break
        free = wanted_free
    return flows


def _conjugate(
    apply: Callable[[FloatArray], FloatArray],
    wanted: FloatArray,
    diagonal: FloatArray,
    flows: FloatArray,
    free: NDArray[np.bool_],
) -> FloatArray:
    """Solves for the free flows with all others at 0, starting from `flows`."""
    rest = np.where(free, wanted - apply(flows), 0.0)
    scaled = rest / diagonal
    direction = scaled.copy()
    strength = float(rest @ scaled)
    small = _TOLERANCE**2 * max(float(wanted @ (wanted / diagonal)), 1e-300)
    for _ in range(_STEPS):
        if strength <= small:
            break
        moved = np.where(free, apply(direction), 0.0)
        length = strength / float(direction @ moved)
        flows = flows + length * direction
        rest -= length * moved
        scaled = rest / diagonal
        before, strength = strength, float(rest @ scaled)
        direction = scaled + (strength / before) * direction
    return flows
