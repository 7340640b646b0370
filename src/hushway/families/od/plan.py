"""The plan of an OD release, and what its tables must agree on."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from hushway.families.od.plan_features import (
    BUILT_IN,
    CELLS,
    FeaturePlan,
    known_features,
    unnameable,
)
from hushway.families.od.plan_mechanisms import CBDPPlan, LaplacePlan, MechanismPlan
from hushway.privacy.unit import Unit
from hushway.release.plan_sections import (
    AnyPlan,
    LossPlan,
    PlaceColumnsPlan,
    RowsPlan,
    Rule,
    TimePlan,
)
from hushway.release.plan_values import (
    Section,
    Text,
)


class TripColumnsPlan(Section):
    """Which column of the trips file holds what."""

    person: str | None = None
    origin: str = "origin"
    destination: str = "destination"
    time: str = "time"
    trip_id: str | None = None


class DataPlan(RowsPlan):
    """The protected rows."""

    trips: Text = Field(description="CSV or Parquet; a file, a folder or a glob.")
    clock: Literal["wall", "instant"] = "wall"
    columns: TripColumnsPlan = TripColumnsPlan()


class PairColumnsPlan(Section):
    """Which columns of the table of pairs hold the ids of the places."""

    origin: str = "origin"
    destination: str = "destination"


class PlacesPlan(Section):
    """The public list of locations, and public facts about pairs of them."""

    named_files: ClassVar[tuple[str, ...]] = ("file", "pairs")

    file: Text = Field(description="CSV or GeoJSON.")
    columns: PlaceColumnsPlan = PlaceColumnsPlan()
    pairs: Text | None = Field(
        default=None, description="CSV or Parquet; one row a pair, for features."
    )
    pair_columns: PairColumnsPlan = PairColumnsPlan()
    same_place: bool = Field(
        default=False, description="Whether trips that end where they began have cells."
    )

    @model_validator(mode="after")
    def _pair_columns_need_a_table(self) -> "PlacesPlan":
        if self.pairs is None and "pair_columns" in self.model_fields_set:
            raise ValueError("pair_columns are columns of a table that pairs must name")
        return self


class PrivacyPlan(LossPlan):
    """Who is protected, and how much may be lost."""

    unit: Literal[Unit.PERSON, Unit.DEVICE, Unit.TRIP] = Unit.PERSON
    max_trips: int = Field(default=1, ge=1, le=1_000_000)


class ProblemsPlan(Section):
    """What to do with rows that cannot be counted."""

    unknown_location: Rule = "drop"
    outside_window: Rule = "drop"
    null_value: Rule = "drop"
    unparsable_time: Rule = "drop"
    malformed_row: Rule = "drop"
    impossible_time: Rule = "drop"
    same_place: Rule = "drop"
    duplicate_trip_id: Rule = "drop"


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
