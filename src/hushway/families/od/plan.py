"""The plan of an OD release: its window, whom it protects, and what its tables must agree on."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from hushway.families.od.mechanism.catalogue import MECHANISMS
from hushway.families.od.mechanism.learned import LearnedOptions
from hushway.families.od.mechanism.options import (
    BUILT_IN,
    FeaturePlan,
    MechanismOptions,
    unnameable,
)
from hushway.families.od.plan_rows import DataPlan, PlacesPlan
from hushway.families.od.plan_taps import TapsPlan
from hushway.geography.periods import Periods
from hushway.geography.service_day import DAY_MINUTES, DayPart
from hushway.privacy.bound import Unit
from hushway.release.plans.calendar import CalendarPlan
from hushway.release.plans.missing import NamedTable
from hushway.release.plans.sections import AnyPlan, LossPlan, ProblemsPlan, Rule
from hushway.release.plans.values import Text

_HOUR: Final = 60
_LAST_HOUR: Final = 48


def _service_minute(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    hours, colon, minutes = str(value).partition(":")
    digits = colon and hours.isdigit() and minutes.isdigit()
    if not digits or int(minutes) >= _HOUR or int(hours) > _LAST_HOUR:
        raise ValueError(
            "must be a time of day as HH:MM, from 00:00 to 48:00; after midnight the hours go on: "
            "25:30"
        )
    return int(hours) * _HOUR + int(minutes)


def _stretch(value: Any) -> tuple[int, int]:
    starts, dash, ends = str(value).partition("-")
    if not dash:
        raise ValueError('must be two times of the service day, such as "06:30-09:00"')
    return _service_minute(starts.strip()), _service_minute(ends.strip())


# What editors are told: a plan is written otherwise than it is kept.
ServiceMinute = Annotated[
    int,
    BeforeValidator(_service_minute),
    WithJsonSchema({"type": "string", "pattern": r"^\d{1,2}:\d{2}$"}),
]
Stretch = Annotated[
    tuple[int, int],
    BeforeValidator(_stretch),
    WithJsonSchema({"type": "string", "pattern": r"^\d{1,2}:\d{2} *- *\d{1,2}:\d{2}$"}),
]


class ServiceTimePlan(CalendarPlan):
    """The public window and its periods, on the agency's wall clock."""

    opens: ServiceMinute = Field(
        default=0, description="When the first period of a day begins, as HH:MM."
    )
    closes: ServiceMinute = Field(
        default=DAY_MINUTES,
        description="When the last period of a day ends, as HH:MM; after midnight the hours go on: "
        "25:30.",
    )
    minutes: int = Field(default=60, gt=0, description="Length of a period in minutes.")
    parts: dict[Text, Stretch] = Field(
        default_factory=dict, description="Named parts of the day instead of equal ones."
    )
    cycle: Literal["day", "week", "day_type", "window"] = Field(
        default="day",
        description="Whether all days are counted together, or weekdays, day types or days apart.",
    )

    @model_validator(mode="after")
    def _parts_or_minutes(self) -> "ServiceTimePlan":
        equal = {"opens", "closes", "minutes"} & self.model_fields_set
        if self.parts and equal:
            raise ValueError(f"parts say when the day begins and ends: leave out {min(equal)}")
        return self

    @model_validator(mode="after")
    def _types_need_their_cycle(self) -> "ServiceTimePlan":
        given = {"day_types", "holidays", "holidays_file"} & self.model_fields_set
        if given and self.cycle != "day_type":
            raise ValueError(f'{min(given)} has a meaning only with cycle = "day_type"')
        return self

    def periods(self, path: Callable[[str], Path]) -> Periods:
        """Returns the periods.

        Args:
            path: Gives the path of a file that the plan names.

        Raises:
            GeographyError: They make no sense, or the file of holidays cannot be read.
        """
        parts = tuple(
            DayPart(name=name, starts=starts, ends=ends)
            for name, (starts, ends) in self.parts.items()
        )
        typed = self.cycle == "day_type"
        return Periods(
            zone=self.zone,
            first_day=self.first_day,
            last_day=self.last_day,
            opens=parts[0].starts if parts else self.opens,
            closes=parts[-1].ends if parts else self.closes,
            minutes=0 if parts else self.minutes,
            cycle=self.cycle,
            named=parts,
            day_types=self.types() if typed else (),
            holidays=self.days_off(path) if typed else (),
            average=self.average,
        )


# Zones are read with the locations, whatever their column is called.
_ZONE: Final = "zone"


class PrivacyPlan(LossPlan):
    """Who is protected, and how much may be lost."""

    unit: Literal[Unit.PERSON, Unit.DEVICE, Unit.TRIP] = Field(
        default=Unit.PERSON, description="Who is protected."
    )
    max_trips: Annotated[int, Field(ge=1, le=1_000_000)] | Literal["auto"] = Field(
        default="auto",
        description="The contribution limit: at most so many trips of a person are counted in "
        "cells, chosen at random; auto measures how many trips people make, and chooses.",
    )

    max_trips_per_cell: Annotated[int, Field(ge=1, le=1_000_000)] | Literal["auto"] = Field(
        default="auto",
        description="At most so many of these are in the same cell, chosen at random; auto "
        "measures with Gaussian noise whether that pays, and sets no such limit with Laplace "
        "noise, which would not be smaller for it.",
    )

    @property
    def trip_limit(self) -> int | None:
        """The limit that the plan gives; None if it is to be chosen."""
        if not self.unit.has_many_records:
            return 1
        return None if self.max_trips == "auto" else self.max_trips


class TripProblemsPlan(ProblemsPlan):
    """What to do with rows that cannot be counted."""

    intrazonal: Rule = Field(default="drop", description="Trips that end where they began.")
    duplicate_trip_id: Rule = Field(
        default="drop", description="Rows of a trip of which another row counts already."
    )


class ODPlan(AnyPlan):
    """A plan for an OD release."""

    release_type: Literal["od"] = Field(description="The release type.")
    data: DataPlan
    taps: TapsPlan | None = Field(
        default=None, description='How journeys are made of taps, for format = "taps".'
    )
    places: PlacesPlan
    time: ServiceTimePlan
    privacy: PrivacyPlan
    mechanism: Annotated[MechanismOptions, MECHANISMS] = LearnedOptions()
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
        made = (_ZONE, *(() if self.taps is None else self.taps.labels))
        for name, feature in self._columns_of_features():
            if feature.places is not None and feature.places not in made:
                places[f"published_totals.{name}.places"] = feature.places
            if feature.pairs is not None:
                of_pairs[f"published_totals.{name}.pairs"] = feature.pairs
        if self.places.group not in (None, _ZONE):
            places["places.group"] = self.places.group
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
        if self.taps is not None:
            return {f"taps.columns.{role}": name for role, name in self.taps.columns if name}
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
        if not unit.has_many_records and self.privacy.max_trips not in (1, "auto"):
            yield 'privacy.max_trips: has no meaning with unit = "trip", which counts once'
        capped = self.privacy.max_trips_per_cell != "auto"
        if capped and not (unit.has_many_records and self.mechanism.completes):
            yield (
                "privacy.max_trips_per_cell: belongs to people or devices, and to the mechanism "
                "learned"
            )
        yield from _wrong_places(self)
        if (self.taps is None) == (self.data.format == "taps"):
            yield 'taps: belongs to data.format = "taps", which needs it'
        elif self.taps is not None and self.taps.wrong_clock(self.data.clock):
            yield 'taps.columns.service_date: belongs to data.clock = "service", which needs it'
        for name in unnameable(self.published_totals):
            yield f"published_totals.{name}: cannot be defined, because it needs no column"
        for name, feature in self.published_totals.items():
            if feature.pairs is not None and self.places.pairs is None:
                yield f"published_totals.{name}: needs a table that places.pairs must name"
        if self.places.group is not None and self.published_totals:
            yield "published_totals: are made of columns of single places, which places.group joins"
        yield from self.mechanism.disagreements(self)


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
