"""The plan of a density release, and what its tables must agree on."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import ConfigDict, Field, model_validator

from hushway.families.density.mechanism.catalogue import MECHANISMS, DensityOptions, SeriesOptions
from hushway.geography.periods import Periods
from hushway.privacy.bound import Unit
from hushway.release.plans.calendar import CalendarPlan
from hushway.release.plans.missing import NamedTable
from hushway.release.plans.sections import (
    AnyPlan,
    ClockedRowsPlan,
    LossPlan,
    PlaceListPlan,
    PositionProblemsPlan,
    Section,
)
from hushway.release.plans.values import (
    DAY_HOURS,
    HOUR_MINUTES,
    Day,
    Limit,
    MinuteOfDay,
    Text,
    day_of,
)

_WEEK = timedelta(days=6)


class EventColumnsPlan(Section):
    """Which column of the events holds what: a place, or a position."""

    person: str = Field(default="person", description="The column with whose event it is.")
    place: str | None = Field(
        default=None, description="The column with the place of the event, if places are named."
    )
    lon: str | None = Field(
        default=None,
        description="The column with its longitude in WGS84 degrees, if positions are given.",
    )
    lat: str | None = Field(
        default=None,
        description="The column with its latitude in WGS84 degrees, if positions are given.",
    )
    time: str = Field(default="time", description="The column with its time.")
    date: str | None = Field(
        default=None, description="The column with its day, if its time is in a column of its own."
    )

    @model_validator(mode="after")
    def _one_kind(self) -> "EventColumnsPlan":
        position = (self.lon is not None, self.lat is not None)
        if any(position) != all(position) or all(position) == (self.place is not None):
            raise ValueError("must name either place, or both lon and lat")
        return self


class EventsPlan(ClockedRowsPlan):
    """The protected rows."""

    events: Text = Field(
        description="CSV or Parquet; a file, a folder or a glob; or table:NAME of a warehouse."
    )
    columns: EventColumnsPlan


class PlacesPlan(PlaceListPlan):
    """The public list of places that events name."""

    file: Text = Field(description="CSV, GeoJSON or a GTFS feed.")
    outside: Literal["refuse", "drop"] = Field(
        default="refuse",
        description="What to do with places outside all areas: refuse them, or drop them and "
        "their events.",
    )


class AreasPlan(Section):
    """The public areas."""

    file_options: ClassVar[tuple[str, ...]] = ("file",)

    file: Text = Field(description="GeoJSON, GeoParquet or a shapefile.")
    id: str = Field(default="id", description="The property or column with the id of an area.")
    name: str | None = Field(default=None, description="The one with its name, if there is one.")
    crs: Text | None = Field(
        default=None,
        description="What the coordinates mean, such as EPSG:2154, if the file does not say.",
    )
    dissolve: bool = Field(
        default=False, description="Whether polygons with the same id are merged."
    )
    cache: Text | None = Field(
        default=None, description="A folder to keep the geometry in; nothing is kept if left out."
    )


_CALENDAR: Final = {"day_types", "holidays", "holidays_file"}


def _last_day_may_be_left_out(schema: dict[str, Any]) -> None:
    schema["required"].remove("last_day")


class WindowPlan(CalendarPlan):
    """The public window and its bins, on the city's wall clock."""

    model_config = ConfigDict(json_schema_extra=_last_day_may_be_left_out)

    last_day: Day = Field(
        description="The last day of the public window, included; a week after the first if left "
        "out."
    )
    opens: MinuteOfDay = Field(
        default=0, description="When the first period of a day begins, as HH:MM."
    )
    closes: MinuteOfDay = Field(
        default=DAY_HOURS * HOUR_MINUTES,
        description="When the last period of a day ends, as HH:MM; 24:00 is midnight.",
    )
    minutes: int = Field(default=HOUR_MINUTES, gt=0, description="Length of a period in minutes.")
    cycle: Literal["window", "week"] = Field(
        default="window",
        description="Whether every period of the window counts by itself, or all weeks are laid "
        "over each other.",
    )

    @property
    def periods(self) -> Periods:
        """The periods.

        Raises:
            GeographyError: They do not fit the window.
        """
        return Periods(**self.model_dump(exclude={"publish", *_CALENDAR}))

    @model_validator(mode="after")
    def _averages_are_of_days(self) -> "WindowPlan":
        given = _CALENDAR & self.model_fields_set
        if given and not self.average:
            raise ValueError(f'{min(given)} has a meaning only with publish = "average day"')
        if self.average and self.cycle == "week":
            raise ValueError(
                'publish = "average day" needs cycle = "window": with cycle = "week" a visitor '
                "counts once in all weeks, which no number of days divides"
            )
        return self

    @model_validator(mode="before")
    @classmethod
    def _a_week_unless_said(cls, facts: Any) -> Any:
        if isinstance(facts, dict) and "last_day" not in facts:
            # A first day that is none, or the last there is, is refused where it is read.
            with suppress(ValueError, OverflowError):
                return {**facts, "last_day": day_of(facts.get("first_day")) + _WEEK}
        return facts


class DensityPrivacyPlan(LossPlan):
    """Who is protected, and how much may be lost."""

    unit: Literal[Unit.PERSON, Unit.DEVICE] = Field(
        default=Unit.PERSON, description="Who is protected."
    )
    max_visits: Limit = Field(
        default="auto",
        description="The contribution limit: at most so many visits of a person are counted in "
        "series, chosen at random; auto measures how many visits people have, and chooses.",
    )
    max_visits_in_total: Limit = Field(
        default="auto",
        description="At most so many visits of a person count in the number of all visits, and in "
        "sums of what the series leaves out; auto chooses it too.",
    )

    @property
    def visit_limit(self) -> int | None:
        """The contribution limit of the series; None if it is to be chosen."""
        return None if self.max_visits == "auto" else self.max_visits

    @property
    def total_limit(self) -> int | None:
        """The limit of the number of all visits; None if it is to be chosen."""
        return None if self.max_visits_in_total == "auto" else self.max_visits_in_total


class DensityPlan(AnyPlan):
    """A plan for a release of a density."""

    release_type: Literal["density"] = Field(description="The release type.")
    data: EventsPlan
    places: PlacesPlan | None = None
    areas: AreasPlan
    time: WindowPlan
    privacy: DensityPrivacyPlan
    mechanism: Annotated[DensityOptions, MECHANISMS] = SeriesOptions()
    problems: PositionProblemsPlan = PositionProblemsPlan()

    def named_tables(self) -> Iterator[NamedTable]:
        """Yields the areas, the towers and the events."""
        areas = {"areas.id": self.areas.id}
        # A file without names is fine, unless the plan says what their column is called.
        if self.areas.name not in (None, "name"):
            areas["areas.name"] = self.areas.name
        yield NamedTable(option="areas.file", name=self.areas.file, columns=areas)
        if self.places is not None:
            yield NamedTable(
                option="places.file",
                name=self.places.file,
                columns=self.places.columns.demanded("places.columns"),
            )
        yield NamedTable(
            option="data.events",
            name=self.data.events,
            columns={f"data.columns.{role}": name for role, name in self.data.columns if name},
            rows="events",
        )

    def refuse_wrong_periods(self) -> None:
        """Refuses periods that make no sense."""
        _ = self.time.periods

    def disagreements(self) -> Iterator[str]:
        """Yields what tables of a plan, each right by itself, do not agree on."""
        named = self.data.columns.place is not None
        if named and self.places is None:
            yield "places: is missing; events that name a place need the public list of them"
        if not named and self.places is not None:
            yield "places: events with positions are counted by area and need no list of places"
        if self.mechanism.asked_noise == "gaussian" and self.privacy.delta is None:
            yield 'privacy.delta: is missing; mechanism.noise = "gaussian" needs it'
        left_open = None in (self.privacy.visit_limit, self.privacy.total_limit)
        if left_open and not self.mechanism.chooses_limits:
            yield (
                "privacy.max_visits and .max_visits_in_total: must be numbers: only the mechanism "
                "series with scaling, without budget_shares, chooses them"
            )
