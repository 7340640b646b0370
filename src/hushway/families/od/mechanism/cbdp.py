"""Constraint-based differential privacy: features measured beside the cells, and made to agree.

Fioretto, Lee and Van Hentenryck (AAMAS 2018). Noise goes on the cells and on public sums of them;
the table published is the non-negative one closest to everything that was measured, so all sums add
up and the many empty cells do not inflate them.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import PrivacyError
from hushway.families.od.fit.dense import DenseCells, TailForecast, noise_forecast
from hushway.families.od.fit.problem import CellSource, GroupedCells, Margin
from hushway.families.od.fit.projection import Projection, project
from hushway.families.od.fit.rounding import RoundedTotals, round_cells, round_plainly, round_totals
from hushway.families.od.mechanism.measuring import (
    cells_query,
    check_measurable,
    measure_features,
    noise_forecasts,
    planned_questions,
)
from hushway.families.od.mechanism.shares import Weights, margin_weights
from hushway.families.od.mechanism.table import MarginTable, ODTable
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.families.od.public.groups import Groups, groups_of
from hushway.privacy.bound import Bound
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss
from hushway.privacy.measured import Measured, MeasuredSparse
from hushway.release.mechanism import FixedQuestions, Forecast, Measurements, Question

# Optimality is computed at every run; a fit that is further off than this is not published.
TOLERANCE = 1e-9


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
            "features": [
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
        projection = project(self._source(cells), self._margins(margins, float(cells.variance)))
        counts, rounded = self._whole(projection)
        kept = counts > 0
        return ODTable(
            universe=geography,
            cells=projection.cells[kept],
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
                    self.features, margins, projection.margin_totals, strict=True
                )
            ),
            diagnostics=_diagnostics(projection, rounded),
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

    def _margins(self, measured: list[Measured], cell_variance: float) -> list[Margin]:
        variances = [float(answer.variance) for answer in measured]
        weights = margin_weights(self.weights, self.features, [*variances, cell_variance])
        return [
            Margin(element=element, counts=answer.values, weight=weight)
            for element, answer, weight in zip(self._elements, measured, weights, strict=True)
        ]

    @cached_property
    def _elements(self) -> list[IntArray]:
        return [self.groups.element_of(feature) for feature in self.features]

    def _whole(self, projection: Projection) -> tuple[IntArray, RoundedTotals | None]:
        if not self.controlled:
            return round_plainly(projection.values), None
        rounded = round_totals(projection.group_totals, self._elements)
        return round_cells(projection.values, projection.groups, rounded.totals), rounded


def _diagnostics(projection: Projection, rounded: RoundedTotals | None) -> dict[str, Any]:
    found = projection.optimality
    facts: dict[str, Any] = {
        "distance_to_optimum_at_most": found.bound,
        "relative_to_total": found.relative,
        "active_set_proven": found.active_set_proven,
        "newton_steps": found.newton_steps,
        "rounds": found.rounds,
    }
    if rounded is not None:
        facts["every_sum_rounded_up_or_down"] = rounded.exact
    return facts


@dataclass(frozen=True, kw_only=True, eq=False)
class LazyCells:
    """A sparse measurement seen group by group. A `hushway.families.od.fit.problem.CellSource`.

    Privacy:
        Looking is post-processing: all cells were paid for when they were measured.

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
                advice="Measure and fit with the same features.",
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
