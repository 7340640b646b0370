"""The mechanisms of densities. A new one is one more value; what it computes with is imported late.

Plans are read before anything large is loaded, and they read this file.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, model_validator

from hushway.release.catalogue import Catalogue, MechanismSpec
from hushway.release.mechanism import budget_for
from hushway.release.plans.sections import Section
from hushway.release.plans.values import PositiveShare
from hushway.release.terms import stated_loss

if TYPE_CHECKING:
    from hushway.families.density.mechanism.people import DensityPeople
    from hushway.families.density.mechanism.recommended import Shares
    from hushway.families.density.mechanism.series import DensitySeries
    from hushway.families.density.plan import DensityPlan
    from hushway.families.density.public.visits import DensityUniverse, VisitLimits
    from hushway.privacy.loss import Loss


@dataclass(frozen=True, kw_only=True)
class DensitySetting:
    """What a mechanism is made from: a plan and what was read of its public files."""

    plan: "DensityPlan"
    universe: "DensityUniverse"

    @property
    def budget(self) -> "Loss":
        """What the release costs."""
        from hushway.families.density.mechanism.people import quieter_budget

        privacy, noise = self.plan.privacy, self.plan.mechanism.asked_noise
        if noise == "auto":
            return quieter_budget(privacy.epsilon, privacy.delta, privacy.visit_limit)
        return budget_for(privacy.epsilon, privacy.delta, noise)

    @property
    def limits(self) -> "VisitLimits":
        """How much of one person counts, where a plan says it."""
        from hushway.families.density.public.visits import VisitLimits
        from hushway.privacy.loss import ZCDPLoss

        privacy = self.plan.privacy
        # A plan that leaves one open is refused before, unless the mechanism chooses.
        return VisitLimits(
            max_visits=privacy.visit_limit or 1,
            max_visits_in_total=privacy.total_limit or 1,
            # Laplace noise gains nothing by it, and people who move would lose visits.
            one_in_a_bin=isinstance(self.budget, ZCDPLoss),
        )


class DensityOptions(Section):
    """The table [mechanism] of a plan for a density."""

    name: str

    @property
    def asked_noise(self) -> str:
        """Which noise is drawn."""
        return "laplace"

    @property
    def chooses_limits(self) -> bool:
        """Whether limits on visits can be left to it."""
        return False


class SharesOptions(Section):
    """The share of each question in the budget; the series gets what they leave."""

    histogram: PositiveShare | None = Field(
        default=None,
        description="The budget share of people by place, each shared among all visits.",
    )
    activity: PositiveShare | None = Field(
        default=None, description="The budget share of people by how busy they are."
    )
    total: PositiveShare | None = Field(
        default=None, description="The budget share of the number of all visits."
    )
    left_out: PositiveShare | None = Field(
        default=None,
        description="The budget share of visits that the series leaves out, by period of the day.",
    )
    clusters: PositiveShare | None = Field(
        default=None, description="The budget share of the totals that clusters are made by."
    )
    cuts: PositiveShare | None = Field(
        default=None,
        description="The budget share of how many cosines of each series to keep; for denoise = "
        '"cuts".',
    )


class SeriesOptions(DensityOptions):
    """Noisy series of clusters, cleaned and scaled."""

    name: Literal["series"] = Field(default="series", description="The mechanism.")
    noise: Literal["auto", "gaussian", "laplace"] = Field(
        default="auto",
        description="Which noise is drawn; auto is whichever is smaller for max_visits, and "
        "laplace if that is auto; gaussian needs privacy.delta.",
    )
    denoise: Literal["patterns", "sure", "cuts", "none"] = Field(
        default="patterns",
        description="How series are cleaned: by what they have in common, by their first cosines, "
        "or not at all.",
    )
    clustering: bool = Field(
        default=True, description="Whether small neighbours are merged before measuring."
    )
    cluster_error: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="Neighbours are merged until the noise of a series is at most this share of "
        "its total.",
    )
    scaling: bool = Field(
        default=True,
        description="Whether series are scaled to totals in which each person counts once, and to "
        "the number of all visits.",
    )
    night: bool = Field(
        default=False,
        description="Whether the night is replaced by exponential curves, as in the paper.",
    )
    budget_shares: SharesOptions = SharesOptions()

    @property
    def asked_noise(self) -> str:
        """Which noise is drawn; cuts are accounted in zCDP, so that auto is gaussian for them."""
        return "gaussian" if self.noise == "auto" and self.denoise == "cuts" else self.noise

    @property
    def chooses_limits(self) -> bool:
        """Whether limits on visits can be left to it."""
        given = any(share is not None for _, share in self.budget_shares)
        return self.scaling and not given

    @model_validator(mode="after")
    def _options_fit(self) -> "SeriesOptions":
        problems = list(_misfits(self))
        if problems:
            raise ValueError("; ".join(problems))
        return self


def _misfits(options: SeriesOptions) -> Iterator[str]:
    """Yields what options of a mechanism, each right by itself, do not agree on."""
    shares = options.budget_shares
    scaled = (shares.histogram, shares.activity, shares.total, shares.left_out)
    if options.denoise == "cuts" and options.noise == "laplace":
        yield 'denoise = "cuts" needs noise = "gaussian"'
    if shares.cuts is not None and options.denoise != "cuts":
        yield 'budget_shares.cuts belongs to denoise = "cuts"'
    if shares.clusters is not None and not options.clustering:
        yield "budget_shares.clusters belongs to clustering = true"
    if not options.scaling and any(given is not None for given in scaled):
        yield "budget_shares.histogram, .activity, .total and .left_out belong to scaling = true"
    if sum(share or 0 for _, share in shares) >= 1:
        yield "budget_shares sum to 1 or more and leave nothing for the series"


class LaplaceOptions(DensityOptions):
    """Noise on every count and nothing else, a baseline."""

    name: Literal["laplace"] = Field(description="The mechanism.")


def _planned_series(setting: DensitySetting) -> "DensitySeries | DensityPeople":
    from hushway.families.density.mechanism.series import density_series

    options, privacy = setting.plan.mechanism, setting.plan.privacy
    assert isinstance(options, SeriesOptions)  # noqa: S101  the options of this mechanism
    if privacy.visit_limit is None or privacy.total_limit is None:
        return _planned_people(options, setting)
    return density_series(
        setting.limits,
        budget=setting.budget,
        shares=_shares(options, setting),
        denoise=options.denoise,
        clustering=options.clustering,
        scaling=options.scaling,
        night=options.night,
        cluster_error=options.cluster_error,
    )


def _planned_people(options: SeriesOptions, setting: DensitySetting) -> "DensityPeople":
    from hushway.families.density.mechanism.people import DensityPeople

    return DensityPeople(
        budget=setting.budget,
        max_visits=setting.plan.privacy.visit_limit,
        max_visits_in_total=setting.plan.privacy.total_limit,
        denoise=options.denoise,
        clustering=options.clustering,
        night=options.night,
        cluster_error=options.cluster_error,
    )


def _shares(options: SeriesOptions, setting: DensitySetting) -> "Shares":
    """Returns the shares that the plan gives, and recommended ones where it gives none."""
    from hushway.families.density.mechanism.recommended import recommended_shares

    usual = recommended_shares(
        setting.limits,
        scaling=options.scaling,
        clustering=options.clustering,
        cuts=options.denoise == "cuts",
    )
    given = {name: share for name, share in options.budget_shares if share is not None}
    return replace(usual, **given)


def _planned_laplace(setting: DensitySetting) -> "DensitySeries":
    from hushway.families.density.mechanism.series import naive_laplace

    return naive_laplace(setting.limits, budget=setting.budget)


def _stated_series(parameters: Mapping[str, Any]) -> "DensitySeries | DensityPeople":
    from hushway.families.density.mechanism.people import certified_people
    from hushway.families.density.mechanism.recommended import Spends
    from hushway.families.density.mechanism.series import DensitySeries
    from hushway.families.density.public.visits import VisitLimits
    from hushway.privacy.loss import ZCDPLoss
    from hushway.release.others import certified_others

    if "people_by_visits" in parameters:
        return certified_people(parameters)
    series, cuts = stated_loss(parameters, "series"), stated_loss(parameters, "cuts")
    if series is None or not (cuts is None or isinstance(cuts, ZCDPLoss)):
        raise ValueError
    return DensitySeries(
        limits=VisitLimits(
            max_visits=parameters["max_visits"],
            max_visits_in_total=parameters["max_visits_in_total"],
            one_in_a_bin=parameters["one_in_a_period"],
        ),
        spends=Spends(
            series=series,
            histogram=stated_loss(parameters, "histogram"),
            activity=stated_loss(parameters, "activity"),
            total=stated_loss(parameters, "total"),
            left_out=stated_loss(parameters, "left_out"),
            clusters=stated_loss(parameters, "clusters"),
            cuts=cuts,
        ),
        denoise=parameters["denoise"],
        night=parameters["night"],
        cluster_error=parameters["cluster_error"],
        quanta=parameters["quanta"],
        others=certified_others(parameters),
    )


DensitySpec = MechanismSpec[DensitySetting, Any]

SERIES = DensitySpec(
    name="series", options=SeriesOptions, from_plan=_planned_series, from_certificate=_stated_series
)
# A series without any cleaning, which is what its certificate calls it.
LAPLACE = DensitySpec(
    name="laplace",
    options=LaplaceOptions,
    from_plan=_planned_laplace,
    from_certificate=_stated_series,
)
MECHANISMS = Catalogue(SERIES, LAPLACE, default=SERIES.name)
