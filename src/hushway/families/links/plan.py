"""The plan of a links release, and what its tables must agree on."""

from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from hushway.geography.periods import Periods
from hushway.privacy.bound import Unit
from hushway.release.missing import NamedTable
from hushway.release.plan_sections import (
    DAY_HOURS,
    HOUR_MINUTES,
    AnyPlan,
    Day,
    Exact,
    LossPlan,
    MinuteOfDay,
    ProblemsPlan,
    RowsPlan,
    Rule,
    Section,
    Share,
    Text,
)


class TraceColumnsPlan(Section):
    """Which column of the traces holds what."""

    person: str = "person"
    trip: str | None = None
    time: str = "time"
    lon: str = "lon"
    lat: str = "lat"


class TracesPlan(RowsPlan):
    """The protected rows."""

    traces: Text = Field(description="A file, a folder or a glob.")
    format: Literal["table", "gpx", "mds"] = "table"
    clock: Literal["local", "utc"] = "local"
    columns: TraceColumnsPlan = TraceColumnsPlan()

    @model_validator(mode="after")
    def _tables_have_columns(self) -> "TracesPlan":
        told = {"clock", "columns"} & self.model_fields_set
        if self.format != "table" and told:
            raise ValueError(f'{min(told)} belongs to format = "table"')
        return self


class RoadColumnsPlan(Section):
    """Which column or property of lines holds what."""

    id: str | None = "link_id"
    from_node: str | None = "from_node"
    to_node: str | None = "to_node"
    road_class: str | None = "class"
    speed: str | None = "speed"
    lanes: str | None = "lanes"
    oneway: str | None = "oneway"
    name: str | None = "name"


class RoadsPlan(Section):
    """The public road network, and its public zones."""

    file_options: ClassVar[tuple[str, ...]] = ("file",)

    file: Text = Field(description="OSM, GraphML, GMNS, GeoParquet or GeoJSON.")
    crs: Text | None = None
    service: bool = False
    speed_unit: Literal["km/h", "mph"] | None = None
    columns: RoadColumnsPlan = RoadColumnsPlan()
    zone_metres: float = Field(default=5000.0, gt=0, allow_inf_nan=False)


class TripsPlan(Section):
    """How positions become trips."""

    gap_s: float = Field(default=300.0, gt=0, allow_inf_nan=False)
    most_speed: float = Field(default=70.0, gt=0, allow_inf_nan=False)


class EndsPlan(Section):
    """Noise at the ends of trips, in addition to the noise on every count."""

    epsilon: Exact
    radius: int = Field(default=200, ge=1)
    step: int = Field(default=10, ge=1)
    max_trips: int = Field(default=2, ge=1)


class LinksTimePlan(Section):
    """The public window and its periods, on the city's wall clock."""

    zone: Text
    first_day: Day
    last_day: Day
    opens: MinuteOfDay = 0
    closes: MinuteOfDay = DAY_HOURS * HOUR_MINUTES
    minutes: int | None = Field(
        default=None, gt=0, description="Length of a period; from opens to closes if left out."
    )
    cycle: Literal["day", "week", "window"] = "day"

    @property
    def periods(self) -> Periods:
        """The periods.

        Raises:
            GeographyError: They do not fit the window.
        """
        minutes = self.closes - self.opens if self.minutes is None else self.minutes
        return Periods(**{**self.model_dump(), "minutes": minutes})


class LinksPrivacyPlan(LossPlan):
    """Who is protected, and how much may be lost."""

    unit: Literal[Unit.PERSON, Unit.DEVICE] = Unit.PERSON
    max_items: int = Field(default=60, ge=1, le=1_000_000)


class LinkCountsPlan(Section):
    """Noise on every link, and a fit that knows roads."""

    name: Literal["link_counts"] = "link_counts"
    noise: Literal["auto", "laplace", "gaussian"] = "auto"
    classes: Share = Fraction(1, 10)
    left_out: Share = Fraction(3, 20)
    speeds: Share = Fraction(0)
    speed_steps: int = Field(default=6, ge=1, le=100)
    publish_above_se: float = Field(default=2.0, ge=0, allow_inf_nan=False)
    shrink_to_class: bool = True
    conserve: bool = True

    @model_validator(mode="after")
    def _something_is_left(self) -> "LinkCountsPlan":
        if self.classes + self.left_out + self.speeds >= 1:
            raise ValueError(
                "classes, left_out and speeds leave nothing of the budget for the links"
            )
        return self


class TraceProblemsPlan(ProblemsPlan):
    """What to do with rows that cannot be counted."""

    impossible_position: Rule = "drop"


class LinksPlan(AnyPlan):
    """A plan for a release of links."""

    release_type: Literal["links"]
    data: TracesPlan
    roads: RoadsPlan
    time: LinksTimePlan
    trips: TripsPlan = TripsPlan()
    ends: EndsPlan | None = None
    privacy: LinksPrivacyPlan
    mechanism: LinkCountsPlan = LinkCountsPlan()
    problems: TraceProblemsPlan = TraceProblemsPlan()

    def named_tables(self) -> Iterator[NamedTable]:
        """Yields the traces, if they are a table. What roads must have depends on their format."""
        if self.data.format == "table":
            yield NamedTable(
                option="data.traces",
                name=self.data.traces,
                columns={f"data.columns.{role}": name for role, name in self.data.columns if name},
                rows="traces",
            )

    def refuse_wrong_periods(self) -> None:
        """Refuses periods that make no sense."""
        _ = self.time.periods

    def disagreements(self) -> Iterator[str]:
        """Yields what tables of a plan, each right by itself, do not agree on."""
        if self.data.format == "mds" and self.privacy.unit is not Unit.DEVICE:
            yield (
                'privacy.unit: must be "device" with format = "mds", which names vehicles and not '
                "their riders"
            )
        if self.mechanism.noise == "gaussian" and self.privacy.delta is None:
            yield 'privacy.delta: is missing; mechanism.noise = "gaussian" needs it'
