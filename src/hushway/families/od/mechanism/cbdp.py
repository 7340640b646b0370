"""Constraint-based differential privacy: features measured beside the cells, and made to agree.

Fioretto, Lee and Van Hentenryck (AAMAS 2018). Noise goes on the cells and on public sums of them;
the table published is the non-negative one closest to everything that was measured, so all sums add
up and the many empty cells do not inflate them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import Field, model_validator

from hushway.arrays import IntArray
from hushway.families.od.fit.table import ODTable
from hushway.families.od.fit.weights import Weights
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
from hushway.families.od.mechanism.shares import (
    important_shares,
    named_importance,
    recommended_weights,
    spends_of,
    uniform_shares,
)
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.feature_structure import Groups, groups_of, nested, refines
from hushway.families.od.public.features import Feature, refuse_idle
from hushway.privacy.bound import Bound
from hushway.privacy.curator import MOST_DENSE_CELLS, Curator
from hushway.privacy.loss import Loss
from hushway.release.mechanism import Measurements

if TYPE_CHECKING:
    from hushway.families.od.plan import ODPlan

# Beyond this the noise alone would take gigabytes; the lazy form has the same law.
_MOST_DENSE: Final = MOST_DENSE_CELLS // 8
# From so many cells on, and with fewer than so many in a group, crossing features are joined: below
# about 250,000 cells the projection is as fast, and large groups make it many times faster.
_LARGE: Final = 1 << 18
_SMALL: Final = 8


class CBDPOptions(TotalsOptions):
    """Noise on cells and features, and the closest table that adds up."""

    name: Literal["cbdp"] = Field(description="The mechanism.")
    variant: Literal["O3", "O4", "O5"] | None = Field(
        default=None, description="Short for a list of published totals, as in the paper."
    )
    weights: Literal["size", "uniform", "inverse_variance", "size_over_variance"] | None = Field(
        default=None, description="How published totals weigh in the fit."
    )
    structure: Literal["flat", "hierarchical"] = Field(
        default="flat", description="Whether each published total is crossed with those before it."
    )
    budget_shares: (
        Annotated[Literal["uniform", "optimised"] | Shares, rule_or_shares("uniform", "optimised")]
        | None
    ) = Field(default=None, description="Budget shares, by rule or as a table that adds up to 1.")
    importance: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] | None = Field(
        default=None,
        description="What a squared error of the cells and of each published total weighs with "
        "you.",
    )
    rounding: Literal["controlled", "plain"] = Field(
        default="controlled",
        description="Whether published totals stay within 1 of the fit, or each cell goes to the "
        "nearest number.",
    )
    form: Literal["auto", "dense", "lazy"] = Field(
        default="auto",
        description="Whether every cell gets its noise, or empty cells are drawn as needed; the "
        "result is the same.",
    )

    @model_validator(mode="after")
    def _importance_needs_a_split(self) -> "CBDPOptions":
        if self.importance is not None and self.budget_shares not in (None, "optimised"):
            raise ValueError(
                'importance decides on the budget shares, which must then be "optimised"'
            )
        return self

    def shares_by_rule(
        self, features: Sequence[Feature], budget: Loss, bound: Bound
    ) -> tuple[Fraction, ...]:
        """Returns equal shares, those that suit what the plan finds important, or recommended."""
        if self.budget_shares == "uniform":
            return uniform_shares(features)
        if self.importance is not None:
            return important_shares(named_importance(self.importance, features), budget.measure)
        return super().shares_by_rule(features, budget, bound)

    def disagreements(self, plan: "ODPlan") -> Iterator[str]:
        """Yields what does not agree with the rest of a plan."""
        yield from super().disagreements(plan)
        yield from self.misnamed("importance")


@dataclass(frozen=True, kw_only=True, eq=False)
class CBDP(TotalsMechanism):
    """Publishes the closest table that is non-negative and adds up.

    Attributes:
        controlled: Whether counts are made whole so that every sum stays within 1 of its fitted
            value; otherwise each cell goes to its nearest whole number.
        lazy: Whether empty cells are drawn only as far as the fit looks at them.
    """

    weights: Weights = Weights.SIZE
    controlled: bool = True
    lazy: bool = False
    name: str = "cbdp"

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters as plain values."""
        return super().parameters | {
            "form": "lazy" if self.lazy else "dense",
            "weights": str(self.weights),
            "rounding": "controlled" if self.controlled else "plain",
        }

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

    @cached_property
    def elements(self) -> list[IntArray]:
        """The element of each feature that every group lies in."""
        return [self.groups.element_of(feature) for feature in self.features]

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
        from hushway.families.od.fit.cbdp import closest_table

        return closest_table(self, measured, geography)


def od_cbdp(  # noqa: PLR0913  one argument for each option of a plan
    universe: ODCells,
    features: Sequence[Feature],
    *,
    budget: Loss,
    shares: Sequence[Fraction] | None = None,
    weights: Weights = Weights.SIZE,
    nest: bool = False,
    controlled: bool = True,
    lazy: bool | None = None,
) -> CBDP:
    """Returns constraint-based privacy over some features.

    Args:
        shares: The share of each feature and, last, of the cells; equal ones unless given.
        nest: Whether features are crossed into a hierarchy, as in the ablations O5(a) and O5(b).
        lazy: Whether empty cells are drawn only as far as needed; if the universe is large, unless
            given.
    """
    lazily = universe.size > _MOST_DENSE if lazy is None else lazy
    if not lazily:
        refuse_dense(universe)
    refuse_idle(features)
    chosen = nested(features) if nest else tuple(features)
    parts = uniform_shares(chosen) if shares is None else shares
    return CBDP(
        universe=universe,
        features=chosen,
        spends=spends_of(budget, parts),
        weights=weights,
        controlled=controlled,
        lazy=lazily,
    )


def _from_plan(setting: ODSetting) -> PlannedMechanism:
    options = setting.plan.mechanism
    assert isinstance(options, CBDPOptions)  # noqa: S101  the options of this mechanism
    budget, noise = setting.noise(options, setting.features)
    mechanism = od_cbdp(
        setting.cells,
        setting.features,
        budget=budget,
        shares=options.shares(setting.features, budget, setting.bound),
        weights=recommended_weights() if options.weights is None else Weights(options.weights),
        nest=options.structure == "hierarchical",
        controlled=options.rounding == "controlled",
        lazy=None if options.form == "auto" else options.form == "lazy",
    )
    return PlannedMechanism(mechanism=mechanism, noise=noise)


def _from_certificate(
    parameters: Mapping[str, Any], cells: ODCells, features: tuple[Feature, ...]
) -> CBDP:
    return CBDP(
        **stated_totals(parameters, cells, features),
        weights=Weights(parameters["weights"]),
        controlled=parameters["rounding"] == "controlled",
        lazy=parameters["form"] == "lazy",
    )


CONSTRAINT_BASED = ODSpec(
    name="cbdp", options=CBDPOptions, from_plan=_from_plan, from_certificate=_from_certificate
)
