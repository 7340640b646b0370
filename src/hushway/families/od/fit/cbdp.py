"""The closest non-negative table that adds up, in whole numbers: all post-processing."""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import PrivacyError
from hushway.families.od.fit.partitions import partition_of
from hushway.families.od.fit.projection.dense_cells import DenseCells, TailForecast, noise_forecast
from hushway.families.od.fit.projection.problem import CellSource, GroupedCells, Margin
from hushway.families.od.fit.projection.project import project
from hushway.families.od.fit.reconciliation.reconcile import (
    OutOfReachError,
    WeightedSums,
    project_crossing,
    relative_bound,
)
from hushway.families.od.fit.rounding.controlled import (
    RoundedTotals,
    round_cells,
    round_plainly,
    round_totals,
)
from hushway.families.od.fit.table import ODTable, margin_tables
from hushway.families.od.fit.weights import margin_weights
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.feature_structure import Groups
from hushway.privacy.measured import Measured, MeasuredSparse
from hushway.release.mechanism import Measurements

if TYPE_CHECKING:
    from hushway.families.od.mechanism.cbdp import CBDP

# Optimality is computed at every run; a fit that is further off than this is not published.
TOLERANCE = 1e-9


def closest_table(cbdp: "CBDP", measured: Measurements, geography: ODCells) -> ODTable:
    """Finds the closest table that is non-negative and adds up, in whole numbers."""
    *answers, cells = measured
    margins = [answer for answer in answers if isinstance(answer, Measured)]
    variances = [float(answer.variance) for answer in (*margins, cells)]
    weights = margin_weights(cbdp.weights, cbdp.features, variances)
    closest = _closest(cbdp, cells, margins, weights)
    counts, rounded = _whole(cbdp, closest)
    kept = counts > 0
    return ODTable(
        universe=geography,
        cells=closest.cells[kept],
        counts=counts[kept],
        standard_errors=np.full(np.count_nonzero(kept), math.sqrt(cells.variance)),
        threshold=None,
        zeros_left_out=True,
        margins=margin_tables(cbdp.features, margins, closest.margin_totals),
        diagnostics=closest.diagnostics
        | ({} if rounded is None else {"every_sum_rounded_up_or_down": rounded.exact}),
    )


def _closest(
    cbdp: "CBDP",
    cells: Measured | MeasuredSparse,
    margins: list[Measured],
    weights: Sequence[float],
) -> "_Closest":
    if isinstance(cells, Measured) and cbdp.crosses:
        # Where doubles do not reach the tolerance the projection does, in a minute or so.
        with suppress(OutOfReachError):
            return _joined(cbdp, cells, margins, weights)
    return _projected(cbdp, cells, margins, weights)


def _projected(
    cbdp: "CBDP",
    cells: Measured | MeasuredSparse,
    margins: list[Measured],
    weights: Sequence[float],
) -> "_Closest":
    projection = project(
        _source(cbdp, cells),
        [
            Margin(element=element, counts=answer.values, weight=weight)
            for element, answer, weight in zip(cbdp.elements, margins, weights, strict=True)
        ],
        tolerance=TOLERANCE,
    )
    found = projection.optimality
    return _Closest(
        cells=projection.cells,
        values=projection.values,
        groups=projection.groups,
        group_totals=projection.group_totals,
        margin_totals=projection.margin_totals,
        diagnostics={
            "distance_to_optimum_at_most": found.bound,
            "relative_to_total": found.relative,
            "active_set_proven": found.active_set_proven,
            "newton_steps": found.newton_steps,
            "rounds": found.rounds,
        },
    )


def _joined(
    cbdp: "CBDP", cells: Measured, margins: list[Measured], weights: Sequence[float]
) -> "_Closest":
    joined = project_crossing(
        cells.values.reshape(len(cbdp.universe.periods), cbdp.universe.pairs),
        [
            WeightedSums(partition=partition_of(feature), counts=answer.values, weight=weight)
            for feature, answer, weight in zip(cbdp.features, margins, weights, strict=True)
        ],
        tolerance=TOLERANCE,
    )
    every = joined.values.ravel()
    positive = np.flatnonzero(every)
    groups = cbdp.groups.of(positive)
    totals = np.bincount(groups, every[positive], cbdp.groups.count)
    return _Closest(
        cells=positive,
        values=every[positive],
        groups=groups,
        group_totals=np.asarray(totals, dtype=np.float64),
        margin_totals=joined.totals,
        diagnostics={
            "distance_to_optimum_at_most": joined.bound,
            "relative_to_total": relative_bound(joined),
            "newton_steps": joined.steps,
        },
    )


def _source(cbdp: "CBDP", cells: Measured | MeasuredSparse) -> CellSource:
    groups = cbdp.groups
    if isinstance(cells, MeasuredSparse):
        return LazyCells(measured=cells, groups=groups)
    return DenseCells(
        values=cells.values,
        pair_class=groups.pair_class,
        pair_classes=groups.pair_classes,
        period_class=groups.period_class,
        period_classes=groups.period_classes,
    )


def _whole(cbdp: "CBDP", closest: "_Closest") -> tuple[IntArray, RoundedTotals | None]:
    if not cbdp.controlled:
        return round_plainly(closest.values), None
    rounded = round_totals(closest.group_totals, cbdp.elements)
    return round_cells(closest.values, closest.groups, rounded.totals), rounded


@dataclass(frozen=True, kw_only=True, eq=False)
class _Closest:
    """The closest table (see `Projection`), and how close it is to the exact minimum."""

    cells: IntArray
    values: FloatArray
    groups: IntArray
    group_totals: FloatArray
    margin_totals: tuple[FloatArray, ...]
    diagnostics: dict[str, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class LazyCells:
    """A sparse measurement seen by the groups that were measured. A `CellSource` of the projection.

    Privacy:
        Looking is post-processing: all cells were charged for when they were measured.
    """

    measured: MeasuredSparse
    groups: Groups

    def __post_init__(self) -> None:
        measured = self.measured.groups
        if measured is None or not np.array_equal(measured.sizes, self.groups.sizes):
            raise PrivacyError(
                "The cells were not measured by the groups of this fit.",
                advice="Measure and fit with the same published totals.",
            )

    @property
    def sizes(self) -> IntArray:
        """Number of cells in each group."""
        return self.groups.sizes

    def forecast(self) -> TailForecast:
        """Returns where the noise of empty cells ends, so that the fit looks there first."""
        # Exact for Laplace noise, whose mean size is its deviation over the square root of 2.
        return noise_forecast(self.groups.sizes, math.sqrt(self.measured.variance / 2))

    def above(self, thresholds: IntArray) -> GroupedCells:
        """Returns every cell whose value is at or above its group's threshold.

        Largest values first within a group; of equal values, the smaller cell number first.

        Raises:
            PrivacyError: There is not one threshold for each group, or too many cells would show.
        """
        shown = self.measured.reveal_groups(thresholds)
        group = np.repeat(np.arange(self.groups.count), np.diff(shown.start))
        # The sort is stable, and the cells of a group are shown in ascending order.
        order = np.lexsort((-shown.values, group))
        return GroupedCells(start=shown.start, cells=shown.cells[order], values=shown.values[order])
