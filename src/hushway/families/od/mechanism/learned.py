"""Tables that learn: cells and sums are measured, and the best estimate they allow is published.

1. Measure every cell, and public sums: trips by origin, by destination and by what the plan names.
2. Prior: denoise each family of sums, and fit cells to all of them by IPF (`fit.learning.prior`).
3. Empirical Bayes: how far counts stray from the prior, and from there the posterior of every count
   under the exact law of its noise (`fit.learning.empirical_bayes`).
4. Reconcile cells and measured sums, each as certain as it is (`fit.reconciliation`).
5. Round: whole counts whose sums stay where they are (`fit.rounding`).

Only the first step costs budget. With little of it the cells say nothing of their own; then steps 2
to 4 give what the sums imply, and `trips_in_known_cells` among the diagnostics says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from hushway.errors import PrivacyError
from hushway.families.od.fit.table import ODTable
from hushway.families.od.mechanism.measuring import (
    ODMechanism,
    TotalsMechanism,
    cells_query,
    measure_features,
    stated_totals,
)
from hushway.families.od.mechanism.options import Shares, TotalsOptions, exact_shares
from hushway.families.od.mechanism.people import LearnedPeople, caps_for, certified_people
from hushway.families.od.mechanism.setting import ODSetting, ODSpec, PlannedMechanism
from hushway.families.od.mechanism.shares import (
    given_shares,
    learned_shares,
    spends_of,
    uniform_shares,
    worth_measuring,
)
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.feature_structure import (
    EXPECTED_FALSE,
    LEARNED,
    MOST_LEARNED,
    check_learnable,
    is_learnable,
)
from hushway.families.od.public.features import (
    Feature,
    destinations_feature,
    origins_feature,
    refuse_idle,
    without_idle,
)
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import noise_for, threshold_for
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss
from hushway.release.mechanism import Measurements
from hushway.release.others import (
    OtherStep,
    answers_of,
    certified_others,
    learnt_words,
    stated_others,
)


class LearnedOptions(TotalsOptions):
    """Noise on cells and sums, and the best estimate that all of it allows: the default."""

    name: Literal["learned"] = Field(default="learned", description="The mechanism.")
    # Learning needs both ends of trips; a projection does not gain by them and takes much longer.
    measures_ends: ClassVar[bool] = True
    variant: None = Field(default=None, description="Not an option of this mechanism.")
    budget_shares: Shares | None = Field(
        default=None,
        description="Budget shares of the cells and of each published total, which add up to 1.",
    )

    @field_validator("budget_shares", mode="before")
    @classmethod
    def _split_is_exact(cls, value: Any) -> Any:
        return exact_shares(value) if isinstance(value, dict) else value

    @property
    def completes(self) -> bool:
        """Whether trips beyond the limit are estimated, and the limit can be chosen."""
        return True

    def shares_by_rule(
        self, features: Sequence[Feature], budget: Loss, bound: Bound
    ) -> tuple[Fraction, ...]:
        """Returns the shares that measured best for tables that learn."""
        return learned_shares(features, budget, bound)


@dataclass(frozen=True, kw_only=True, eq=False)
class Learned(TotalsMechanism):
    """Publishes the best estimate that noisy cells and noisy sums allow.

    Attributes:
        lazy: Whether only cells are looked at that stand out; a huge table has to be.
        others: Other steps of the series that the fit learns from.
    """

    lazy: bool = False
    others: tuple[OtherStep, ...] = ()
    name: str = LEARNED
    learns_errors: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.features:
            raise PrivacyError(
                "Nothing can be learnt without sums, and there are none.",
                advice='Use mechanism "laplace", or give more places or periods.',
            )
        if self.universe.size > MOST_LEARNED and not self.lazy:
            raise PrivacyError(
                f"A table of {self.universe.size:,} cells is too large to look at every one; the "
                f"most is {MOST_LEARNED:,}.",
                advice="Use the lazy form.",
            )

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters as plain values."""
        own = super().parameters | {"form": "lazy" if self.lazy else "dense"}
        return own | stated_others(self.others)

    @property
    def post_processing(self) -> tuple[str, ...]:
        """What `fit` does."""
        learnt = (
            "What to expect of every cell, and how far counts stray from it, was learnt from the "
            "noisy counts; the published table is the posterior mean of every count, brought "
            "together with all noisy sums."
        )
        whole = (
            "Counts are made whole so that every sum keeps its fitted value, up or down by less "
            "than 1 where that is possible."
        )
        rest = (whole, "A cell without a row is published as 0.")
        return learnt, *learnt_words(self.others), *rest

    def measure(self, curator: Curator, geography: ODCells) -> Measurements:
        """Measures every cell, then every feature.

        Privacy:
            Spends `spends`, one on each; a unit moves each by no more than the counter's bound.
        """
        if not self.lazy:
            return super().measure(curator, geography)
        check_learnable(self.features)
        *margins, last = self.spends
        query = cells_query(geography)
        law = noise_for(last, curator.bound(query))
        threshold = threshold_for(law, geography.size, EXPECTED_FALSE)
        cells = curator.counts_above(query, threshold, last)
        return (cells, *measure_features(curator, self.features, margins))

    def fit(self, measured: Measurements, geography: ODCells) -> ODTable:
        """Learns, reconciles and rounds."""
        from hushway.families.od.fit.learned import learned_table

        steps = answers_of(self.others, geography, self.features)
        return learned_table(geography, self.features, measured, steps=steps)

    def table_answers(self, measured: Measurements) -> tuple[tuple[Feature, ...], Measurements]:
        """Returns the published totals, and the noisy cells before those of each."""
        return self.features, measured


def with_ends(universe: ODCells, features: Sequence[Feature]) -> tuple[Feature, ...]:
    """Returns features with trips by origin and by destination, where these tell more."""
    ends = (origins_feature(universe), destinations_feature(universe))
    return without_idle((*features, *ends))


def od_learned(
    universe: ODCells,
    features: Sequence[Feature],
    *,
    budget: Loss,
    shares: Sequence[Fraction] | None = None,
    lazy: bool | None = None,
) -> Learned:
    """Returns a table that learns from some features and the cells.

    Args:
        features: The sums to measure; see `with_ends`.
        shares: The share of each feature and, last, of the cells; equal ones unless given. See
            `learned_shares` for those that measured best.
        lazy: Whether only cells are looked at that stand out; if the universe is large, unless
            given.
    """
    refuse_idle(features)
    parts = uniform_shares(features) if shares is None else shares
    lazily = universe.size > MOST_LEARNED if lazy is None else lazy
    if lazily:
        check_learnable(features)
    return Learned(
        universe=universe, features=tuple(features), spends=spends_of(budget, parts), lazy=lazily
    )


def _from_plan(setting: ODSetting) -> PlannedMechanism:
    options, privacy = setting.plan.mechanism, setting.plan.privacy
    assert isinstance(options, LearnedOptions)  # noqa: S101  the options of this mechanism
    features = setting.features
    if setting.cells.size > MOST_LEARNED and options.coarse_features is None:
        features = tuple(feature for feature in features if is_learnable(feature))
    budget, noise = setting.noise(options, features)
    if privacy.unit.has_many_records:
        cap = privacy.max_trips_per_cell
        given, lazy = options.budget_shares, setting.cells.size > MOST_LEARNED
        if lazy:
            check_learnable(features)
        people = LearnedPeople(
            universe=setting.cells,
            features=features,
            budget=budget,
            limit=privacy.trip_limit,
            caps=caps_for(budget) if cap == "auto" else (cap,),
            lazy=lazy,
            shares=None if given is None else given_shares(given, features),
        )
        return PlannedMechanism(mechanism=people, noise=noise)
    if options.coarse_features is None and options.budget_shares is None:
        features = worth_measuring(features, budget, setting.bound)
    shares = options.shares(features, budget, setting.bound)
    mechanism = od_learned(setting.cells, features, budget=budget, shares=shares)
    return PlannedMechanism(mechanism=mechanism, noise=noise)


def _from_certificate(
    parameters: Mapping[str, Any], cells: ODCells, features: tuple[Feature, ...]
) -> ODMechanism:
    if "people_by_trips" in parameters:
        return certified_people(parameters, cells, features)
    return Learned(
        **stated_totals(parameters, cells, features),
        lazy=parameters["form"] == "lazy",
        others=certified_others(parameters),
    )


LEARNED_TABLE = ODSpec(
    name=LEARNED, options=LearnedOptions, from_plan=_from_plan, from_certificate=_from_certificate
)
