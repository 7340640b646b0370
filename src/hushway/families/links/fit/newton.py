"""Least squares with linear rules and a bound at 0, by Newton's method on the dual.

Given the force y_r of each rule, flows are known one by one: x = max(0, (wanted - A'y) / trust).
What is left is to find forces at which each rule gives way by as much as its looseness allows,
A x - target = looseness * y. That is the minimum of a convex function, piecewise quadratic, of far
fewer unknowns than there are flows (a semismooth Newton method, Qi and Sun 1993); its steps are
solved by conjugate gradients.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from scipy.sparse import csr_array

from hushway.arrays import FloatArray

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
