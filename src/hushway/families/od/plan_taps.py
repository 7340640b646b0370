"""What an OD plan says of single taps, and of the journeys that are made of them."""

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from hushway.release.plans.sections import Section
from hushway.release.plans.values import MinuteOfDay, Text, Texts


class TapColumnsPlan(Section):
    """Which column of the taps holds what."""

    person: str = Field(description="The column with the card, or the token of a payment card.")
    time: str = Field(default="time", description="The column with the time of the tap.")
    date: str | None = Field(
        default=None, description="The column with its day, if its time is in a column of its own."
    )
    service_date: str | None = Field(
        default=None, description='The column with the service date, for clock = "service".'
    )
    stop: str | None = Field(
        default=None, description="The column with the stop, by its stop_id in the timetable."
    )
    lon: str | None = Field(
        default=None, description="The column with the longitude of the tap, for want of a stop."
    )
    lat: str | None = Field(default=None, description="The column with its latitude.")
    line: str | None = Field(
        default=None, description="The column with the line, by its route_id in the timetable."
    )
    trip: str | None = Field(
        default=None,
        description="The column with the trip of the vehicle, by its trip_id in the timetable: "
        "tells the line, and with the time the stop.",
    )
    action: str | None = Field(
        default=None,
        description="The column with what the tap was; without it, all are of people who get on.",
    )

    @model_validator(mode="after")
    def _somewhere(self) -> "TapColumnsPlan":
        if (self.lon is None) != (self.lat is None):
            raise ValueError("a point needs lon and lat")
        if self.stop is None and self.lon is None and self.trip is None:
            raise ValueError("taps need a column that says where: stop, lon and lat, or trip")
        return self


class TapsPlan(Section):
    """How journeys are made of taps: public rules, applied to the taps of one card at a time."""

    file_options: ClassVar[tuple[str, ...]] = ("timetable",)

    timetable: Text = Field(description="A GTFS feed of the lines: a .zip file or a folder.")
    columns: TapColumnsPlan
    count: Literal["journeys", "rides"] = Field(
        default="journeys",
        description="Whether rides with transfers between them are counted as one, or each.",
    )
    entries: Texts = Field(
        default=(),
        description="What the column action says of people who get on; all but exits, if left out.",
    )
    exits: Texts = Field(default=(), description="What it says of people who get off.")
    walk_m: int = Field(
        default=1000,
        ge=1,
        le=5000,
        description="How far people walk between getting off and getting on, in metres.",
    )
    transfer_minutes: int = Field(
        default=30,
        ge=1,
        le=240,
        description="How long a transfer takes at most, after getting off by the timetable.",
    )
    together_seconds: int = Field(
        default=120,
        ge=0,
        le=3600,
        description="Taps of one card at one stop and line within so long are people who travel "
        "together.",
    )
    day_begins: MinuteOfDay = Field(default=180, description="When a service day begins, as HH:MM.")

    @model_validator(mode="after")
    def _actions_have_a_column(self) -> "TapsPlan":
        if (self.entries or self.exits) and self.columns.action is None:
            raise ValueError("entries and exits are what a column says: name columns.action")
        return self
