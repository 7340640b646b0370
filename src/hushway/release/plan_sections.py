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


class PlaceColumnsPlan(Section):
    """Which column of the locations file holds what."""

    id: str = "id"
    name: str | None = "name"
    lon: str = "lon"
    lat: str = "lat"
    zone: str | None = "zone"


class TimePlan(Section):
    """The public window and its periods, on the agency's wall clock."""

    zone: Text
    first_day: Day
    last_day: Day
    opens: MinuteOfDay = 0
    closes: MinuteOfDay = DAY_HOURS * HOUR_MINUTES
    minutes: int = Field(default=60, gt=0)
    cycle: Literal["day", "week"] = "day"


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


class RowsPlan(Section):
    """What plans of all families say about the protected rows."""

    name: Text = Field(description="The ledger's name of this data set.")


class LossPlan(Section):
    """What plans of all families say about the promise."""

    unit: Unit
    epsilon: Exact
    delta: Delta | None = None


class AnyPlan(Section):
    """What plans of all families have."""

    family: str
    data: RowsPlan
    privacy: LossPlan
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
