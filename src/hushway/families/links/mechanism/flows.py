"""Noisy flows on a network, made plausible: never negative, conserved at nodes, alike in groups.

What comes into a node leaves it, but for trips that begin or end there. Links of one kind carry
flows of one order. Both are learnt or known up to a variance, and weighed against the noise of what
was measured: a least-squares problem with a bound at 0. Everything here sees noisy numbers only.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, minimize
from scipy.sparse import csr_array

from hushway.arrays import FloatArray, IntArray

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
