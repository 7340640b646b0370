"""The options of OD mechanisms, and the published totals that some of them measure."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, Field, PlainValidator, model_validator

from hushway.families.od.mechanism.shares import given_shares, recommended_shares
from hushway.families.od.public.features import DESTINATIONS, ORIGINS, Feature
from hushway.privacy.bound import Bound
from hushway.privacy.loss import Loss
from hushway.release.plans.sections import Section
from hushway.release.plans.values import Text, Texts, exact_positive

if TYPE_CHECKING:
    from hushway.families.od.plan import ODPlan

TOTAL: Final = "total"
PERIOD: Final = "period"
ZONES: Final = "zones"
MODES: Final = "modes"
CELLS: Final = "cells"

# What needs no column, so that no table of a plan can define it.
_FIXED: Final = (TOTAL, PERIOD, ORIGINS, DESTINATIONS)


class FeaturePlan(Section):
    """A feature made of a public column."""

    places: Text | None = Field(
        default=None, description='A column of the places; "zone" is their zone.'
    )
    pairs: Text | None = Field(default=None, description="A column of the table of pairs.")
    side: Literal["origin", "destination", "both"] = Field(
        default="both",
        description="By the labels of which end of a trip; for a column of places only.",
    )
    each_period: bool = Field(
        default=True,
        description="Whether trips are counted in each period, or over all periods together.",
    )

    @model_validator(mode="after")
    def _one_column(self) -> "FeaturePlan":
        if (self.places is None) == (self.pairs is None):
            raise ValueError(
                "must name exactly one of places (a column of the places) and pairs (a column "
                "of the table of pairs)"
            )
        if self.pairs is not None and "side" in self.model_fields_set:
            raise ValueError("side belongs to places: a label of pairs has both ends in it")
        return self


BUILT_IN: Final[Mapping[str, FeaturePlan]] = {
    ZONES: FeaturePlan(places="zone"),
    MODES: FeaturePlan(pairs="mode"),
}


def known_features(defined: Mapping[str, FeaturePlan]) -> tuple[str, ...]:
    """Returns the names that a mechanism may list, given the plan's own definitions."""
    return tuple(dict.fromkeys((*_FIXED, *BUILT_IN, *defined)))


def unnameable(defined: Mapping[str, FeaturePlan]) -> tuple[str, ...]:
    """Returns the definitions whose name is taken by what needs no definition."""
    return tuple(name for name in defined if name in (*_FIXED, CELLS))


NoiseName = Literal["laplace", "gaussian", "auto"]
Shares = dict[str, Fraction]

# The paper counts the cells too: O3 measures cells, total and period.
_VARIANTS: Final = {
    "3": (TOTAL, PERIOD),
    "4": (TOTAL, PERIOD, ZONES),
    "5": (TOTAL, PERIOD, ZONES, MODES),
}


class MechanismOptions(Section):
    """The table [mechanism] of an OD plan.

    Attributes:
        measures_ends: Whether trips by origin and by destination are measured, unless a plan lists
            its totals.
    """

    name: str
    measures_ends: ClassVar[bool] = False

    @property
    def asked_noise(self) -> NoiseName:
        """Which noise is drawn."""
        return "laplace"

    @property
    def completes(self) -> bool:
        """Whether trips beyond the limit are estimated, and the limit can be chosen."""
        return False

    @property
    def coarse_features(self) -> tuple[str, ...] | None:
        """The totals to measure besides the cells; None means all that are possible."""
        return ()

    def disagreements(self, plan: "ODPlan") -> Iterator[str]:
        """Yields what does not agree with the rest of a plan."""
        yield from self.needs_limit(plan)
        if plan.published_totals:
            yield (
                "published_totals: belong to mechanisms that measure totals, such as learned, not "
                f"to {self.name}"
            )

    def needs_limit(self, plan: "ODPlan") -> Iterator[str]:
        """Yields whether a plan leaves a limit open that this mechanism does not choose."""
        if plan.privacy.trip_limit is None and not self.completes:
            yield (
                'privacy.max_trips: must be a number, not "auto": only the mechanism learned '
                "chooses it"
            )


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    if not names:
        raise ValueError('must name at least one published total, such as "total"')
    if CELLS in names:
        raise ValueError('must not name "cells": they are always measured')
    if len(set(names)) != len(names):
        raise ValueError("must name every published total once")
    return names


def exact_shares(given: dict[str, Any]) -> Shares:
    """Returns shares that a plan gives by name."""
    shares = {}
    for name, value in given.items():
        try:
            shares[name] = exact_positive(value)
        except ValueError as error:
            raise ValueError(f"the share of {name} {error}") from None
    if sum(shares.values()) != 1:
        raise ValueError(
            'must have shares that add up to exactly 1; write them in quotes: "0.4" or "1/3"'
        )
    return shares


def rule_or_shares(*rules: str) -> PlainValidator:
    """Returns what validates budget shares: one of some rules, or a table of shares."""

    def read(value: Any) -> str | Shares:
        if isinstance(value, dict):
            return exact_shares(value)
        if isinstance(value, str) and value in rules:
            return value
        known = ", ".join(f'"{name}"' for name in rules)
        raise ValueError(
            f'must be one of {known}, or a table of shares such as {{ cells = "0.4", ... }}'
        )

    return PlainValidator(read)


class TotalsOptions(MechanismOptions):
    """The options of a mechanism that measures totals besides the cells.

    Neither variant nor published totals means all totals that the public files allow.
    """

    variant: str | None = Field(default=None, description="Short for a list of published totals.")
    published_totals: Annotated[Texts, AfterValidator(_distinct)] | None = Field(
        default=None,
        description="The published totals to measure besides the cells; all that the public files "
        "allow if left out.",
    )
    noise: NoiseName = Field(
        default="laplace",
        description="Which noise is drawn; gaussian and auto, whichever is smaller, need "
        "privacy.delta.",
    )
    budget_shares: Any = Field(default=None, description="Budget shares.")

    @model_validator(mode="after")
    def _one_list_of_totals(self) -> "TotalsOptions":
        if self.variant is not None and self.published_totals is not None:
            raise ValueError("variant is short for a list of published totals: give one of the two")
        return self

    @property
    def asked_noise(self) -> NoiseName:
        """Which noise is drawn."""
        return self.noise

    @property
    def coarse_features(self) -> tuple[str, ...] | None:
        """The totals to measure besides the cells; None means all that are possible."""
        return self.published_totals if self.variant is None else _VARIANTS[self.variant[1]]

    def shares(
        self, features: Sequence[Feature], budget: Loss, bound: Bound
    ) -> tuple[Fraction, ...]:
        """Returns the budget shares of some totals and, last, of the cells."""
        if isinstance(self.budget_shares, dict):
            return given_shares(self.budget_shares, features)
        return self.shares_by_rule(features, budget, bound)

    def shares_by_rule(
        self, features: Sequence[Feature], budget: Loss, _bound: Bound
    ) -> tuple[Fraction, ...]:
        """Returns the budget shares of a plan that does not give each."""
        return recommended_shares(features, budget.measure)

    def disagreements(self, plan: "ODPlan") -> Iterator[str]:
        """Yields what does not agree with the rest of a plan."""
        yield from self.needs_limit(plan)
        if self.noise != "laplace" and plan.privacy.delta is None:
            yield f'mechanism.noise: is "{self.noise}", so privacy.delta must be given'
        yield from _wrong_totals(plan, self.coarse_features or ())
        yield from self.misnamed("budget_shares")

    def misnamed(self, option: str) -> Iterator[str]:
        """Yields whether an option that gives numbers by name gives them to other totals."""
        given, asked = getattr(self, option), self.coarse_features
        if asked is not None and isinstance(given, dict) and set(given) != {CELLS, *asked}:
            yield (
                f"mechanism.{option}: must give a number to each of {', '.join((CELLS, *asked))} "
                "and to nothing else"
            )


def _wrong_totals(plan: "ODPlan", asked: tuple[str, ...]) -> Iterator[str]:
    known = known_features(plan.published_totals)
    for name in asked:
        if name not in known:
            yield (
                f"mechanism.published_totals: {name!r} is not a published total; known are "
                f"{', '.join(known)}"
            )
    for name in asked:
        built_in = None if name in plan.published_totals else BUILT_IN.get(name)
        if built_in is not None and built_in.pairs is not None and plan.places.pairs is None:
            yield (
                f"mechanism: the published total {name!r} needs a table that places.pairs must name"
            )
