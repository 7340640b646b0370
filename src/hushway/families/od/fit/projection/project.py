"""The closest table that is non-negative and adds up, to everything that was measured.

Minimises half the squared distance to the noisy cells plus, for every margin, half its weight times
the squared distance to its noisy counts, over non-negative cells. The result comes with a bound on
its distance from the exact minimum, or not at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, Int32Array, IntArray
from hushway.errors import ReleaseError
from hushway.families.od.fit.projection.dense_cells import Foreseeable
from hushway.families.od.fit.projection.newton import approach, solve
from hushway.families.od.fit.projection.newton_direction import NewtonSolver, newton_solver
from hushway.families.od.fit.projection.optimality import (
    Certified,
    OrderedCells,
    fitted,
    in_order,
    rounding_of,
)
from hushway.families.od.fit.projection.problem import (
    CellSource,
    DualProblem,
    GroupedCells,
    Margin,
    dual_problem,
)
from hushway.numerics.compiled import compiled
from hushway.numerics.double_double import add
from hushway.progress import Progress


@dataclass(frozen=True, kw_only=True)
class Optimality:
    """How close a projection is to the exact one.

    Attributes:
        bound: Euclidean distance over all cells from the exact minimum is at most this.
        relative: The bound as a share of the fitted total, or of 1 if that is less.
        active_set_proven: Whether exactly these cells are positive in the exact minimum.
        rounds: How often cells were asked for.
    """

    bound: float
    relative: float
    active_set_proven: bool
    newton_steps: int
    rounds: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Projection:
    """The closest table.

    Attributes:
        cells: Numbers of the positive cells, ascending.
        group_totals: The fitted total of every group.
        margin_totals: The fitted totals of every margin's elements.
        shifts: What was taken off every cell of a group before negative ones were set to 0.
    """

    cells: IntArray
    values: FloatArray
    groups: IntArray
    group_totals: FloatArray
    margin_totals: tuple[FloatArray, ...]
    shifts: FloatArray
    optimality: Optimality


def project(
    cells: CellSource,
    margins: Sequence[Margin],
    *,
    tolerance: float = 1e-9,
    progress: Progress | None = None,
) -> Projection:
    """Returns the closest non-negative table; `progress` is told what each round found.

    Privacy:
        Everything here is computed from noisy values: post-processing, which costs nothing.

    Raises:
        ReleaseError: The tolerance, relative to the fitted total, could not be reached, or the
            input does not fit together.
    """
    system = dual_problem(margins, len(cells.sizes))
    lazy = fit_lazily(cells, system, tolerance, progress)
    places, values = fitted(lazy.ordered, lazy.certified)
    bound = lazy.certified.bound + rounding_of(values)
    optimality = Optimality(
        bound=bound,
        relative=bound / max(1.0, float(values.sum())),
        active_set_proven=lazy.certified.bound < lazy.gap,
        newton_steps=lazy.steps,
        rounds=lazy.rounds,
    )
    _refuse_if_far(optimality, tolerance)
    shown = lazy.shown.cells[places]
    order = np.argsort(shown)
    each = lazy.certified.counts.astype(np.int64)
    totals = np.zeros(system.groups)
    totals[lazy.present] = lazy.certified.totals
    return Projection(
        cells=shown[order],
        values=values[order],
        groups=np.repeat(lazy.present, each)[order],
        group_totals=totals,
        margin_totals=tuple(lazy.certified.element_totals[place] for place in system.places),
        shifts=lazy.shifts,
        optimality=optimality,
    )


def _refuse_if_far(optimality: Optimality, tolerance: float) -> None:
    # Written so that a bound that is not a number is refused too.
    if not optimality.relative <= tolerance:
        raise ReleaseError(
            f"The fit came within {optimality.relative:.1e} of the exact one, as a share of its "
            f"total; {tolerance:.1e} was asked for.",
            advice="Allow a larger tolerance, or bring the weights of margins closer together.",
        )


@compiled
def _shifts(elements: Int32Array, high: FloatArray, low: FloatArray) -> FloatArray:
    groups, margins = elements.shape
    shifts = np.empty(groups)
    for g in range(groups):
        total, rest = 0.0, 0.0
        for i in range(margins):
            e = elements[g, i]
            total, rest = add(total, rest, high[e], low[e])
        shifts[g] = total
    return shifts


# Which cells a fit asks to see: those that could be active, and a few more.
#
# A hidden cell is below its group's threshold, so it cannot be active if the shift is at least the
# threshold less 1: values are integers. A source may pay for every distinct threshold, so there are
# never many.

EVERYTHING = -(1 << 62)
"""A threshold that every cell reaches."""

_DISTINCT = 64
# Thresholds are this share below the shifts that are expected.
_SLACK = 0.2
# Lowered thresholds are this much of the noise below the shifts that were found, and not more than
# that below what they were: shifts are far too low while cells are missing.
_FURTHER = 0.5
_REACH = 3.0
# Forecasts are good enough once no shift moves by more than this share of the noise.
_STILL = 0.2
# A fit starts from a forecast this early: from below it finds the active cells in a few steps, from
# beside them in many.
_HEAD_START = 2


def starting_point(
    cells: CellSource, system: DualProblem, directions: NewtonSolver
) -> tuple[FloatArray, IntArray, float]:
    """Returns multipliers, thresholds and how far thresholds move at a time.

    Newton steps from 0 are full and not searched: a convex decreasing tail is undershot, so that
    estimated shifts are rather too low, which shows too many cells and not too few (Michelot 1986
    projects onto the simplex in this way).
    """
    multipliers = np.zeros(len(system.counts))
    shifts = np.zeros(system.groups)
    if not isinstance(cells, Foreseeable):
        return multipliers, np.ones(system.groups, dtype=np.int64), 1.0
    forecast = cells.forecast()
    start = multipliers
    for step in range(forecast.steps):
        tails = forecast.tails(shifts)
        residual = system.residual(multipliers, tails.excess)
        multipliers = multipliers + directions.solve(tails.counts, residual, _STILL)
        before, shifts = shifts, system.shifts(multipliers)
        if step < _HEAD_START:
            start = multipliers
        if np.max(np.abs(shifts - before), initial=0.0) <= _STILL * forecast.scale:
            break
    thresholds = few_distinct(_just_above(shifts - _SLACK * np.abs(shifts)))
    return start, thresholds, forecast.scale


def lowered(
    thresholds: IntArray, shifts: FloatArray, short: IntArray, scale: float, tries: int
) -> IntArray:
    """Returns lower thresholds for groups that hid too much; every try goes further."""
    old = thresholds[short]
    wanted = _just_above(shifts[short] - _FURTHER * scale)
    allowed = _just_above(old.astype(np.float64) - _REACH * scale * 2.0**tries)
    lower = thresholds.copy()
    lower[short] = np.minimum(np.maximum(wanted, allowed), old - 1)
    return np.minimum(few_distinct(lower), thresholds)


def few_distinct(thresholds: IntArray) -> IntArray:
    """Rounds thresholds down to a few levels: half of them evenly spaced, half quantiles."""
    real = thresholds[thresholds > EVERYTHING]
    if not len(real) or int(real.max()) - int(real.min()) < _DISTINCT - 1:
        return thresholds
    half = (_DISTINCT - 2) // 2
    ranks = np.linspace(0, len(real) - 1, half).astype(np.int64)
    even = np.linspace(real.min(), real.max(), half)
    levels = np.concatenate([np.partition(real, ranks)[ranks], np.floor(even).astype(np.int64)])
    # Rounding up in `linspace` must not leave anything below the lowest level.
    levels = np.unique(np.append(np.minimum(levels, real.max()), real.min()))
    rounded = thresholds.copy()
    rounded[thresholds > EVERYTHING] = levels[np.searchsorted(levels, real, side="right") - 1]
    return rounded


def _just_above(shifts: FloatArray) -> IntArray:
    """Returns the least integer above each shift; far below all values, everything."""
    within = shifts > EVERYTHING / 2
    return np.where(within, np.floor(np.where(within, shifts, 0.0)) + 1, float(EVERYTHING)).astype(
        np.int64
    )


_MOST_ROUNDS = 40
# Close enough, as a share of the fitted total, to see that more cells are needed.
_ROUGH = 1e-3


@dataclass(frozen=True, kw_only=True, eq=False)
class LazyFit:
    """What a fit looked at, and what it found; `gap` also counts cells that are hidden."""

    shown: GroupedCells
    present: IntArray
    ordered: OrderedCells
    certified: Certified
    shifts: FloatArray
    gap: float
    steps: int
    rounds: int


def fit_lazily(
    cells: CellSource, system: DualProblem, tolerance: float, progress: Progress | None
) -> LazyFit:
    """Fits cells, for as many rounds as it takes until nothing hidden can matter."""
    whole = newton_solver(system)
    multipliers, thresholds, scale = starting_point(cells, system, whole)
    steps = 0
    for tries in range(_MOST_ROUNDS):
        shown = cells.above(thresholds)
        seen = np.diff(shown.start)
        hidden = np.flatnonzero(seen < cells.sizes)
        present, part, directions = np.arange(system.groups), system, whole
        # Groups without a visible cell contribute nothing; leaving out a few would not pay.
        if 2 * np.count_nonzero(seen) < system.groups:
            present = np.flatnonzero(seen)
            part = system.only(present)
            directions = newton_solver(part)
        ordered = in_order(shown, present)
        rough = approach(part, directions, ordered, multipliers, close=_ROUGH)
        steps += rough.steps
        multipliers = rough.point.multipliers
        shifts = system.shifts(multipliers)
        # A descent that got lost says nothing about what is missing.
        short = _short(hidden, shifts, thresholds) if rough.settled else hidden[:0]
        if not len(short):
            solved = solve(part, directions, ordered, multipliers, tolerance=tolerance)
            steps += solved.steps
            multipliers = solved.certified.multipliers.high
            exact = solved.certified.multipliers
            shifts = _shifts(system.elements, exact.high, exact.low)
            short = _short(hidden, shifts, thresholds)
        if progress is not None:
            progress(f"Round {tries + 1}: {len(shown.cells):,} cells seen, {steps} Newton steps.")
        if not len(short):
            return LazyFit(
                shown=shown,
                present=present,
                ordered=ordered,
                certified=solved.certified,
                shifts=shifts,
                gap=min(
                    solved.certified.gap,
                    float(np.min((shifts - thresholds)[hidden] + 1, initial=np.inf)),
                ),
                steps=steps,
                rounds=tries + 1,
            )
        thresholds = lowered(thresholds, shifts, short, scale, tries)
    raise ReleaseError(
        "The fit kept asking for more cells.",
        advice="Check that counts of margins and cells belong to the same table.",
    )


def _short(hidden: IntArray, shifts: FloatArray, thresholds: IntArray) -> IntArray:
    """Returns the groups where a hidden cell might be active."""
    low = shifts[hidden] < thresholds[hidden] - 1
    return hidden[low]
