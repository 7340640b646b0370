"""The mechanisms of links. A new one is one more value; what it computes with is imported late.

Plans are read before anything large is loaded, and they read this file.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, model_validator

from hushway.release.catalogue import Catalogue, MechanismSpec
from hushway.release.mechanism import budget_for
from hushway.release.plans.sections import Section
from hushway.release.plans.values import Share
from hushway.release.terms import stated_loss

if TYPE_CHECKING:
    from hushway.families.links.mechanism.counts import LinkCounts, Preparation
    from hushway.families.links.mechanism.people import LinkPeople
    from hushway.families.links.plan import LinksPlan
    from hushway.families.links.public.universe import MovementLimits
    from hushway.privacy.loss import Loss


@dataclass(frozen=True, kw_only=True)
class LinksSetting:
    """What a mechanism is made from."""

    plan: "LinksPlan"
    limits: "MovementLimits"


def limits_of(max_items: int | Literal["auto"], **others: Any) -> "MovementLimits":
    """Returns how much of one person counts, for a limit of a plan or of a certificate."""
    from hushway.families.links.mechanism.people import USUAL_ITEMS
    from hushway.families.links.public.universe import CHOICES, MovementLimits

    if max_items == "auto":
        return MovementLimits(max_items=USUAL_ITEMS, choices=CHOICES, **others)
    return MovementLimits(max_items=max_items, **others)


class LinksOptions(Section):
    """The table [mechanism] of a plan for links."""

    name: str

    @property
    def limits(self) -> dict[str, Any]:
        """How much of one person counts, besides the items that the plan allows."""
        return {}

    def disagreements(self, plan: "LinksPlan") -> Iterator[str]:
        """Yields what does not agree with the rest of a plan."""
        del plan
        yield from ()


class LinkCountsOptions(LinksOptions):
    """Noise on every link, and a fit that knows roads."""

    name: Literal["link_counts"] = Field(default="link_counts", description="The mechanism.")
    noise: Literal["auto", "laplace", "gaussian"] = Field(
        default="auto",
        description="Which noise is drawn; auto is whichever is smaller, gaussian needs "
        "privacy.delta.",
    )
    classes: Share = Field(
        default=Fraction(1, 10), description="The budget share of totals by class and zone."
    )
    left_out: Share = Field(
        default=Fraction(3, 20),
        description="The budget share to find out what the contribution limit leaves out, and put "
        "it back; none is spent if a chosen limit leaves out hardly anything.",
    )
    speeds: Share = Field(
        default=Fraction(0),
        description="The budget share of mean speeds; none are published for 0.",
    )
    speed_steps: int = Field(
        default=6,
        ge=1,
        le=100,
        description="A speed counts by steps of 5 km/h from the usual one, at most so many.",
    )
    publish_above_se: float = Field(
        default=2.0,
        ge=0,
        allow_inf_nan=False,
        description="A link is published from so many standard errors on, unless it may be noise "
        "alone.",
    )
    shrink_to_class: bool = Field(
        default=True, description="Whether links are drawn towards others of their class and zone."
    )
    conserve: bool = Field(
        default=True,
        description="Whether what comes into a node is made to leave it, but for ends of trips.",
    )

    @model_validator(mode="after")
    def _something_is_left(self) -> "LinkCountsOptions":
        if self.classes + self.left_out + self.speeds >= 1:
            raise ValueError(
                "classes, left_out and speeds leave nothing of the budget for the links"
            )
        return self

    @property
    def limits(self) -> dict[str, Any]:
        """How much of one person counts, besides the items that the plan allows."""
        return {"speed_steps": self.speed_steps, "left_out": self.left_out > 0}

    def disagreements(self, plan: "LinksPlan") -> Iterator[str]:
        """Yields what does not agree with the rest of a plan."""
        if self.noise == "gaussian" and plan.privacy.delta is None:
            yield 'privacy.delta: is missing; mechanism.noise = "gaussian" needs it'
        if plan.privacy.max_items == "auto" and not self.left_out:
            yield 'mechanism.left_out: must be above 0 with privacy.max_items = "auto"'


def _planned_counts(setting: LinksSetting) -> "LinkCounts | LinkPeople":
    from hushway.families.links.mechanism.counts import link_counts
    from hushway.families.links.mechanism.people import LinkPeople

    options = setting.plan.mechanism
    assert isinstance(options, LinkCountsOptions)  # noqa: S101  the options of this mechanism
    planned = link_counts(
        setting.limits,
        budget=_budget(options, setting),
        classes=options.classes,
        left_out=options.left_out,
        speeds=options.speeds,
        publish_above_se=options.publish_above_se,
        shrink_to_class=options.shrink_to_class,
        conserve=options.conserve,
        preparation=_preparation(setting.plan),
    )
    return LinkPeople(planned=planned) if setting.limits.choices else planned


def _budget(options: LinkCountsOptions, setting: LinksSetting) -> "Loss":
    from hushway.families.links.mechanism.counts import smaller_noise

    privacy = setting.plan.privacy
    if options.noise == "auto":
        return smaller_noise(privacy.epsilon, privacy.delta, setting.limits)
    return budget_for(privacy.epsilon, privacy.delta, options.noise)


def _preparation(plan: "LinksPlan") -> "Preparation":
    from hushway.families.links.mechanism.counts import NoisyEnds, Preparation

    # Not model_dump, which would write fractions out as text.
    ends = None if plan.ends is None else NoisyEnds(**dict(plan.ends))
    return Preparation(gap_s=plan.trips.gap_s, most_speed=plan.trips.most_speed, ends=ends)


def _stated_counts(parameters: Mapping[str, Any]) -> "LinkCounts | LinkPeople":
    from hushway.families.links.mechanism.people import LinkPeople
    from hushway.families.links.public.universe import ITEM_LADDER

    if parameters["max_items"] != "auto":
        return _stated_link_counts(parameters)
    people = parameters["people_by_items"]
    if len(people) != len(ITEM_LADDER) or any(type(number) is not int for number in people):
        raise TypeError
    return LinkPeople(planned=_stated_link_counts(parameters), people=tuple(people))


def _stated_link_counts(parameters: Mapping[str, Any]) -> "LinkCounts":
    from hushway.families.links.mechanism.counts import LinkCounts, Spends
    from hushway.release.others import certified_others

    links = stated_loss(parameters, "links")
    if links is None:
        raise ValueError
    left_out = stated_loss(parameters, "left_out") is not None
    return LinkCounts(
        limits=limits_of(
            parameters["max_items"], speed_steps=parameters["speed_steps"], left_out=left_out
        ),
        spends=Spends(
            links=links,
            classes=stated_loss(parameters, "classes"),
            left_out=stated_loss(parameters, "left_out"),
            left_out_sums=stated_loss(parameters, "left_out_sums"),
            speeds=stated_loss(parameters, "speeds"),
        ),
        publish_above_se=parameters["publish_above_se"],
        shrink_to_class=parameters["shrink_to_class"],
        conserve=parameters["conserve"],
        preparation=_stated_preparation(parameters["trips"]),
        others=certified_others(parameters),
    )


def _stated_preparation(trips: Mapping[str, Any]) -> "Preparation":
    from hushway.families.links.mechanism.counts import NoisyEnds, Preparation
    from hushway.privacy.loss import exact

    ends = trips["ends"]
    return Preparation(
        gap_s=trips["gap_s"],
        most_speed=trips["most_speed"],
        ends=None if ends is None else NoisyEnds(**{**ends, "epsilon": exact(ends["epsilon"])}),
    )


LinksSpec = MechanismSpec[LinksSetting, Any]

LINK_COUNTS = LinksSpec(
    name="link_counts",
    options=LinkCountsOptions,
    from_plan=_planned_counts,
    from_certificate=_stated_counts,
)
MECHANISMS = Catalogue(LINK_COUNTS, default=LINK_COUNTS.name)
