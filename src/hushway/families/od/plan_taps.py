"""What an OD plan says of single taps, and of the journeys that are made of them."""

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from hushway.geography.locations import TAP_LABELS
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
    vehicle: str | None = Field(
        default=None,
        description="The column with the vehicle, by its vehicle_id in stop_visits or "
        "vehicle_locations: with the time it tells the stop.",
    )
    tap_id: str | None = Field(
        default=None,
        description="The column with an id of the tap: rows of one card that share it are one tap.",
    )
    action: str | None = Field(
        default=None,
        description="The column with what the tap was; without it, all are of people who get on.",
    )

    @model_validator(mode="after")
    def _somewhere(self) -> "TapColumnsPlan":
        if (self.lon is None) != (self.lat is None):
            raise ValueError("a point needs lon and lat")
        if all(each is None for each in (self.stop, self.lon, self.trip, self.vehicle)):
            raise ValueError(
                "taps need a column that says where: stop, lon and lat, trip, or vehicle"
            )
        return self


class TapsPlan(Section):
    """How journeys are made of taps: public rules, applied to the taps of one card at a time."""

    file_options: ClassVar[tuple[str, ...]] = ("timetable", "stop_visits", "vehicle_locations")

    timetable: Text | Texts = Field(
        description="A GTFS feed of the lines, a .zip file or a folder; or a list of feeds: of "
        "other days, or of other agencies whose ids differ."
    )
    stop_visits: Text | None = Field(
        default=None, description="A table stop_visits of TIDES: when vehicles came to stops."
    )
    vehicle_locations: Text | None = Field(
        default=None, description="A table vehicle_locations of TIDES: where vehicles were when."
    )
    columns: TapColumnsPlan
    count: Literal["journeys", "rides", "both"] = Field(
        default="journeys",
        description="Whether rides with transfers between them are counted as one, or each; or "
        "both: rides with their transfers, and journeys of several rides at places of their own.",
    )
    transfers: bool = Field(
        default=False,
        description="Whether rides begin and end at places of their own where people change, so "
        'that one release tells rides, transfers and the ends of journeys; for count = "rides".',
    )
    lines: bool = Field(
        default=False,
        description="Whether rides and journeys begin and end at places of their own for each line "
        "that the timetable has there, so that boardings and alightings are told by line.",
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
    longest_ride_minutes: int = Field(
        default=240,
        ge=1,
        le=1440,
        description="An exit that comes later than so long after an entry does not belong to it.",
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
        if self.transfers and self.count == "journeys":
            raise ValueError('transfers are told of rides: set count = "rides"')
        seen = [each for each in (self.stop_visits, self.vehicle_locations) if each is not None]
        if (self.columns.vehicle is not None) != bool(seen):
            raise ValueError(
                "columns.vehicle belongs to stop_visits or vehicle_locations, which need it"
            )
        return self

    @property
    def tells_transfers(self) -> bool:
        """Whether places where people change are told apart; else rides would hide journeys."""
        return self.transfers or self.count == "both"

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that places have besides those of their list."""
        return TAP_LABELS if self.tells_transfers or self.lines else ()

    @property
    def timetables(self) -> tuple[str, ...]:
        """The feeds."""
        return (self.timetable,) if isinstance(self.timetable, str) else self.timetable

    def wrong_clock(self, clock: str) -> bool:
        """Whether a clock and the columns do not agree on service dates."""
        return (clock == "service") != (self.columns.service_date is not None)
