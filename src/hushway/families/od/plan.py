"""The plan of an OD release, and what its tables must agree on."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field, model_validator

from hushway.families.od.plan_features import (
    BUILT_IN,
    CELLS,
    FeaturePlan,
    known_features,
    unnameable,
)
from hushway.families.od.plan_mechanisms import CBDPPlan, LaplacePlan, MechanismPlan
from hushway.release.plan_sections import (
    AnyPlan,
    DataPlan,
    PlacesPlan,
    PrivacyPlan,
    ProblemsPlan,
    TimePlan,
)


class ODPlan(AnyPlan):
    """A plan for an OD release."""

    family: Literal["od"]
    data: DataPlan
    places: PlacesPlan
    time: TimePlan
    privacy: PrivacyPlan
    mechanism: MechanismPlan = LaplacePlan()
    features: dict[str, FeaturePlan] = Field(default_factory=dict)
    problems: ProblemsPlan = ProblemsPlan()

    @model_validator(mode="after")
    def _tables_agree(self) -> "ODPlan":
        problems = list(_disagreements(self))
        if problems:
            raise ValueError("\n".join(problems))
        return self

    @property
    def defined_features(self) -> dict[str, FeaturePlan]:
        """The features made of columns: the built-in ones, and those that the plan defines."""
        return {**BUILT_IN, **self.features}


def _disagreements(plan: ODPlan) -> Iterator[str]:
    """Yields what tables of a plan, each right by itself, do not agree on."""
    unit = plan.privacy.unit
    if unit.has_many_records and plan.data.columns.person is None:
        yield (
            f'privacy.unit: is "{unit}", so data.columns.person must name the column of its ids '
            '(without one, only unit = "trip" is possible)'
        )
    if not unit.has_many_records and plan.privacy.max_trips > 1:
        yield 'privacy.max_trips: has no meaning with unit = "trip", which counts once'
    for name in unnameable(plan.features):
        yield f"features.{name}: cannot be defined, because it needs no column"
    for name, feature in plan.features.items():
        if feature.pairs is not None and plan.places.pairs is None:
            yield f"features.{name}: needs a table that places.pairs must name"
    if isinstance(plan.mechanism, LaplacePlan):
        if plan.features:
            yield "features: belong to the mechanisms hierarchical and cbdp, not to laplace"
        return
    if plan.mechanism.noise != "laplace" and plan.privacy.delta is None:
        yield f'mechanism.noise: is "{plan.mechanism.noise}", so privacy.delta must be given'
    yield from _wrong_features(plan, plan.mechanism.coarse_features or ())
    asked = plan.mechanism.coarse_features
    yield from _wrong_shares("split", plan.mechanism.split, asked)
    if isinstance(plan.mechanism, CBDPPlan):
        yield from _wrong_shares("importance", plan.mechanism.importance, asked)


def _wrong_features(plan: ODPlan, asked: tuple[str, ...]) -> Iterator[str]:
    known = known_features(plan.features)
    for name in asked:
        if name not in known:
            yield f"mechanism.features: {name!r} is not a feature; known are {', '.join(known)}"
    for name in asked:
        built_in = None if name in plan.features else BUILT_IN.get(name)
        if built_in is not None and built_in.pairs is not None and plan.places.pairs is None:
            yield f"mechanism: the feature {name!r} needs a table that places.pairs must name"


def _wrong_shares(option: str, given: object, asked: tuple[str, ...] | None) -> Iterator[str]:
    if asked is None or not isinstance(given, dict):
        return
    expected = {CELLS, *asked}
    if set(given) != expected:
        yield (
            f"mechanism.{option}: must give a number to each of {', '.join((CELLS, *asked))} and "
            "to nothing else"
        )
