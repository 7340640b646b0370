"""The hierarchical baseline: noise on every node of a tree, and sums made consistent.

Hay, Rastogi, Miklau and Suciu (2010) with the budget of Cormode et al. (2012), as the CBDP paper
compares itself with: H3, H4 and H5 are trees of that many levels over total, period, zone pair,
mode and cells.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from hushway.arrays import IntArray
from hushway.families.od.fit.table import ODTable, margin_tables
from hushway.families.od.mechanism.laplace import refuse_dense
from hushway.families.od.mechanism.measuring import (
    TotalsMechanism,
    cells_query,
    check_measurable,
    measure_features,
    stated_totals,
)
from hushway.families.od.mechanism.options import Shares, TotalsOptions, rule_or_shares
from hushway.families.od.mechanism.setting import ODSetting, ODSpec, PlannedMechanism
from hushway.families.od.mechanism.shares import geometric_shares, spends_of, uniform_shares
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.feature_structure import groups_of, nested
from hushway.families.od.public.features import Feature, refuse_idle
from hushway.privacy.bound import Bound
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss
from hushway.privacy.measured import Measured
from hushway.release.mechanism import Forecast, Measurements


class HierarchicalOptions(TotalsOptions):
    """Noise on every node of a tree of features, and sums made consistent."""

    name: Literal["hierarchical"] = Field(description="The mechanism.")
    variant: Literal["H3", "H4", "H5"] | None = Field(
        default=None, description="Short for a list of published totals, as in the paper."
    )
    budget_shares: (
        Annotated[
            Literal["uniform", "optimised", "geometric"] | Shares,
            rule_or_shares("uniform", "optimised", "geometric"),
        ]
        | None
    ) = Field(default=None, description="Budget shares, by rule or as a table that adds up to 1.")
    prune: bool = Field(
        default=True,
        description="Whether a node at or below 0 is emptied with everything under it.",
    )

    def shares_by_rule(
        self, features: Sequence[Feature], budget: Loss, bound: Bound
    ) -> tuple[Fraction, ...]:
        """Returns geometric shares, unless the plan names another rule."""
        if self.budget_shares == "uniform":
            return uniform_shares(features)
        if self.budget_shares == "optimised":
            return super().shares_by_rule(features, budget, bound)
        return geometric_shares(len(features) + 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Hierarchical(TotalsMechanism):
    """Publishes the leaves of a consistent noisy tree, none of them negative.

    Its features are the levels above the cells, from the root down; each refines the one before it.

    Attributes:
        prune: Whether a node at or below 0 is emptied with everything under it.
        prune_early: Whether that is done, too, before the tree is made consistent.
    """

    prune: bool = True
    prune_early: bool = False
    name: str = "hierarchical"

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters as plain values."""
        return super().parameters | {"prune": self.prune, "prune_early": self.prune_early}

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

    def forecast(self, geography: ODCells, bound: Bound) -> tuple[Forecast, ...]:
        """Returns the noise of each level; negative cells become 0, which the bias accounts for."""
        cell, *sums = super().forecast(geography, bound)
        # A cell's noise is nearly symmetric: its positive part has this mean, if it is Laplace.
        phantom = cell.standard_error / math.sqrt(8)
        return (
            replace(cell, bias=phantom),
            *(
                replace(one, bias=phantom * geography.size / feature.size)
                for one, feature in zip(sums, self.features, strict=True)
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
        from hushway.families.od.fit.tree import TreeLevel, infer_tree

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
            margins=margin_tables(self.features, levels[:-1], nodes),
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


def od_hierarchical(
    universe: ODCells,
    features: Sequence[Feature],
    *,
    budget: Loss,
    shares: Sequence[Fraction] | None = None,
    prune: bool = True,
    prune_early: bool = False,
) -> Hierarchical:
    """Returns the hierarchical baseline over the tree of some features.

    Args:
        features: The features to branch by, from the root down.
        shares: The share of each level and, last, of the cells; geometric ones unless given.
    """
    refuse_dense(universe)
    refuse_idle(features)
    levels = nested(features)
    parts = geometric_shares(len(levels) + 1) if shares is None else shares
    return Hierarchical(
        universe=universe,
        features=levels,
        spends=spends_of(budget, parts),
        prune=prune,
        prune_early=prune_early,
    )


def _from_plan(setting: ODSetting) -> PlannedMechanism:
    options = setting.plan.mechanism
    assert isinstance(options, HierarchicalOptions)  # noqa: S101  the options of this mechanism
    budget, noise = setting.noise(options, setting.features)
    mechanism = od_hierarchical(
        setting.cells,
        setting.features,
        budget=budget,
        shares=options.shares(setting.features, budget, setting.bound),
        prune=options.prune,
    )
    return PlannedMechanism(mechanism=mechanism, noise=noise)


def _from_certificate(
    parameters: Mapping[str, Any], cells: ODCells, features: tuple[Feature, ...]
) -> Hierarchical:
    return Hierarchical(
        **stated_totals(parameters, cells, features),
        prune=parameters["prune"],
        prune_early=parameters["prune_early"],
    )


HIERARCHICAL = ODSpec(
    name="hierarchical",
    options=HierarchicalOptions,
    from_plan=_from_plan,
    from_certificate=_from_certificate,
)
