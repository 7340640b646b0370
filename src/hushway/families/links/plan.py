"""The plan of a links release, and what its tables must agree on."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from hushway.families.links.mechanism.catalogue import MECHANISMS, LinkCountsOptions, LinksOptions
from hushway.geography.periods import Periods
from hushway.privacy.bound import Unit
from hushway.release.plans.missing import NamedTable
from hushway.release.plans.sections import (
    AnyPlan,
    ClockedRowsPlan,
    DaysPlan,
    LossPlan,
    PositionProblemsPlan,
    Section,
)
from hushway.release.plans.values import Exact, Limit, Text


class TraceColumnsPlan(Section):
    """Which column of the traces holds what."""

    person: str = Field(default="person", description="The column with whose position it is.")
    trip: str | None = Field(
        default=None, description="The column with the trip that it belongs to, if there is one."
    )
    time: str = Field(default="time", description="The column with its time.")
    date: str | None = Field(
        default=None, description="The column with its day, if its time is in a column of its own."
    )
    lon: str = Field(default="lon", description="The column with its longitude, in WGS84 degrees.")
    lat: str = Field(default="lat", description="The column with its latitude, in WGS84 degrees.")


class TracesPlan(ClockedRowsPlan):
    """The protected rows."""

    traces: Text = Field(description="A file, a folder or a glob; or table:NAME of a warehouse.")
    format: Literal["table", "gpx", "mds"] = Field(
        default="table",
        description="Whether traces are a table of positions, a folder of GPX files, or MDS trips.",
    )
    columns: TraceColumnsPlan = TraceColumnsPlan()

    @model_validator(mode="after")
    def _tables_have_columns(self) -> "TracesPlan":
        told = {"clock", "time_format", "encoding", "columns"} & self.model_fields_set
        if self.format != "table" and told:
            raise ValueError(f'{min(told)} belongs to format = "table"')
        return self


class RoadColumnsPlan(Section):
    """Which column or property of lines holds what."""

    id: str | None = Field(default="link_id", description="The one with the id of a link.")
    from_node: str | None = Field(
        default="from_node", description="The one with the node where it begins."
    )
    to_node: str | None = Field(
        default="to_node", description="The one with the node where it ends."
    )
    road_class: str | None = Field(default="class", description="The one with its class.")
    speed: str | None = Field(default="speed", description="The one with its speed.")
    lanes: str | None = Field(default="lanes", description="The one with its lanes.")
    oneway: str | None = Field(
        default="oneway", description="The one with whether it leads one way only."
    )
    name: str | None = Field(default="name", description="The one with its name.")


_ROUND_THE_EARTH_M = 40_075_017


class RoadsPlan(Section):
    """The public road network, and its public zones."""

    file_options: ClassVar[tuple[str, ...]] = ("file",)

    file: Text = Field(description="OSM, GraphML, GMNS, GeoParquet or GeoJSON.")
    crs: Text | None = Field(
        default=None,
        description="What coordinates of lines mean, such as EPSG:25832, if the file does not say.",
    )
    service: bool = Field(default=False, description="Whether service roads of OSM are read too.")
    speed_unit: Literal["km/h", "mph"] | None = Field(
        default=None, description="What speeds without a unit mean."
    )
    columns: RoadColumnsPlan = RoadColumnsPlan()
    zone_metres: float = Field(
        default=5000.0,
        ge=1,
        le=_ROUND_THE_EARTH_M,
        allow_inf_nan=False,
        description="Links are also counted by class and by square zones of this size, in metres.",
    )


class TripsPlan(Section):
    """How positions become trips."""

    gap_s: float = Field(
        default=300.0,
        gt=0,
        allow_inf_nan=False,
        description="A pause of so many seconds ends a trip.",
    )
    most_speed: float = Field(
        default=70.0,
        gt=0,
        allow_inf_nan=False,
        description="Positions that would need more metres a second are left out.",
    )


class EndsPlan(Section):
    """Noise at the ends of trips, in addition to the noise on every count."""

    epsilon: Exact = Field(
        description="What one end of a trip loses when it moves by radius, in quotes."
    )
    radius: int = Field(
        default=200, ge=1, description="The distance in metres that epsilon speaks of."
    )
    step: int = Field(default=10, ge=1, description="Metres between the points of the public grid.")
    max_trips: int = Field(default=2, ge=1, description="At most so many trips of one person.")


class LinksTimePlan(DaysPlan):
    """The public window and its periods, on the city's wall clock."""

    minutes: int | None = Field(
        default=None, gt=0, description="Length of a period; from opens to closes if left out."
    )
    cycle: Literal["day", "week", "window"] = Field(
        default="day",
        description="Whether all days are counted together, weekdays apart, or every day by "
        "itself.",
    )

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

    unit: Literal[Unit.PERSON, Unit.DEVICE] = Field(
        default=Unit.PERSON, description="Who is protected."
    )
    max_items: Limit = Field(
        default="auto",
        description="The contribution limit: at most so many links and ends of trips of a person, "
        "chosen at random; auto measures how many people have, and chooses.",
    )


class LinksPlan(AnyPlan):
    """A plan for a release of links."""

    release_type: Literal["links"] = Field(description="The release type.")
    data: TracesPlan
    roads: RoadsPlan
    time: LinksTimePlan
    trips: TripsPlan = TripsPlan()
    ends: EndsPlan | None = None
    privacy: LinksPrivacyPlan
    mechanism: Annotated[LinksOptions, MECHANISMS] = LinkCountsOptions()
    problems: PositionProblemsPlan = PositionProblemsPlan()

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
        yield from self.mechanism.disagreements(self)
