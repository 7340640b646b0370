"""A release plan: everything a release depends on besides the rows, in one TOML file.

Paths are relative to the plan's own folder, so a plan can be moved together with its data. A key
that is not in the model is an error: a misspelt option must not silently fall back to a default.
"""

import os
import tomllib
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from hushway.errors import PlanError, PrivacyError
from hushway.privacy.loss import exact
from hushway.privacy.unit import Unit

_HOUR_MINUTES = 60
_DAY_HOURS = 24


def _exact_positive(value: Any) -> Fraction:
    try:
        number = exact(value)
    except PrivacyError:
        raise ValueError('must be a finite number, such as "0.5" or "1/3"') from None
    if number <= 0:
        raise ValueError("must be greater than 0")
    return number


def _minute_of_day(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    hours, colon, minutes = str(value).partition(":")
    if not (colon and hours.isdigit() and minutes.isdigit() and int(minutes) < _HOUR_MINUTES):
        raise ValueError("must be a time of day as HH:MM, from 00:00 to 24:00")
    if int(hours) > _DAY_HOURS:
        raise ValueError("must be a time of day as HH:MM, from 00:00 to 24:00")
    return int(hours) * _HOUR_MINUTES + int(minutes)


def _below_one(value: Fraction) -> Fraction:
    if value >= 1:
        raise ValueError("must be below 1, and far below one over the number of people")
    return value


Exact = Annotated[Fraction, BeforeValidator(_exact_positive)]
Delta = Annotated[Exact, AfterValidator(_below_one)]
MinuteOfDay = Annotated[int, BeforeValidator(_minute_of_day)]
Rule = Literal["drop", "refuse"]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class TripColumnsPlan(_Section):
    """Which column of the trips file holds what."""

    person: str | None = None
    origin: str = "origin"
    destination: str = "destination"
    time: str = "time"
    trip_id: str | None = None


class DataPlan(_Section):
    """The protected rows."""

    name: str = Field(min_length=1, description="The ledger's name of this data set.")
    trips: str = Field(min_length=1, description="CSV or Parquet; a file, a folder or a glob.")
    clock: Literal["wall", "instant"] = "wall"
    columns: TripColumnsPlan = TripColumnsPlan()


class PlaceColumnsPlan(_Section):
    """Which column of the locations file holds what."""

    id: str = "id"
    name: str | None = "name"
    lon: str = "lon"
    lat: str = "lat"
    zone: str | None = "zone"


class PlacesPlan(_Section):
    """The public list of locations."""

    file: str = Field(min_length=1, description="CSV or GeoJSON.")
    columns: PlaceColumnsPlan = PlaceColumnsPlan()
    same_place: bool = Field(
        default=False, description="Whether trips that end where they began have cells."
    )


class TimePlan(_Section):
    """The public window and its periods, on the agency's wall clock."""

    zone: str
    first_day: date
    last_day: date
    opens: MinuteOfDay = 0
    closes: MinuteOfDay = _DAY_HOURS * _HOUR_MINUTES
    minutes: int = Field(default=60, gt=0)


class PrivacyPlan(_Section):
    """Who is protected, and how much may be lost."""

    unit: Unit = Unit.PERSON
    max_trips: int = Field(default=1, ge=1, le=1_000_000)
    epsilon: Exact
    delta: Delta | None = None


class MechanismPlan(_Section):
    """How the counts are protected and published."""

    name: Literal["laplace"] = "laplace"
    form: Literal["auto", "dense", "sparse"] = "auto"
    expected_false: float = Field(default=100.0, gt=0, allow_inf_nan=False)


class ProblemsPlan(_Section):
    """What to do with rows that cannot be counted."""

    unknown_location: Rule = "drop"
    outside_window: Rule = "drop"
    null_value: Rule = "drop"
    unparsable_time: Rule = "refuse"
    impossible_time: Rule = "drop"
    same_place: Rule = "drop"
    duplicate_trip_id: Rule = "refuse"


class LedgerPlan(_Section):
    """Where the budget is kept."""

    url: str = "ledger.db"
    period: str = Field(min_length=1, description="The time the account covers, such as 2026-03.")


class ReleasePlan(_Section):
    """What is written, and who stands behind it."""

    folder: str = Field(min_length=1)
    title: str = Field(min_length=1)
    approver: str | None = None
    signing_key: str | None = None


class EnginePlan(_Section):
    """How much of this machine the counting may use."""

    memory_limit: str = "4GB"
    threads: int | None = Field(default=None, ge=1)
    temp_folder: str | None = None


class Plan(_Section):
    """A plan for an OD release."""

    family: Literal["od"]
    data: DataPlan
    places: PlacesPlan
    time: TimePlan
    privacy: PrivacyPlan
    mechanism: MechanismPlan = MechanismPlan()
    problems: ProblemsPlan = ProblemsPlan()
    ledger: LedgerPlan
    release: ReleasePlan
    engine: EnginePlan = EnginePlan()
    folder: Path = Field(default=Path(), exclude=True)

    @model_validator(mode="after")
    def _person_needs_a_column(self) -> "Plan":
        if self.privacy.unit is Unit.PERSON and self.data.columns.person is None:
            raise ValueError(
                'privacy.unit is "person", so data.columns.person must name the person\'s column '
                '(without one, only unit = "trip" is possible)'
            )
        return self

    def path(self, name: str) -> Path:
        """Returns a path of the plan, taken from the plan's own folder."""
        return self.folder / os.path.expanduser(name)  # noqa: PTH111  keeps globs as they are

    def ledger_url(self) -> str | Path:
        """Returns the ledger's address: a URL as it stands, a file from the plan's folder."""
        return self.ledger.url if "://" in self.ledger.url else self.path(self.ledger.url)


def load_plan(path: Path | str) -> Plan:
    """Reads and validates a plan.

    Raises:
        PlanError: The file is missing, is not TOML, or does not describe a release.
    """
    file = Path(path)
    try:
        facts = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise PlanError(
            f"There is no plan {file}.", advice="Write one with: hushway plan new od > plan.toml"
        ) from None
    except (OSError, UnicodeDecodeError):
        raise PlanError(
            f"The plan {file} cannot be read.", advice="Give a TOML text file in UTF-8."
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise PlanError(
            f"The plan {file} is not TOML: {error}.", advice="Put texts and fractions in quotes."
        ) from None
    return plan_from(facts, folder=file.parent)


def plan_from(facts: dict[str, Any], *, folder: Path) -> Plan:
    """Validates a plan given as plain values.

    Raises:
        PlanError: The values do not describe a release; the message lists every problem at once.
    """
    try:
        return Plan.model_validate({**facts, "folder": folder})
    except ValidationError as error:
        lines = [f"  {_where(found['loc'])}: {_what(found)}" for found in error.errors()]
        raise PlanError(
            "The plan does not describe a release:\n" + "\n".join(lines),
            advice="hushway plan new od prints a plan with every option explained.",
        ) from None


def _where(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location) or "plan"


def _what(found: Any) -> str:
    if found["type"] == "extra_forbidden":
        return "is not an option (is it misspelt?)"
    if found["type"] == "missing":
        return "is missing"
    return str(found["msg"]).removeprefix("Value error, ")
