"""The mechanisms of sequences. A new one is one more value; what it computes with is imported late.

Plans are read before anything large is loaded, and they read this file.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from hushway.families.sequences.mechanism.steps import (
    ExpectedFalse,
    PaperThresholds,
    Thresholds,
    geometric_shares,
    paper_grain_shares,
    recommended_grain_shares,
    recommended_shares,
    recommended_thresholds,
    uniform_shares,
)
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.release.catalogue import Catalogue, MechanismSpec
from hushway.release.mechanism import budget_for
from hushway.release.plans.sections import Section
from hushway.release.plans.values import Exact
from hushway.release.terms import stated_losses

if TYPE_CHECKING:
    from hushway.families.sequences.mechanism.learned import LearnedSequences
    from hushway.families.sequences.mechanism.people import PeopleSequences
    from hushway.families.sequences.mechanism.tree import PrefixTree
    from hushway.families.sequences.plan import SequencesPlan
    from hushway.privacy.loss import Loss


@dataclass(frozen=True, kw_only=True)
class SequencesSetting:
    """What a mechanism is made from: a plan and what was read of its public files.

    Attributes:
        options: Its table [mechanism], or the usual one.
    """

    plan: "SequencesPlan"
    options: "SequencesOptions"
    universe: SequenceUniverse
    height: int

    @property
    def budget(self) -> "Loss":
        """What the release costs."""
        privacy = self.plan.privacy
        return budget_for(privacy.epsilon, privacy.delta, self.options.noise)


class SequencesOptions(Section):
    """The table [mechanism] of a plan for sequences."""

    name: str
    noise: Literal["laplace", "gaussian"] = Field(
        default="laplace", description="Which noise is drawn; gaussian needs privacy.delta."
    )

    def disagreements(self, plan: "SequencesPlan") -> Iterator[str]:
        """Yields what does not agree with the rest of a plan."""
        if self.noise == "gaussian" and plan.privacy.delta is None:
            yield 'mechanism.noise: is "gaussian", so privacy.delta must be given'


def _below_one(value: float) -> float:
    if value >= 1:
        raise ValueError("must be below 1, or false nodes would multiply")
    return value


class PrefixTreeOptions(SequencesOptions):
    """A noisy prefix tree."""

    name: Literal["prefix_tree"] = Field(default="prefix_tree", description="The mechanism.")
    thresholds: Literal["expected_false", "paper"] = Field(
        default="expected_false", description="From which noisy count on a prefix is kept."
    )
    expected_false_prefixes: (
        Annotated[float, Field(ge=1e-9, allow_inf_nan=False), AfterValidator(_below_one)] | None
    ) = Field(default=None, description="So many empty prefixes appear below each one, on average.")
    levels: Literal["recommended", "uniform", "geometric"] = Field(
        default="recommended", description="How the budget is shared among stops."
    )
    ratio: Exact | None = Field(
        default=None,
        description="For geometric levels: the budget share of a stop over that of the stop "
        "before.",
    )
    groups: Literal["balanced", "paper"] = Field(
        default="balanced",
        description="How the budget of a stop is shared between groups and places.",
    )

    @model_validator(mode="after")
    def _options_fit(self) -> "PrefixTreeOptions":
        if self.expected_false_prefixes is not None and self.thresholds != "expected_false":
            raise ValueError('expected_false_prefixes belongs to thresholds = "expected_false"')
        if (self.ratio is not None) != (self.levels == "geometric"):
            raise ValueError('levels = "geometric" needs a ratio, and nothing else has one')
        return self

    def disagreements(self, plan: "SequencesPlan") -> Iterator[str]:
        """Yields what does not agree with the rest of a plan."""
        if plan.record_limit is None:
            yield (
                "privacy.max_records: must be a number with prefix_tree: only the mechanism "
                "learned chooses it"
            )
        yield from super().disagreements(plan)


class LearnedOptions(SequencesOptions):
    """Records learnt from what is common to all positions, then looked at as a whole."""

    name: Literal["learned"] = Field(description="The mechanism.")
    noise: Literal["laplace", "gaussian"] = Field(
        default="laplace", description="Which noise is drawn; gaussian needs privacy.delta."
    )

    def disagreements(self, plan: "SequencesPlan") -> Iterator[str]:
        """Yields what does not agree with the rest of a plan."""
        if plan.records.times:
            yield 'mechanism.name: is "learned", which keeps no times; choose "prefix_tree"'
        yield from super().disagreements(plan)


def _planned_tree(setting: SequencesSetting) -> "PrefixTree":
    from hushway.families.sequences.mechanism.tree import prefix_tree

    options, universe = setting.options, setting.universe
    assert isinstance(options, PrefixTreeOptions)  # noqa: S101  the options of this mechanism
    paper = options.groups == "paper"
    return prefix_tree(
        universe,
        budget=setting.budget,
        height=setting.height,
        level_shares=_level_shares(options, setting.height),
        grain_shares=(
            paper_grain_shares(universe.taxonomy) if paper else recommended_grain_shares(universe)
        ),
        thresholds=_thresholds(options),
    )


def _level_shares(tree: PrefixTreeOptions, height: int) -> tuple[Fraction, ...]:
    if tree.ratio is not None:
        return geometric_shares(height, ratio=tree.ratio)
    return uniform_shares(height) if tree.levels == "uniform" else recommended_shares(height)


def _thresholds(tree: PrefixTreeOptions) -> Thresholds:
    if tree.thresholds == "paper":
        return PaperThresholds()
    return (
        recommended_thresholds()
        if tree.expected_false_prefixes is None
        else ExpectedFalse(expected_false_prefixes=tree.expected_false_prefixes)
    )


def _stated_tree(parameters: Mapping[str, Any], universe: SequenceUniverse) -> "PrefixTree":
    from hushway.families.sequences.mechanism.tree import PrefixTree

    return PrefixTree(
        universe=universe,
        spends=tuple(stated_losses(parameters)),
        thresholds=_stated_thresholds(parameters["thresholds"]),
        most_nodes=parameters["most_nodes"],
        supercritical=parameters["supercritical"],
    )


def _stated_thresholds(rule: Mapping[str, Any]) -> Thresholds:
    if rule["rule"] == "paper":
        return PaperThresholds()
    return ExpectedFalse(expected_false_prefixes=float(rule["expected_false_prefixes"]))


def _planned_records(setting: SequencesSetting) -> "LearnedSequences | PeopleSequences":
    from hushway.families.sequences.mechanism.learned import LearnedSequences, learned_spends
    from hushway.families.sequences.mechanism.people import PeopleSequences, record_ladder

    plan = setting.plan
    learned = LearnedSequences(
        universe=setting.universe, height=setting.height, spends=learned_spends(setting.budget)
    )
    day = _first_day(plan)
    if not plan.leaves_out:
        return replace(learned, first_day=day)
    ladder = record_ladder(plan.most_records, plan.record_limit)
    return PeopleSequences(inner=learned, ladder=ladder, limit=plan.record_limit, first_day=day)


def _first_day(plan: "SequencesPlan") -> date | None:
    """Returns the day that a step begins with; None if the plan is of no series."""
    return None if plan.series is None or plan.time is None else plan.time.first_day


def _stated_records(
    parameters: Mapping[str, Any], universe: SequenceUniverse
) -> "LearnedSequences | PeopleSequences":
    from hushway.families.sequences.mechanism.learned import LearnedSequences
    from hushway.families.sequences.mechanism.people import certified_people
    from hushway.release.others import certified_first_day, certified_others

    if "people_by_records" in parameters:
        return certified_people(parameters, universe)
    return LearnedSequences(
        universe=universe,
        height=parameters["max_stops"],
        spends=tuple(stated_losses(parameters)),
        others=certified_others(parameters),
        first_day=certified_first_day(parameters),
    )


SequencesSpec = MechanismSpec[SequencesSetting, Any]

LEARNED = SequencesSpec(
    name="learned",
    options=LearnedOptions,
    from_plan=_planned_records,
    from_certificate=_stated_records,
)
PREFIX_TREE = SequencesSpec(
    name="prefix_tree",
    options=PrefixTreeOptions,
    from_plan=_planned_tree,
    from_certificate=_stated_tree,
)
# A table [mechanism] without a name gives options of a tree.
MECHANISMS = Catalogue(LEARNED, PREFIX_TREE, default=PREFIX_TREE.name)
