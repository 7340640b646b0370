"""The closest table that is non-negative and adds up, to everything that was measured.

Minimises half the squared distance to the noisy cells plus, for every margin, half its weight times
the squared distance to its noisy counts, over non-negative cells. The result comes with a bound on
its distance from the exact minimum, or not at all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import ReleaseError
from hushway.families.od.fit.optimality import fitted, rounding_of
from hushway.families.od.fit.problem import CellSource, Margin
from hushway.families.od.fit.rounds import look
from hushway.families.od.fit.system import system_of


@dataclass(frozen=True, kw_only=True)
class Optimality:
    """How close a projection is to the exact one.

    Attributes:
        bound: Euclidean distance over all cells from the exact minimum is at most this.
        relative: The bound as a share of the fitted total, or of 1 if that is less.
        active_set_proven: Whether exactly these cells are positive in the exact minimum.
        newton_steps: Newton steps taken.
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
        values: Their fitted values.
        groups: The group of each.
        group_totals: The fitted total of every group.
        margin_totals: The fitted totals of every margin's elements.
        shifts: What was taken off every cell of a group before negative ones were set to 0.
        optimality: How close this is to the exact minimum.
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
    progress: Callable[[str], None] | None = None,
) -> Projection:
    """Returns the closest non-negative table.

    Args:
        cells: The noisy cells.
        margins: The noisy counts of coarser partitions.
        tolerance: The largest distance from the exact minimum, relative to the fitted total.
        progress: Told, in a sentence, what each round found.

    Privacy:
        Everything here is computed from noisy values: post-processing, which costs nothing.

    Raises:
        ReleaseError: The tolerance could not be reached, or the input does not fit together.
    """
    system = system_of(margins, len(cells.sizes))
    looked = look(cells, system, tolerance, progress)
    places, values = fitted(looked.ordered, looked.certified)
    bound = looked.certified.bound + rounding_of(values)
    optimality = Optimality(
        bound=bound,
        relative=bound / max(1.0, float(values.sum())),
        active_set_proven=looked.certified.bound < looked.gap,
        newton_steps=looked.steps,
        rounds=looked.rounds,
    )
    _refuse_if_far(optimality, tolerance)
    shown = looked.shown.cells[places]
    order = np.argsort(shown)
    each = looked.certified.counts.astype(np.int64)
    totals = np.zeros(system.groups)
    totals[looked.present] = looked.certified.totals
    return Projection(
        cells=shown[order],
        values=values[order],
        groups=np.repeat(looked.present, each)[order],
        group_totals=totals,
        margin_totals=tuple(looked.certified.element_totals[place] for place in system.places),
        shifts=looked.shifts,
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
