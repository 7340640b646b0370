"""The plan of a density release, and what its tables must agree on."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict, Field, model_validator

from hushway.geography.periods import Periods
from hushway.privacy.bound import Unit
from hushway.release.plans.missing import NamedTable
from hushway.release.plans.sections import (
    AnyPlan,
    LossPlan,
    PlaceColumnsPlan,
    ProblemsPlan,
    RowsPlan,
    Rule,
    Section,
)
from hushway.release.plans.values import (
    DAY_HOURS,
    HOUR_MINUTES,
    Day,
    MinuteOfDay,
    PositiveShare,
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

    @model_validator(mode="after")
    def _one_kind(self) -> "EventColumnsPlan":
        position = (self.lon is not None, self.lat is not None)
        if any(position) != all(position) or all(position) == (self.place is not None):
            raise ValueError("must name either place, or both lon and lat")
        return self


class EventsPlan(RowsPlan):
    """The protected rows."""

    events: Text = Field(
        description="CSV or Parquet; a file, a folder or a glob; or table:NAME of a warehouse."
    )
    clock: Literal["local", "utc"] = Field(
        default="local",
        description="Whether times are on the city's clock, or in UTC or with an offset.",
    )
    columns: EventColumnsPlan


class PlacesPlan(Section):
    """The public list of places that events name."""

    file_options: ClassVar[tuple[str, ...]] = ("file",)

    file: Text = Field(description="CSV or GeoJSON.")
    columns: PlaceColumnsPlan = PlaceColumnsPlan()
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


def _last_day_may_be_left_out(schema: dict[str, Any]) -> None:
    schema["required"].remove("last_day")


class WindowPlan(Section):
    """The public window and its bins, on the city's wall clock."""

    model_config = ConfigDict(json_schema_extra=_last_day_may_be_left_out)

    zone: Text = Field(description="The time zone of the clock, an IANA name such as Europe/Paris.")
    first_day: Day = Field(description="The first day of the public window.")
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
        return Periods(**self.model_dump())

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
    max_visits: int = Field(
        default=30,
        ge=1,
        le=1_000_000,
        description="The contribution limit: at most so many visits of a person, one in a period, "
        "chosen at random.",
    )
    max_visits_in_total: int = Field(
        default=1000,
        ge=1,
        le=1_000_000,
        description="At most so many visits of a person count in the number of all visits.",
    )


class SharesPlan(Section):
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
    clusters: PositiveShare | None = Field(
        default=None, description="The budget share of the totals that clusters are made by."
    )
    cuts: PositiveShare | None = Field(
        default=None,
        description="The budget share of how many cosines of each series to keep; for denoise = "
        '"cuts".',
    )


# More than there are on earth, and a visit in every second of ten days.
_MOST_PEOPLE, _MOST_VISITS = 10_000_000_000, 1_000_000


class CrowdPlan(Section):
    """A public guess of how many there are, which the budget is split for."""

    people: float = Field(
        ge=1,
        le=_MOST_PEOPLE,
        allow_inf_nan=False,
        description="A public guess of the people in the data, never a count.",
    )
    visits: float = Field(
        ge=0.001,
        le=_MOST_VISITS,
        allow_inf_nan=False,
        description="A public guess of the visits of one of them in the window, on average.",
    )


class DensitySeriesPlan(Section):
    """Noisy series of clusters, cleaned and scaled; or noise on every count and nothing else."""

    name: Literal["series", "laplace"] = Field(
        default="series",
        description="The mechanism; laplace is noise on every count and nothing else, a baseline.",
    )
    noise: Literal["gaussian", "laplace"] = Field(
        default="gaussian",
        description="Which noise is drawn; gaussian needs privacy.delta, laplace is much louder.",
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
    budget_shares: SharesPlan = SharesPlan()
    expected_population: CrowdPlan | None = None

    @model_validator(mode="after")
    def _options_fit(self) -> "DensitySeriesPlan":
        problems = list(_misfits(self))
        if problems:
            raise ValueError("; ".join(problems))
        return self


def _misfits(plan: DensitySeriesPlan) -> Iterator[str]:
    """Yields what options of a mechanism, each right by itself, do not agree on."""
    shares = plan.budget_shares
    scaled = (shares.histogram, shares.activity, shares.total)
    if plan.name == "laplace":
        yield from (
            f"{option} is an option of series, not of laplace"
            for option in sorted(plan.model_fields_set - {"name"})
        )
    if plan.denoise == "cuts" and plan.noise != "gaussian":
        yield 'denoise = "cuts" needs noise = "gaussian"'
    if shares.cuts is not None and plan.denoise != "cuts":
        yield 'budget_shares.cuts belongs to denoise = "cuts"'
    if shares.clusters is not None and not plan.clustering:
        yield "budget_shares.clusters belongs to clustering = true"
    if not plan.scaling and any(given is not None for given in (*scaled, plan.expected_population)):
        yield (
            "budget_shares.histogram, .activity, .total and expected_population belong to "
            "scaling = true"
        )
    if sum(share or 0 for _, share in shares) >= 1:
        yield "budget_shares sum to 1 or more and leave nothing for the series"
    if plan.expected_population is not None and any(given is not None for _, given in shares):
        yield "expected_population decides on the budget shares: give one of the two"


class EventProblemsPlan(ProblemsPlan):
    """What to do with rows that cannot be counted."""

    impossible_position: Rule = Field(
        default="drop", description="Rows whose position is not on earth."
    )


class DensityPlan(AnyPlan):
    """A plan for a release of a density."""

    release_type: Literal["density"] = Field(description="The release type.")
    data: EventsPlan
    places: PlacesPlan | None = None
    areas: AreasPlan
    time: WindowPlan
    privacy: DensityPrivacyPlan
    mechanism: DensitySeriesPlan = DensitySeriesPlan()
    problems: EventProblemsPlan = EventProblemsPlan()

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
        mechanism = self.mechanism
        gaussian = mechanism.name == "series" and mechanism.noise == "gaussian"
        if gaussian and self.privacy.delta is None:
            yield 'privacy.delta: is missing; mechanism.noise = "gaussian" needs it'
