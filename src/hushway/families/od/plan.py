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

from hushway.families.od.plan_time import ServiceTimePlan
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

    name: Literal["laplace"] = Field(description="The mechanism.")
    form: Literal["auto", "dense", "sparse"] = Field(
        default="auto", description="Whether every cell is published, or cells above a threshold."
    )
    expected_false: float = Field(
        default=100.0,
        gt=0,
        allow_inf_nan=False,
        description="Sparse form only: so many empty cells appear by chance, on average.",
    )


class _FeaturesMechanism(Section):
    """What mechanisms that measure features have in common.

    Neither variant nor features means all features that the public files allow.
    """

    variant: str | None = Field(default=None, description="Short for a list of published totals.")
    published_totals: Features | None = Field(
        default=None,
        description="The published totals to measure besides the cells; all that the public files "
        "allow if left out.",
    )
    noise: NoiseChoice = Field(
        default="laplace",
        description="Which noise is drawn; gaussian and auto, whichever is smaller, need "
        "privacy.delta.",
    )

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

    name: Literal["learned"] = Field(default="learned", description="The mechanism.")
    variant: None = Field(default=None, description="Not an option of this mechanism.")
    budget_shares: Shares | None = Field(
        default=None,
        description="Budget shares of the cells and of each published total, which add up to 1.",
    )

    @field_validator("budget_shares", mode="before")
    @classmethod
    def _split_is_exact(cls, value: Any) -> Any:
        return _shares(value) if isinstance(value, dict) else value


class HierarchicalPlan(_FeaturesMechanism):
    """Noise on every node of a tree of features, and sums made consistent."""

    name: Literal["hierarchical"] = Field(description="The mechanism.")
    variant: Literal["H3", "H4", "H5"] | None = Field(
        default=None, description="Short for a list of published totals, as in the paper."
    )
    budget_shares: (
        Annotated[
            Literal["uniform", "optimised", "geometric"] | Shares,
            _split_by("uniform", "optimised", "geometric"),
        ]
        | None
    ) = Field(default=None, description="Budget shares, by rule or as a table that adds up to 1.")
    prune: bool = Field(
        default=True,
        description="Whether a node at or below 0 is emptied with everything under it.",
    )


class CBDPPlan(_FeaturesMechanism):
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
        Annotated[Literal["uniform", "optimised"] | Shares, _split_by("uniform", "optimised")]
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


class TripColumnsPlan(Section):
    """Which column of the trips file holds what."""

    person: str | None = Field(
        default=None,
        description="The column with whose trip it is; without one only single trips can be "
        "protected.",
    )
    origin: str = Field(
        default="origin", description="The column with the place where a trip began."
    )
    destination: str = Field(
        default="destination", description="The column with the place where it ended."
    )
    time: str = Field(default="time", description="The column with the time when it began.")
    trip_id: str | None = Field(
        default=None,
        description="The column with an id of the trip; one that appears twice counts once.",
    )
    service_date: str | None = Field(
        default=None, description='The column with the service date, for clock = "service".'
    )
    origin_lon: str | None = Field(
        default=None, description="The column with the longitude where a trip began."
    )
    origin_lat: str | None = Field(
        default=None, description="The column with the latitude where it began."
    )
    destination_lon: str | None = Field(
        default=None, description="The column with the longitude where it ended."
    )
    destination_lat: str | None = Field(
        default=None, description="The column with the latitude where it ended."
    )

    @property
    def positions(self) -> tuple[str | None, ...]:
        """The columns of points."""
        return self.origin_lon, self.origin_lat, self.destination_lon, self.destination_lat

    @model_validator(mode="after")
    def _points_or_ids(self) -> "TripColumnsPlan":
        given = [column is not None for column in self.positions]
        if any(given) and not all(given):
            raise ValueError(
                "points need all of origin_lon, origin_lat, destination_lon and destination_lat"
            )
        if all(given) and {"origin", "destination"} & self.model_fields_set:
            raise ValueError("trips have ids of places or points, not both: leave out the ids")
        return self


class DataPlan(RowsPlan):
    """The protected rows."""

    trips: Text = Field(
        description="CSV or Parquet; a file, a folder or a glob; or table:NAME of a warehouse."
    )
    format: Literal["table", "mds", "tides"] = Field(
        default="table",
        description="Columns of the plan's choice, MDS trips, or TIDES fare transactions.",
    )
    clock: Literal["local", "utc", "service"] = Field(
        default="local",
        description="Whether times are on the agency's clock, in UTC or with an offset, or hours "
        "of "
        "a service date, such as 25:30.",
    )
    columns: TripColumnsPlan = TripColumnsPlan()

    @model_validator(mode="after")
    def _standards_name_their_columns(self) -> "DataPlan":
        if self.format != "table" and "columns" in self.model_fields_set:
            raise ValueError(f'format = "{self.format}" names its own columns: leave them out')
        if self.format == "mds" and "clock" in self.model_fields_set:
            raise ValueError('format = "mds" has instants: leave out clock')
        return self

    @property
    def has_points(self) -> bool:
        """Whether trips have points for ends, not ids of places."""
        return self.format == "mds" or None not in self.columns.positions

    @model_validator(mode="after")
    def _service_dates_have_their_clock(self) -> "DataPlan":
        if (self.clock == "service") != (self.columns.service_date is not None):
            raise ValueError(
                'clock = "service" and columns.service_date belong together: hours such as 25:30 '
                "are hours of a service date"
            )
        return self


class PairColumnsPlan(Section):
    """Which columns of the table of pairs hold the ids of the places."""

    origin: str = Field(
        default="origin", description="The column with the place where trips of the pair begin."
    )
    destination: str = Field(
        default="destination", description="The column with the place where they end."
    )


class AreaColumnsPlan(Section):
    """Which column or property of the areas holds what."""

    id: str = Field(default="id", description="The column with the id of an area.")
    name: str | None = Field(
        default="name", description="The column with its name, if there is one."
    )


class PlacesPlan(Section):
    """The public list of locations, and public facts about pairs of them."""

    file_options: ClassVar[tuple[str, ...]] = ("file", "areas", "pairs")

    file: Text | None = Field(default=None, description="CSV or GeoJSON.")
    columns: PlaceColumnsPlan = PlaceColumnsPlan()
    areas: Text | None = Field(
        default=None, description="GeoJSON, GeoParquet or a shapefile, for trips with points."
    )
    area_columns: AreaColumnsPlan = AreaColumnsPlan()
    pairs: Text | None = Field(
        default=None, description="CSV or Parquet; one row a pair, for published totals."
    )
    pair_columns: PairColumnsPlan = PairColumnsPlan()
    include_intrazonal: bool = Field(
        default=False, description="Whether trips that end where they began have cells."
    )

    @model_validator(mode="after")
    def _a_list_or_areas(self) -> "PlacesPlan":
        if (self.file is None) == (self.areas is None):
            raise ValueError("must name exactly one of file (a list of places) and areas")
        other = "columns" if self.file is None else "area_columns"
        if other in self.model_fields_set:
            raise ValueError(f"{other} are columns of a file that is not named")
        return self

    @model_validator(mode="after")
    def _pair_columns_need_a_table(self) -> "PlacesPlan":
        if self.pairs is None and "pair_columns" in self.model_fields_set:
            raise ValueError("pair_columns are columns of a table that pairs must name")
        return self


class PrivacyPlan(LossPlan):
    """Who is protected, and how much may be lost."""

    unit: Literal[Unit.PERSON, Unit.DEVICE, Unit.TRIP] = Field(
        default=Unit.PERSON, description="Who is protected."
    )
    max_trips: int = Field(
        default=1,
        ge=1,
        le=1_000_000,
        description="The contribution limit: at most so many trips of a person are counted, "
        "chosen at random.",
    )


class TripProblemsPlan(ProblemsPlan):
    """What to do with rows that cannot be counted."""

    intrazonal: Rule = Field(default="drop", description="Trips that end where they began.")
    duplicate_trip_id: Rule = Field(default="drop", description="Trips whose id was there before.")


class ODPlan(AnyPlan):
    """A plan for an OD release."""

    release_type: Literal["od"] = Field(description="The release type.")
    data: DataPlan
    places: PlacesPlan
    time: ServiceTimePlan
    privacy: PrivacyPlan
    mechanism: MechanismPlan = LearnedPlan()
    published_totals: dict[str, FeaturePlan] = Field(
        default_factory=dict,
        description="Published totals of your own, by name, each made of a public column.",
    )
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
                places[f"published_totals.{name}.places"] = feature.places
            if feature.pairs is not None:
                of_pairs[f"published_totals.{name}.pairs"] = feature.pairs
        if self.places.file is not None:
            yield NamedTable(
                option="places.file",
                name=self.places.file,
                columns={**self.places.columns.demanded("places.columns"), **places},
            )
        if self.places.areas is not None:
            yield NamedTable(
                option="places.areas",
                name=self.places.areas,
                columns={"places.area_columns.id": self.places.area_columns.id},
            )
        if self.places.pairs is not None and of_pairs:
            ends = {f"places.pair_columns.{end}": name for end, name in self.places.pair_columns}
            yield NamedTable(
                option="places.pairs", name=self.places.pairs, columns={**ends, **of_pairs}
            )
        yield NamedTable(
            option="data.trips",
            name=self.data.trips,
            columns=self._columns_of_trips(),
            rows="trips",
        )

    def _columns_of_trips(self) -> dict[str, str]:
        """Returns the columns that trips must have, by option; MDS and TIDES name their own."""
        if self.data.format != "table":
            return {}
        unused = {"origin", "destination"} if self.data.has_points else set()
        return {
            f"data.columns.{role}": name
            for role, name in self.data.columns
            if name and role not in unused
        }

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
        _ = self.time.periods(self.path)

    def disagreements(self) -> Iterator[str]:
        """Yields what tables of a plan, each right by itself, do not agree on."""
        unit = self.privacy.unit
        owned = self.data.format != "table" or self.data.columns.person is not None
        if unit.has_many_records and not owned:
            yield (
                f'privacy.unit: is "{unit}", so data.columns.person must name the column of its '
                'ids (without one, only unit = "trip" is possible)'
            )
        if not unit.has_many_records and self.privacy.max_trips > 1:
            yield 'privacy.max_trips: has no meaning with unit = "trip", which counts once'
        yield from _wrong_places(self)
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


def _wrong_places(plan: ODPlan) -> Iterator[str]:
    if plan.data.has_points != (plan.places.areas is not None):
        yield (
            "places.areas: belongs to trips with points: name it together with "
            "data.columns.origin_lon, origin_lat, destination_lon and destination_lat, or with "
            'data.format = "mds"'
        )
    if plan.data.format != "table" and plan.privacy.unit is not Unit.DEVICE:
        yield (
            f'privacy.unit: must be "device", because trips of data.format = "{plan.data.format}" '
            "are told by devices or tokens, not by people"
        )


def _wrong_features(plan: ODPlan, asked: tuple[str, ...]) -> Iterator[str]:
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


def _wrong_shares(option: str, given: object, asked: tuple[str, ...] | None) -> Iterator[str]:
    if asked is None or not isinstance(given, dict):
        return
    expected = {CELLS, *asked}
    if set(given) != expected:
        yield (
            f"mechanism.{option}: must give a number to each of {', '.join((CELLS, *asked))} and "
            "to nothing else"
        )
