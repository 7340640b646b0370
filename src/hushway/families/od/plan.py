"""The plan of an OD release, and what its tables must agree on."""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainValidator,
    field_validator,
    model_validator,
)

from hushway.families.od.public.features import DESTINATIONS, ORIGINS
from hushway.privacy.bound import Unit
from hushway.release.missing import NamedTable
from hushway.release.plan_sections import (
    AnyPlan,
    LossPlan,
    PlaceColumnsPlan,
    ProblemsPlan,
    RowsPlan,
    Rule,
    Section,
    Text,
    Texts,
    TimePlan,
    exact_positive,
)

NoiseChoice = Literal["laplace", "gaussian", "auto"]
Shares = dict[str, Fraction]


TOTAL: Final = "total"


PERIOD: Final = "period"


ZONES: Final = "zones"


MODES: Final = "modes"


# The paper counts the cells too: O3 measures cells, total and period.
_VARIANTS: Final = {
    "3": (TOTAL, PERIOD),
    "4": (TOTAL, PERIOD, ZONES),
    "5": (TOTAL, PERIOD, ZONES, MODES),
}


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    if not names:
        raise ValueError('must name at least one published total, such as "total"')
    if CELLS in names:
        raise ValueError('must not name "cells": they are always measured')
    if len(set(names)) != len(names):
        raise ValueError("must name every published total once")
    return names


def _split_by(*names: str) -> PlainValidator:
    return PlainValidator(_reader_of_splits(names))


def _reader_of_splits(names: tuple[str, ...]) -> Callable[[Any], str | Shares]:
    def read(value: Any) -> str | Shares:
        if isinstance(value, dict):
            return _shares(value)
        if isinstance(value, str) and value in names:
            return value
        known = ", ".join(f'"{name}"' for name in names)
        raise ValueError(
            f'must be one of {known}, or a table of shares such as {{ cells = "0.4", ... }}'
        )

    return read


def _shares(given: dict[str, Any]) -> Shares:
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


Features = Annotated[Texts, AfterValidator(_distinct)]


class LaplacePlan(Section):
    """Noise on every cell, and nothing else."""

    name: Literal["laplace"]
    form: Literal["auto", "dense", "sparse"] = "auto"
    expected_false: float = Field(default=100.0, gt=0, allow_inf_nan=False)


class _FeaturesMechanism(Section):
    """What mechanisms that measure features have in common.

    Neither variant nor features means all features that the public files allow.
    """

    variant: str | None = None
    published_totals: Features | None = None
    noise: NoiseChoice = "laplace"

    @model_validator(mode="after")
    def _one_list_of_features(self) -> "_FeaturesMechanism":
        if self.variant is not None and self.published_totals is not None:
            raise ValueError("variant is short for a list of published totals: give one of the two")
        return self

    @property
    def coarse_features(self) -> tuple[str, ...] | None:
        """The features to measure besides the cells; None means all that are possible."""
        return self.published_totals if self.variant is None else _VARIANTS[self.variant[1]]


class LearnedPlan(_FeaturesMechanism):
    """Noise on cells and sums, and the best estimate that all of it allows: the default."""

    name: Literal["learned"] = "learned"
    variant: None = None
    budget_shares: Shares | None = None

    @field_validator("budget_shares", mode="before")
    @classmethod
    def _split_is_exact(cls, value: Any) -> Any:
        return _shares(value) if isinstance(value, dict) else value


class HierarchicalPlan(_FeaturesMechanism):
    """Noise on every node of a tree of features, and sums made consistent."""

    name: Literal["hierarchical"]
    variant: Literal["H3", "H4", "H5"] | None = None
    budget_shares: (
        Annotated[
            Literal["uniform", "optimised", "geometric"] | Shares,
            _split_by("uniform", "optimised", "geometric"),
        ]
        | None
    ) = None
    prune: bool = True


class CBDPPlan(_FeaturesMechanism):
    """Noise on cells and features, and the closest table that adds up."""

    name: Literal["cbdp"]
    variant: Literal["O3", "O4", "O5"] | None = None
    weights: Literal["size", "uniform", "inverse_variance", "size_over_variance"] | None = None
    structure: Literal["flat", "hierarchical"] = "flat"
    budget_shares: (
        Annotated[Literal["uniform", "optimised"] | Shares, _split_by("uniform", "optimised")]
        | None
    ) = None
    importance: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] | None = None
    rounding: Literal["controlled", "plain"] = "controlled"
    form: Literal["auto", "dense", "lazy"] = "auto"

    @model_validator(mode="after")
    def _importance_needs_a_split(self) -> "CBDPPlan":
        if self.importance is not None and self.budget_shares not in (None, "optimised"):
            raise ValueError(
                'importance decides on the budget shares, which must then be "optimised"'
            )
        return self


MECHANISMS: Final[dict[str, type[Section]]] = {
    "learned": LearnedPlan,
    "laplace": LaplacePlan,
    "hierarchical": HierarchicalPlan,
    "cbdp": CBDPPlan,
}


def _named(value: Any) -> Any:
    return {"name": "learned", **value} if isinstance(value, dict) else value


MechanismPlan = Annotated[
    Annotated[LearnedPlan | LaplacePlan | HierarchicalPlan | CBDPPlan, Field(discriminator="name")],
    BeforeValidator(_named),
]


CELLS: Final = "cells"

# Zones are read with the locations, whatever their column is called.
_ZONE: Final = "zone"

# What needs no column, so that no table of a plan can define it.
_FIXED: Final = (TOTAL, PERIOD, ORIGINS, DESTINATIONS)


class FeaturePlan(Section):
    """A feature made of a public column."""

    places: Text | None = Field(
        default=None, description='A column of the places; "zone" is their zone.'
    )
    pairs: Text | None = Field(default=None, description="A column of the table of pairs.")
    side: Literal["origin", "destination", "both"] = "both"
    each_period: bool = True

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
    clock: Literal["local", "utc"] = "local"
    columns: TripColumnsPlan = TripColumnsPlan()


class PairColumnsPlan(Section):
    """Which columns of the table of pairs hold the ids of the places."""

    origin: str = "origin"
    destination: str = "destination"


class PlacesPlan(Section):
    """The public list of locations, and public facts about pairs of them."""

    file_options: ClassVar[tuple[str, ...]] = ("file", "pairs")

    file: Text = Field(description="CSV or GeoJSON.")
    columns: PlaceColumnsPlan = PlaceColumnsPlan()
    pairs: Text | None = Field(
        default=None, description="CSV or Parquet; one row a pair, for published totals."
    )
    pair_columns: PairColumnsPlan = PairColumnsPlan()
    include_intrazonal: bool = Field(
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


class TripProblemsPlan(ProblemsPlan):
    """What to do with rows that cannot be counted."""

    intrazonal: Rule = "drop"
    duplicate_trip_id: Rule = "drop"


class ODPlan(AnyPlan):
    """A plan for an OD release."""

    release_type: Literal["od"]
    data: DataPlan
    places: PlacesPlan
    time: TimePlan
    privacy: PrivacyPlan
    mechanism: MechanismPlan = LearnedPlan()
    published_totals: dict[str, FeaturePlan] = Field(default_factory=dict)
    problems: TripProblemsPlan = TripProblemsPlan()

    @property
    def defined_features(self) -> dict[str, FeaturePlan]:
        """The features made of columns: the built-in ones, and those that the plan defines."""
        return {**BUILT_IN, **self.published_totals}

    def named_tables(self) -> Iterator[NamedTable]:
        """Yields the locations, the pairs and the trips."""
        places, of_pairs = {}, {}
        for name, feature in self._columns_of_features():
            if feature.places not in (None, _ZONE):
                places[f"features.{name}.places"] = feature.places
            if feature.pairs is not None:
                of_pairs[f"features.{name}.pairs"] = feature.pairs
        yield NamedTable(
            option="places.file",
            name=self.places.file,
            columns={**self.places.columns.demanded("places.columns"), **places},
        )
        if self.places.pairs is not None and of_pairs:
            ends = {f"places.pair_columns.{end}": name for end, name in self.places.pair_columns}
            yield NamedTable(
                option="places.pairs", name=self.places.pairs, columns={**ends, **of_pairs}
            )
        yield NamedTable(
            option="data.trips",
            name=self.data.trips,
            columns={f"data.columns.{role}": name for role, name in self.data.columns if name},
            rows="trips",
        )

    def _columns_of_features(self) -> Iterator[tuple[str, FeaturePlan]]:
        """Yields the features made of columns that the mechanism measures."""
        if isinstance(self.mechanism, LaplacePlan):
            return
        asked = self.mechanism.coarse_features
        for name, feature in self.defined_features.items():
            if asked is None or name in asked:
                yield name, feature

    def refuse_wrong_periods(self) -> None:
        """Refuses periods that make no sense."""
        _ = self.time.periods

    def disagreements(self) -> Iterator[str]:
        """Yields what tables of a plan, each right by itself, do not agree on."""
        unit = self.privacy.unit
        if unit.has_many_records and self.data.columns.person is None:
            yield (
                f'privacy.unit: is "{unit}", so data.columns.person must name the column of its '
                'ids (without one, only unit = "trip" is possible)'
            )
        if not unit.has_many_records and self.privacy.max_trips > 1:
            yield 'privacy.max_trips: has no meaning with unit = "trip", which counts once'
        for name in unnameable(self.published_totals):
            yield f"published_totals.{name}: cannot be defined, because it needs no column"
        for name, feature in self.published_totals.items():
            if feature.pairs is not None and self.places.pairs is None:
                yield f"published_totals.{name}: needs a table that places.pairs must name"
        if isinstance(self.mechanism, LaplacePlan):
            if self.published_totals:
                yield "published_totals: belong to learned, hierarchical and cbdp, not to laplace"
            return
        if self.mechanism.noise != "laplace" and self.privacy.delta is None:
            yield f'mechanism.noise: is "{self.mechanism.noise}", so privacy.delta must be given'
        yield from _wrong_features(self, self.mechanism.coarse_features or ())
        asked = self.mechanism.coarse_features
        yield from _wrong_shares("budget_shares", self.mechanism.budget_shares, asked)
        if isinstance(self.mechanism, CBDPPlan):
            yield from _wrong_shares("importance", self.mechanism.importance, asked)


def _wrong_features(plan: ODPlan, asked: tuple[str, ...]) -> Iterator[str]:
    known = known_features(plan.published_totals)
    for name in asked:
        if name not in known:
            yield f"mechanism.published_totals: {name!r} is not a published total; known are {', '.join(known)}"
    for name in asked:
        built_in = None if name in plan.published_totals else BUILT_IN.get(name)
        if built_in is not None and built_in.pairs is not None and plan.places.pairs is None:
            yield f"mechanism: the published total {name!r} needs a table that places.pairs must name"


def _wrong_shares(option: str, given: object, asked: tuple[str, ...] | None) -> Iterator[str]:
    if asked is None or not isinstance(given, dict):
        return
    expected = {CELLS, *asked}
    if set(given) != expected:
        yield (
            f"mechanism.{option}: must give a number to each of {', '.join((CELLS, *asked))} and "
            "to nothing else"
        )
