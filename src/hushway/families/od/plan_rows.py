"""What an OD plan says of its trips, and of the public places that they join."""

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from hushway.release.plans.sections import PlaceListPlan, Section, TimedRowsPlan
from hushway.release.plans.values import Text


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
    date: str | None = Field(
        default=None, description="The column with its day, if its time is in a column of its own."
    )
    trip_id: str | None = Field(
        default=None,
        description="The column with an id of the trip: rows of one person that share it are one "
        "trip and count once; without a column of persons, all rows that share it.",
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


class DataPlan(TimedRowsPlan):
    """The protected rows."""

    trips: Text = Field(
        description="CSV or Parquet; a file, a folder or a glob; or table:NAME of a warehouse."
    )
    format: Literal["table", "mds", "tides", "taps"] = Field(
        default="table",
        description="Trips in columns of the plan's choice, MDS trips, TIDES fare transactions, or "
        "single taps, of which the section taps says more.",
    )
    columns: TripColumnsPlan = TripColumnsPlan()

    @model_validator(mode="after")
    def _standards_name_their_columns(self) -> "DataPlan":
        if self.format != "table" and "columns" in self.model_fields_set:
            raise ValueError(f'format = "{self.format}" names its own columns: leave them out')
        if self.format == "mds" and {"clock", "time_format", "encoding"} & self.model_fields_set:
            raise ValueError(
                'format = "mds" is JSON of instants: leave out clock, time_format and encoding'
            )
        return self

    @property
    def has_points(self) -> bool:
        """Whether trips have points for ends, not ids of places."""
        return self.format == "mds" or None not in self.columns.positions

    @model_validator(mode="after")
    def _service_dates_have_their_clock(self) -> "DataPlan":
        if self.format == "taps":  # Their columns are in a section of their own.
            return self
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


class PlacesPlan(PlaceListPlan):
    """The public list of locations, and public facts about pairs of them."""

    file_options: ClassVar[tuple[str, ...]] = ("file", "aliases", "areas", "pairs")

    file: Text | None = Field(default=None, description="CSV, GeoJSON or a GTFS feed.")
    areas: Text | None = Field(
        default=None, description="GeoJSON, GeoParquet or a shapefile, for trips with points."
    )
    area_columns: AreaColumnsPlan = AreaColumnsPlan()
    pairs: Text | None = Field(
        default=None, description="CSV or Parquet; one row a pair, for published totals."
    )
    pair_columns: PairColumnsPlan = PairColumnsPlan()
    group: Text | None = Field(
        default=None,
        description="A column of the file, or zone: all places of a label are one place.",
    )
    include_intrazonal: bool = Field(
        default=False, description="Whether trips that end where they began have cells."
    )

    @model_validator(mode="after")
    def _a_list_or_areas(self) -> "PlacesPlan":
        if (self.file is None) == (self.areas is None):
            raise ValueError("must name exactly one of file (a list of places) and areas")
        of_file = ("columns", "gtfs_places", "aliases")
        other = of_file if self.file is None else ("area_columns",)
        idle = [name for name in other if name in self.model_fields_set]
        if idle:
            raise ValueError(f"{idle[0]} belongs to a file that is not named")
        return self

    @model_validator(mode="after")
    def _groups_are_of_a_list(self) -> "PlacesPlan":
        if self.group is not None and (self.file is None or self.pairs is not None):
            raise ValueError("group needs file, and no pairs: these are pairs of single places")
        return self

    @model_validator(mode="after")
    def _pair_columns_need_a_table(self) -> "PlacesPlan":
        if self.pairs is None and "pair_columns" in self.model_fields_set:
            raise ValueError("pair_columns are columns of a table that pairs must name")
        return self
