"""Constraint-based differential privacy: features measured beside the cells, and made to agree.

Fioretto, Lee and Van Hentenryck (AAMAS 2018). Noise goes on the cells and on public sums of them;
the table published is the non-negative one closest to everything that was measured, so all sums add
up and the many empty cells do not inflate them.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import PrivacyError
from hushway.families.od.fit.projection.dense import DenseCells, TailForecast, noise_forecast
from hushway.families.od.fit.projection.problem import CellSource, GroupedCells, Margin
from hushway.families.od.fit.projection.project import project
from hushway.families.od.fit.reconciling.crossing import (
    WeightedSums,
    project_crossing,
    relative_bound,
)
from hushway.families.od.fit.reconciling.joining import OutOfReachError
from hushway.families.od.fit.rounding.controlled import (
    RoundedTotals,
    round_cells,
    round_plainly,
    round_totals,
)
from hushway.families.od.fit.table import MarginTable, ODTable
from hushway.families.od.mechanism.measuring import (
    cells_query,
    check_measurable,
    measure_features,
    noise_forecasts,
    planned_questions,
)
from hushway.families.od.mechanism.partitions import partition_of
from hushway.families.od.mechanism.shares import Weights, margin_weights
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.families.od.public.groups import Groups, groups_of, refines
from hushway.privacy.bound import Bound
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss
from hushway.privacy.measured import Measured, MeasuredSparse
from hushway.release.mechanism import FixedQuestions, Forecast, Measurements, Question

# Optimality is computed at every run; a fit that is further off than this is not published.
TOLERANCE = 1e-9
# From so many cells on, and with fewer than so many in a group, crossing features are joined: below
# about 250,000 cells the projection is as fast, and large groups make it many times faster.
_LARGE: Final = 1 << 18
_SMALL: Final = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class CBDP(FixedQuestions[ODCells]):
    """Publishes the closest table that is non-negative and adds up.

    Attributes:
        universe: The public cells.
        features: The coarse features; the cells are always measured.
        spends: What each feature costs, in order, and what the cells cost, last.
        weights: How the features weigh in the fit.
        controlled: Whether counts are made whole so that every sum stays within 1 of its fitted
            value; otherwise each cell goes to its nearest whole number.
        lazy: Whether empty cells are drawn only as far as the fit looks at them.
    """

    universe: ODCells
    features: tuple[Feature, ...]
    spends: tuple[Loss, ...]
    weights: Weights = Weights.SIZE
    controlled: bool = True
    lazy: bool = False
    name: str = "cbdp"

    def __post_init__(self) -> None:
        check_measurable(self.universe, self.features, self.spends)

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters as plain values."""
        return {
            "form": "lazy" if self.lazy else "dense",
            "noise": self.spends[0].measure.noise,
            "published_totals": [
                {"title": f.title, "elements": f.size, "digest": f.digest} for f in self.features
            ],
            "spends": [str(spend.amount) for spend in self.spends],
            "weights": str(self.weights),
            "rounding": "controlled" if self.controlled else "plain",
        }

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The price, in the order of measuring: the cells, then the features."""
        *margins, last = self.spends
        return (last, *margins)

    @property
    def post_processing(self) -> tuple[str, ...]:
        """What `fit` does."""
        closest = (
            "The published table is the non-negative one closest to all noisy counts together, in "
            f"squared distance weighted by {self.weights.replace('_', ' ')}."
        )
        whole = (
            "Counts are made whole so that every sum keeps its fitted value, up or down by less "
            "than 1 where that is possible."
            if self.controlled
            else "Each fitted count is published as the nearest whole number."
        )
        return closest, whole, "A cell without a row is published as 0."

    @cached_property
    def groups(self) -> Groups:
        """The cells that no feature tells apart."""
        return groups_of(self.universe, self.features)

    @cached_property
    def crosses(self) -> bool:
        """Whether features cross so finely that groups of cells are of no use to the fit.

        Said of a large table whose groups have next to one cell each, because there are features of
        which neither refines the other. Decided from public facts alone.
        """
        large = self.universe.size >= _LARGE and self.groups.count * _SMALL > self.universe.size
        return large and any(
            not (refines(one, other) or refines(other, one))
            for one, other in combinations(self.features, 2)
        )

    def questions(self, geography: ODCells) -> tuple[Question, ...]:
        """What is asked, the cells first."""
        return planned_questions(geography, self.features, self.spends)

    def forecast(self, geography: ODCells, bound: Bound) -> tuple[Forecast, ...]:
        """Returns the noise of each measurement; the fit averages it out, and adds no bias."""
        return noise_forecasts(geography, self.features, self.spends, bound)

    def measure(self, curator: Curator, geography: ODCells) -> Measurements:
        """Measures every cell, then every feature.

        The cells come first, so that in studies mechanisms with other features but the same seed
        see the same noise, which makes comparisons sharper.

        Privacy:
            Spends `spends`, one on each; a unit moves each by no more than the counter's bound.
        """
        check_measurable(geography, self.features, self.spends)
        *margins, last = self.spends
        query = cells_query(geography)
        cells = (
            curator.counts_lazily(query, self.groups, last)
            if self.lazy
            else curator.counts(query, last)
        )
        return (*measure_features(curator, self.features, margins), cells)

    def fit(self, measured: Measurements, geography: ODCells) -> ODTable:
        """Finds the closest table that is non-negative and adds up, in whole numbers."""
        *answers, cells = measured
        margins = [answer for answer in answers if isinstance(answer, Measured)]
        variances = [float(answer.variance) for answer in (*margins, cells)]
        weights = margin_weights(self.weights, self.features, variances)
        closest = self._closest(cells, margins, weights)
        counts, rounded = self._whole(closest)
        kept = counts > 0
        return ODTable(
            universe=geography,
            cells=closest.cells[kept],
            counts=counts[kept],
            standard_errors=np.full(np.count_nonzero(kept), math.sqrt(cells.variance)),
            threshold=None,
            zeros_left_out=True,
            margins=tuple(
                MarginTable(
                    feature=feature,
                    measured=answer.values,
                    standard_error=math.sqrt(answer.variance),
                    fitted=fitted,
                )
                for feature, answer, fitted in zip(
                    self.features, margins, closest.margin_totals, strict=True
                )
            ),
            diagnostics=closest.diagnostics | _diagnostics(rounded),
        )

    def _closest(
        self, cells: Measured | MeasuredSparse, margins: list[Measured], weights: Sequence[float]
    ) -> "_Closest":
        """Finds the closest table by the way that suits the features."""
        if isinstance(cells, Measured) and self.crosses:
            # Where doubles do not reach the tolerance the projection does, in a minute or so.
            with suppress(OutOfReachError):
                return self._joined(cells, margins, weights)
        return self._projected(cells, margins, weights)

    def _projected(
        self, cells: Measured | MeasuredSparse, margins: list[Measured], weights: Sequence[float]
    ) -> "_Closest":
        projection = project(
            self._source(cells),
            [
                Margin(element=element, counts=answer.values, weight=weight)
                for element, answer, weight in zip(self._elements, margins, weights, strict=True)
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
        self, cells: Measured, margins: list[Measured], weights: Sequence[float]
    ) -> "_Closest":
        joined = project_crossing(
            cells.values.reshape(len(self.universe.periods), self.universe.pairs),
            [
                WeightedSums(partition=partition_of(feature), counts=answer.values, weight=weight)
                for feature, answer, weight in zip(self.features, margins, weights, strict=True)
            ],
            tolerance=TOLERANCE,
        )
        every = joined.values.ravel()
        positive = np.flatnonzero(every)
        groups = self.groups.of(positive)
        totals = np.bincount(groups, every[positive], self.groups.count)
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

    def _source(self, cells: Measured | MeasuredSparse) -> CellSource:
        groups = self.groups
        if isinstance(cells, MeasuredSparse):
            return LazyCells(measured=cells, groups=groups)
        return DenseCells(
            values=cells.values,
            pair_class=groups.pair_class,
            pair_classes=groups.pair_classes,
            period_class=groups.period_class,
            period_classes=groups.period_classes,
        )

    @cached_property
    def _elements(self) -> list[IntArray]:
        return [self.groups.element_of(feature) for feature in self.features]

    def _whole(self, closest: "_Closest") -> tuple[IntArray, RoundedTotals | None]:
        if not self.controlled:
            return round_plainly(closest.values), None
        rounded = round_totals(closest.group_totals, self._elements)
        return round_cells(closest.values, closest.groups, rounded.totals), rounded


@dataclass(frozen=True, kw_only=True, eq=False)
class _Closest:
    """The closest table, and how it was found.

    Attributes:
        cells: Numbers of the positive cells, ascending.
        values: Their fitted values.
        groups: The group of each.
        group_totals: The fitted total of every group.
        margin_totals: The fitted totals of every feature's elements.
        diagnostics: How close this is to the exact minimum.
    """

    cells: IntArray
    values: FloatArray
    groups: IntArray
    group_totals: FloatArray
    margin_totals: tuple[FloatArray, ...]
    diagnostics: dict[str, Any]


def _diagnostics(rounded: RoundedTotals | None) -> dict[str, Any]:
    return {} if rounded is None else {"every_sum_rounded_up_or_down": rounded.exact}


@dataclass(frozen=True, kw_only=True, eq=False)
class LazyCells:
    """A sparse measurement seen group by group. A `CellSource` of the projection.

    Privacy:
        Looking is post-processing: all cells were charged for when they were measured.

    Attributes:
        measured: The measurement.
        groups: The groups that the fit works with; those that were measured.
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
