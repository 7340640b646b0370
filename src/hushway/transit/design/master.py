"""The master problem of Benders' method: arcs to open, and what riders may hope to save.

It knows the riders only by cuts, so it hopes for too much, and no design costs less than its
optimum. HiGHS solves it, by way of scipy.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array, vstack

from hushway.arrays import FloatArray
from hushway.transit.design.cuts import Cuts, Ways
from hushway.transit.design.problem import DesignProblem

# What the solver's own tolerances may leave over, as a share of the dearest trip or of the cost.
_ROUNDING = 1e-7


@dataclass(frozen=True, kw_only=True, eq=False)
class Hope:
    """A solution of the master problem.

    Attributes:
        y: The part of each arc that is open, by its number.
        saved: What each pair hopes to save.
        cost: What all that costs, less what it saves.
        bound: No design costs less than this; the cost itself unless the solver stopped early.
        forced: What opening each arc fully would add to the bound, if y is a relaxation's.
    """

    y: FloatArray
    saved: FloatArray
    cost: float
    bound: float
    forced: FloatArray


class Master:
    """Arcs, hopes and the cuts that were found so far."""

    def __init__(self, problem: DesignProblem, ways: Ways) -> None:
        self._ways = ways
        self._arcs = problem.may_open.size
        cost = np.where(problem.may_open, problem.open_cost, 0.0)
        self._cost = np.concatenate([cost.ravel(), -ways.riders])
        self._most = np.concatenate([problem.may_open.ravel().astype(float), ways.most_saved])
        self._balance = _balance(ways, columns=len(self._cost))
        self._rows = csr_array((0, len(self._cost)))
        self._limits = np.zeros(0)

    def add(self, cuts: Cuts, hope: Hope) -> bool:
        """Adds the cuts that a solution breaks; returns whether there are any."""
        ways = self._ways
        rounding = _ROUNDING * ways.without_buses.max()
        broken = hope.saved > cuts.saved(ways, hope.y) + rounding
        pair = ways.pair
        row = np.cumsum(broken) - 1
        kept = broken[pair] & (cuts.worth > 0)
        each = np.flatnonzero(broken)
        values = np.concatenate([-cuts.worth[kept], np.ones(len(each))])
        rows = np.concatenate([row[pair[kept]], np.arange(len(each))])
        columns = np.concatenate([ways.bus[kept], self._arcs + each])
        new = csr_array((values, (rows, columns)), shape=(len(each), len(self._cost)))
        self._rows = vstack([self._rows, new], format="csr")
        self._limits = np.concatenate([self._limits, cuts.spare[each]])
        return bool(broken.any())

    def close(self, hope: Hope, *, best: float) -> None:
        """Closes for good every arc that a design cheaper than the best cannot afford.

        By duality, a design with an arc costs at least the relaxation plus the arc's reduced cost.

        Args:
            hope: A solution of the relaxation.
            best: The cost of the best design that is known, less what all pay without buses.
        """
        too_dear = hope.bound + hope.forced > best + _ROUNDING * abs(best)
        self._most[: self._arcs][too_dear] = 0.0

    def relaxed(self) -> Hope:
        """Returns the best solution with arcs that may be open in part."""
        found = linprog(
            self._cost,
            A_ub=self._rows,
            b_ub=self._limits,
            A_eq=self._balance,
            b_eq=np.zeros(self._ways.hubs),
            bounds=np.column_stack([np.zeros(len(self._most)), self._most]),
            # The simplex method: a corner has far fewer broken arcs than an inner point.
            method="highs-ds",
        )
        forced = found.lower.marginals[: self._arcs]
        return self._hope(found.x, cost=found.fun, bound=found.fun, forced=forced)

    def whole(self, *, gap: float) -> Hope:
        """Returns the best solution with arcs that are open or not, to a gap."""
        found = milp(
            self._cost,
            constraints=[
                LinearConstraint(self._rows, -np.inf, self._limits),
                LinearConstraint(self._balance, 0, 0),
            ],
            bounds=Bounds(0, self._most),
            integrality=np.arange(len(self._cost)) < self._arcs,
            options={"mip_rel_gap": gap},
        )
        forced = np.zeros(self._arcs)
        found.x[: self._arcs] = np.round(found.x[: self._arcs])
        return self._hope(found.x, cost=found.fun, bound=found.mip_dual_bound, forced=forced)

    def _hope(self, x: FloatArray, *, cost: float, bound: float, forced: FloatArray) -> Hope:
        return Hope(
            y=np.clip(x[: self._arcs], 0.0, 1.0),
            saved=x[self._arcs :],
            cost=float(cost),
            bound=float(bound),
            forced=forced,
        )


def _balance(ways: Ways, *, columns: int) -> csr_array:
    """Returns a row for every hub: as many arcs leave it as enter it."""
    tail, head = np.divmod(np.arange(ways.hubs**2), ways.hubs)
    arcs = np.flatnonzero(tail != head)
    values = np.repeat([1.0, -1.0], len(arcs))
    places = np.concatenate([tail[arcs], head[arcs]]), np.tile(arcs, 2)
    return csr_array((values, places), shape=(ways.hubs, columns))
