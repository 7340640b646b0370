"""The hierarchical baseline: noise on every node of a tree, and sums made consistent.

Hay, Rastogi, Miklau and Suciu (2010) with the budget of Cormode et al. (2012), as the CBDP paper
compares itself with: H3, H4 and H5 are trees of that many levels over total, period, zone pair,
mode and cells.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hushway.arrays import IntArray
from hushway.families.od.fit.table import MarginTable, ODTable
from hushway.families.od.fit.tree import TreeLevel, infer_tree
from hushway.families.od.mechanism.measuring import (
    cells_query,
    check_measurable,
    feature_query,
    measure_features,
    planned_questions,
)
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.families.od.public.groups import groups_of
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import noise_for
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss
from hushway.privacy.measured import Measured
from hushway.release.mechanism import FixedQuestions, Forecast, Measurements, Question


@dataclass(frozen=True, kw_only=True, eq=False)
class Hierarchical(FixedQuestions[ODCells]):
    """Publishes the leaves of a consistent noisy tree, none of them negative.

    Attributes:
        universe: The public cells.
        features: The levels above the cells, from the root down; each refines the one before it.
        spends: What each level costs, from the root down, the cells last.
        prune: Whether a node at or below 0 is emptied with everything under it.
        prune_early: Whether that is done, too, before the tree is made consistent.
    """

    universe: ODCells
    features: tuple[Feature, ...]
    spends: tuple[Loss, ...]
    prune: bool = True
    prune_early: bool = False
    name: str = "hierarchical"

    def __post_init__(self) -> None:
        check_measurable(self.universe, self.features, self.spends)

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters as plain values."""
        return {
            "form": "dense",
            "noise": self.spends[0].measure.noise,
            "published_totals": [
                {"title": f.title, "elements": f.size, "digest": f.digest} for f in self.features
            ],
            "spends": [str(spend.amount) for spend in self.spends],
            "prune": self.prune,
            "prune_early": self.prune_early,
        }

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The price, in the order of measuring: the cells, then the features."""
        *margins, last = self.spends
        return (last, *margins)

    @property
    def post_processing(self) -> tuple[str, ...]:
        """What `fit` does."""
        early = ("Before they add up, a node averaged at or below 0 is cut off with its cells.",)
        pruned = ("A node measured at or below 0 is emptied with all cells under it.",)
        return (
            "Levels are averaged by their variances and made to add up from the root down.",
            *(early if self.prune_early else ()),
            *(pruned if self.prune else ()),
            "Each cell is published as the nearest whole number that is not negative.",
            "A cell without a row is published as 0.",
        )

    def questions(self, geography: ODCells) -> tuple[Question, ...]:
        """What is asked, the cells first."""
        return planned_questions(geography, self.features, self.spends)

    def forecast(self, geography: ODCells, bound: Bound) -> tuple[Forecast, ...]:
        """Returns the noise of each level; negative cells become 0, which the bias accounts for."""
        *margins, last = self.spends
        deviation = math.sqrt(noise_for(last, bound).variance)
        # A cell's noise is nearly symmetric: its positive part has this mean, if it is Laplace.
        phantom = deviation / math.sqrt(8)
        return (
            Forecast(figure="one cell", standard_error=deviation, bias=phantom),
            *(
                Forecast(
                    figure="all trips" if feature.size == 1 else f"one of {feature.title}",
                    standard_error=math.sqrt(
                        noise_for(spend, feature_query(feature).bound(bound)).variance
                    ),
                    bias=phantom * geography.size / feature.size,
                )
                for feature, spend in zip(self.features, margins, strict=True)
            ),
        )

    def measure(self, curator: Curator, geography: ODCells) -> Measurements:
        """Measures every level of the tree.

        Privacy:
            Spends `spends`, one on each level; a record lies in one node of each.
        """
        check_measurable(geography, self.features, self.spends)
        *margins, last = self.spends
        cells = curator.counts(cells_query(geography), last)
        return (*measure_features(curator, self.features, margins), cells)

    def fit(self, measured: Measurements, geography: ODCells) -> ODTable:
        """Makes the tree consistent and publishes its leaves."""
        levels = [answer for answer in measured if isinstance(answer, Measured)]
        *nodes, leaves = infer_tree(
            [
                TreeLevel(values=level.values, variance=float(level.variance), parent=parent)
                for level, parent in zip(levels, self._parents, strict=True)
            ],
            prune=self.prune,
            prune_early=self.prune_early,
        )
        counts = np.rint(leaves).astype(np.int64)
        cells = np.flatnonzero(counts > 0)
        return ODTable(
            universe=geography,
            cells=cells,
            counts=counts[cells],
            standard_errors=np.full(len(cells), math.sqrt(levels[-1].variance)),
            threshold=None,
            zeros_left_out=True,
            margins=tuple(
                MarginTable(
                    feature=feature,
                    measured=level.values,
                    standard_error=math.sqrt(level.variance),
                    fitted=fitted,
                )
                for feature, level, fitted in zip(self.features, levels, nodes, strict=False)
            ),
        )

    @cached_property
    def _parents(self) -> list[IntArray]:
        """The node above each node, level by level from the root down."""
        parents: list[IntArray] = [np.empty(0, dtype=np.int64)]
        for above, below in zip(self.features, self.features[1:], strict=False):
            groups = groups_of(self.universe, [below])
            parent = np.zeros(below.size, dtype=np.int64)
            parent[groups.element_of(below)] = groups.element_of(above)
            parents.append(parent)
        every = np.arange(self.universe.size, dtype=np.int64)
        return [*parents, self.features[-1].of(every)]
