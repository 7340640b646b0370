"""The plan of a release of visits."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from hushway import families as hw
from pydantic import Field

from hushway_visits.mechanism import MECHANISMS, TotalsOptions, VisitsOptions


class TapColumnsPlan(hw.Section):
    """Which column of the taps holds what."""

    person: str = Field(default="person", description="The column with whose tap it is.")
    stop: str = Field(default="stop", description="The column with the stop of the tap.")
    time: str = Field(default="time", description="The column with its time.")


class TapsPlan(hw.RowsPlan):
    """The protected rows."""

    taps: hw.Text = Field(
        description="CSV or Parquet; a file, a folder or a glob; or table:NAME of a warehouse."
    )
    clock: Literal["local", "utc"] = Field(
        default="local",
        description="Whether times are on the city's clock, or in UTC or with an offset.",
    )
    columns: TapColumnsPlan = TapColumnsPlan()


class StopsPlan(hw.Section):
    """The public list of stops."""

    file_options: ClassVar[tuple[str, ...]] = ("file",)

    file: hw.Text = Field(description="CSV or GeoJSON.")
    columns: hw.PlaceColumnsPlan = hw.PlaceColumnsPlan()


class VisitsPrivacyPlan(hw.LossPlan):
    """Who is protected, and how much may be lost."""

    unit: Literal[hw.Unit.PERSON, hw.Unit.DEVICE] = Field(
        default=hw.Unit.PERSON, description="Who is protected."
    )
    max_visits: int = Field(
        default=4,
        ge=1,
        le=1_000_000,
        description="The contribution limit: at most so many visits of a person, one for each stop "
        "and period, chosen at random.",
    )


class VisitsPlan(hw.AnyPlan):
    """A plan for a release of visits."""

    release_type: Literal["visits"] = Field(description="The release type.")
    data: TapsPlan
    stops: StopsPlan
    time: hw.TimePlan
    privacy: VisitsPrivacyPlan
    mechanism: Annotated[VisitsOptions, MECHANISMS] = TotalsOptions()
    problems: hw.ProblemsPlan = hw.ProblemsPlan()

    def named_tables(self) -> Iterator[hw.NamedTable]:
        """Yields the stops and the taps."""
        yield hw.NamedTable(
            option="stops.file",
            name=self.stops.file,
            columns=self.stops.columns.demanded("stops.columns"),
        )
        yield hw.NamedTable(
            option="data.taps",
            name=self.data.taps,
            columns={f"data.columns.{role}": name for role, name in self.data.columns},
            rows="taps",
        )

    def refuse_wrong_periods(self) -> None:
        """Refuses periods that make no sense."""
        _ = self.time.periods

    def disagreements(self) -> Iterator[str]:
        """Yields what tables of a plan, each right by itself, do not agree on."""
        if self.mechanism.noise == "gaussian" and self.privacy.delta is None:
            yield 'privacy.delta: is missing; mechanism.noise = "gaussian" needs it'
