"""Rounds of a fit: look at some cells, fit them, and look at more if hidden ones might matter."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import ReleaseError
from hushway.families.od.fit.directions import directions_of
from hushway.families.od.fit.optimality import Certified
from hushway.families.od.fit.optimum import approach, solve
from hushway.families.od.fit.ordered import OrderedCells, in_order
from hushway.families.od.fit.problem import CellSource, GroupedCells
from hushway.families.od.fit.shifts import exact_shifts
from hushway.families.od.fit.system import System
from hushway.families.od.fit.thresholds import begin, lowered

_MOST_ROUNDS = 40
# Close enough, as a share of the fitted total, to see that more cells are needed.
_ROUGH = 1e-3


@dataclass(frozen=True, kw_only=True, eq=False)
class Looked:
    """What a fit looked at, and what it found.

    Attributes:
        shown: The cells that were looked at.
        present: The groups that took part.
        ordered: Their cells.
        certified: The fit.
        shifts: The shift of every group.
        gap: Distance between a shift and the nearest value, seen or hidden.
        steps: Newton steps taken in all rounds.
        rounds: Number of rounds.
    """

    shown: GroupedCells
    present: IntArray
    ordered: OrderedCells
    certified: Certified
    shifts: FloatArray
    gap: float
    steps: int
    rounds: int


def look(
    cells: CellSource,
    system: System,
    tolerance: float,
    progress: Callable[[str], None] | None,
) -> Looked:
    """Fits cells, for as many rounds as it takes until nothing hidden can matter.

    Raises:
        ReleaseError: There was no end to it.
    """
    whole = directions_of(system)
    beginning = begin(cells, system, whole)
    thresholds, multipliers = beginning.thresholds, beginning.multipliers
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
            directions = directions_of(part)
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
            shifts = exact_shifts(system, solved.certified.multipliers)
            short = _short(hidden, shifts, thresholds)
        if progress is not None:
            progress(f"Round {tries + 1}: {len(shown.cells):,} cells seen, {steps} Newton steps.")
        if not len(short):
            return Looked(
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
        thresholds = lowered(thresholds, shifts, short, beginning.scale, tries)
    raise ReleaseError(
        "The fit kept asking for more cells.",
        advice="Check that counts of margins and cells belong to the same table.",
    )


def _short(hidden: IntArray, shifts: FloatArray, thresholds: IntArray) -> IntArray:
    """Returns the groups where a hidden cell might be active."""
    low = shifts[hidden] < thresholds[hidden] - 1
    return hidden[low]
