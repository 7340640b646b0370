"""The tables of a plan that do not depend on the mechanism."""

import os
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from hushway.privacy.certificate.tuning import Tuning
from hushway.privacy.unit import Unit
from hushway.release.plan_values import (
    DAY_HOURS,
    HOUR_MINUTES,
    Day,
    Delta,
    Exact,
    MinuteOfDay,
    Section,
    Text,
)

Rule = Literal["drop", "refuse"]


class TripColumnsPlan(Section):
    """Which column of the trips file holds what."""

    person: str | None = None
    origin: str = "origin"
    destination: str = "destination"
    time: str = "time"
    trip_id: str | None = None


class DataPlan(Section):
    """The protected rows."""

    name: Text = Field(description="The ledger's name of this data set.")
    trips: Text = Field(description="CSV or Parquet; a file, a folder or a glob.")
    clock: Literal["wall", "instant"] = "wall"
    columns: TripColumnsPlan = TripColumnsPlan()


class PlaceColumnsPlan(Section):
    """Which column of the locations file holds what."""

    id: str = "id"
    name: str | None = "name"
    lon: str = "lon"
    lat: str = "lat"
    zone: str | None = "zone"


class PairColumnsPlan(Section):
    """Which columns of the table of pairs hold the ids of the places."""

    origin: str = "origin"
    destination: str = "destination"


class PlacesPlan(Section):
    """The public list of locations, and public facts about pairs of them."""

    named_files: ClassVar[tuple[str, ...]] = ("file", "pairs")

    file: Text = Field(description="CSV or GeoJSON.")
    columns: PlaceColumnsPlan = PlaceColumnsPlan()
    pairs: Text | None = Field(
        default=None, description="CSV or Parquet; one row a pair, for features."
    )
    pair_columns: PairColumnsPlan = PairColumnsPlan()
    same_place: bool = Field(
        default=False, description="Whether trips that end where they began have cells."
    )

    @model_validator(mode="after")
    def _pair_columns_need_a_table(self) -> "PlacesPlan":
        if self.pairs is None and "pair_columns" in self.model_fields_set:
            raise ValueError("pair_columns are columns of a table that pairs must name")
        return self


class TimePlan(Section):
    """The public window and its periods, on the agency's wall clock."""

    zone: Text
    first_day: Day
    last_day: Day
    opens: MinuteOfDay = 0
    closes: MinuteOfDay = DAY_HOURS * HOUR_MINUTES
    minutes: int = Field(default=60, gt=0)
    cycle: Literal["day", "week"] = "day"


class PrivacyPlan(Section):
    """Who is protected, and how much may be lost."""

    unit: Literal[Unit.PERSON, Unit.DEVICE, Unit.TRIP] = Unit.PERSON
    max_trips: int = Field(default=1, ge=1, le=1_000_000)
    epsilon: Exact
    delta: Delta | None = None


class ProblemsPlan(Section):
    """What to do with rows that cannot be counted."""

    unknown_location: Rule = "drop"
    outside_window: Rule = "drop"
    null_value: Rule = "drop"
    unparsable_time: Rule = "drop"
    malformed_row: Rule = "drop"
    impossible_time: Rule = "drop"
    same_place: Rule = "drop"
    duplicate_trip_id: Rule = "drop"


class LedgerPlan(Section):
    """Where the budget is kept."""

    url: Text = "ledger.db"
    period: Text = Field(description="The time the account covers, such as 2026-03.")


class ReleasePlan(Section):
    """What is written, and who stands behind it."""

    named_files: ClassVar[tuple[str, ...]] = ("signing_key",)

    folder: Text
    title: Text
    approver: Text | None = None
    parameters_chosen: Annotated[Tuning, Field(strict=False)] = Field(
        default=Tuning.NOT_STATED,
        description="Whether the protected rows were looked at: the approver's word.",
    )
    signing_key: Text | None = None

    @model_validator(mode="after")
    def _somebody_states_it(self) -> "ReleasePlan":
        if self.parameters_chosen is Tuning.WITHOUT_THESE_ROWS and self.approver is None:
            raise ValueError(
                'parameters_chosen = "without these rows" is for an approver to state: name one'
            )
        return self


class EnginePlan(Section):
    """How much of this machine the counting may use."""

    memory_limit: Text = "4GB"
    threads: int | None = Field(default=None, ge=1)
    temp_folder: Text | None = None
    encrypt_spills: bool | None = Field(
        default=None,
        description="Whether rows that do not fit into memory are encrypted on disk; if that is "
        "possible, unless said.",
    )


class AnyPlan(Section):
    """What plans of all families have."""

    ledger: LedgerPlan
    release: ReleasePlan
    engine: EnginePlan = EnginePlan()
    folder: Path = Field(default=Path(), exclude=True)

    def path(self, name: str) -> Path:
        """Returns a path of the plan, taken from the plan's own folder."""
        return self.folder / os.path.expanduser(name)  # noqa: PTH111  keeps globs as they are

    def ledger_url(self) -> str | Path:
        """Returns the ledger's address: a URL as it stands, a file from the plan's folder."""
        return self.ledger.url if "://" in self.ledger.url else self.path(self.ledger.url)
