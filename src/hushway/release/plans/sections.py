"""The tables of a plan that do not depend on the mechanism."""

import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hushway.geography.periods import Periods
from hushway.privacy.accounting import budget_limit_for, is_large, usual_delta
from hushway.privacy.bound import Unit
from hushway.privacy.ledger.span import MOST_STEPS, Span, Step
from hushway.privacy.loss import Loss, PureLoss
from hushway.privacy.tuning import Tuning
from hushway.release.plans.missing import NamedTable
from hushway.release.plans.values import (
    DAY_HOURS,
    HOUR_MINUTES,
    Contact,
    Day,
    Delta,
    Exact,
    Licence,
    MinuteOfDay,
    PartOrAll,
    Text,
    Texts,
    TimeFormat,
    number_of,
)
from hushway.tables.encodings import Encoding
from hushway.tables.row_files import table_of
from hushway.tables.time_format import has_instants

# The version of the language of plans. Whoever changes what a key means, or takes one away, counts
# on, and says in `hushway.families.load` what to change in a plan of the version before.
PLAN_VERSION = 1


class Section(BaseModel):
    """A table of a plan.

    Values are of the types that they are meant to be: `true` is no number, 1 is no truth, "7" is
    no 7. What a plan says must not depend on how somebody's library turns one into the other.

    Attributes:
        file_options: The options that name files which must be there before anything is read.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", arbitrary_types_allowed=True, strict=True, allow_inf_nan=False
    )
    file_options: ClassVar[tuple[str, ...]] = ()


Rule = Literal["drop", "refuse"]


class PlaceColumnsPlan(Section):
    """Which column of the locations file holds what."""

    id: str = Field(default="id", description="The column with the id of a place, as rows name it.")
    name: str | None = Field(
        default="name", description="The column with its name, if there is one."
    )
    lon: str = Field(default="lon", description="The column with its longitude, in WGS84 degrees.")
    lat: str = Field(default="lat", description="The column with its latitude, in WGS84 degrees.")
    zone: str | None = Field(
        default="zone", description="The column with its zone, if there is one."
    )

    def demanded(self, option: str) -> dict[str, str]:
        """Returns the columns that must be there, by option.

        A file without names or zones is fine, unless the plan says what their column is called.
        """
        usual = type(self)()
        needed = {"id", "lon", "lat"}
        return {
            f"{option}.{purpose}": column
            for purpose, column in self
            if column is not None and (purpose in needed or column != getattr(usual, purpose))
        }


class PlaceListPlan(Section):
    """A public list of places, and how rows name them."""

    file_options: ClassVar[tuple[str, ...]] = ("file", "aliases")

    columns: PlaceColumnsPlan = PlaceColumnsPlan()
    gtfs_places: Literal["stations", "stops"] = Field(
        default="stations",
        description="What places of a GTFS feed are: stations, by whose stops rows may name them, "
        "or stops.",
    )
    aliases: Text | None = Field(
        default=None,
        description="CSV with the columns name and place: further names that rows use, which are "
        "not published.",
    )


class NoAverages(Section):
    """A window of a release type that has no average day."""

    @model_validator(mode="before")
    @classmethod
    def _no_average(cls, facts: Any) -> Any:
        if isinstance(facts, dict) and "publish" in facts:
            raise ValueError(
                "publish belongs to OD tables and densities: other release types have no average "
                "day"
            )
        return facts


class DaysPlan(NoAverages):
    """The public window of days and its hours, on the city's wall clock."""

    zone: Text = Field(description="The time zone of the clock, an IANA name such as Europe/Paris.")
    first_day: Day = Field(description="The first day of the public window.")
    last_day: Day = Field(description="The last day of the public window, included.")
    opens: MinuteOfDay = Field(
        default=0, description="When the first period of a day begins, as HH:MM."
    )
    closes: MinuteOfDay = Field(
        default=DAY_HOURS * HOUR_MINUTES,
        description="When the last period of a day ends, as HH:MM; 24:00 is midnight.",
    )


class TimePlan(DaysPlan):
    """The public window and its periods, on the agency's wall clock."""

    minutes: int = Field(default=60, gt=0, description="Length of a period in minutes.")
    cycle: Literal["day", "week"] = Field(
        default="day", description="Whether all days are counted together, or weekdays apart."
    )

    @property
    def periods(self) -> Periods:
        """The periods."""
        return Periods(**self.model_dump())


class SeriesPlan(Section):
    """Releases step by step, with one budget for every span of so many consecutive steps."""

    step: Step = Field(description="What one step is; weeks begin on Mondays.")
    this: Text = Field(
        description="The step that is published, such as 2026-04, 2026-W18, 2026-Q2 or 2026-04-30; "
        "--step says another. It sets time.first_day and time.last_day, and stands for {step} in "
        "every text of the plan."
    )
    steps_per_span: int = Field(ge=1, le=MOST_STEPS, description="How many steps one span has.")
    budget: Exact = Field(
        description="How much one of those protected may lose in any span, as an epsilon; at "
        "privacy.delta, kept as a rho, if the plan has one. What one step spends is "
        "privacy.epsilon."
    )
    learn_from: Text | None = Field(
        default=None,
        description="A folder that holds the releases of earlier steps: the fit learns from their "
        "noisy answers, which costs nothing. Tables of trips and sequences by mechanism learned, "
        "densities and links do; nothing is learnt if left out.",
    )

    @property
    def span(self) -> Span:
        """The span that the budget is for."""
        return Span(step=self.step, steps=self.steps_per_span)


class LedgerPlan(Section):
    """Where the budget is kept."""

    url: Text = Field(
        default="ledger.db",
        description="A file, or postgresql://user@host/database for a shared ledger; "
        "HUSHWAY_LEDGER if left out.",
    )
    period: Text = Field(description="The time the account covers, such as 2026-03.")


class ReleasePlan(Section):
    """What is written, and who stands behind it."""

    file_options: ClassVar[tuple[str, ...]] = ("signing_key", "ground")

    folder: Text = Field(description="Where the release folder appears.")
    title: Text = Field(description="What the release is called.")
    publisher: Text | None = Field(default=None, description="Who publishes the release.")
    contact: Contact | None = Field(
        default=None, description="Where readers may ask: a mail address or a web address."
    )
    licence: Licence | None = Field(
        default=None, description="A name of the SPDX list, such as CC-BY-4.0, or a web address."
    )
    region: Text | None = Field(default=None, description="Which part of the world it is about.")
    intended_use: Text | None = Field(default=None, description="What the release is meant for.")
    approver: Text | None = Field(default=None, description="Who answers for the release.")
    parameters_chosen: Annotated[Tuning, Field(strict=False)] = Field(
        default=Tuning.NOT_STATED,
        description="Whether the protected rows were looked at: the approver's word.",
    )
    signing_key: Text | None = Field(
        default=None, description="The private key that signs it, made by hushway keys new."
    )
    noisy_answers: bool = Field(
        default=True,
        description="Whether the release holds its noisy answers, below 32 MB, so that anybody can "
        "fit it again and later releases learn from it.",
    )
    ground: Texts = Field(
        default=(),
        description="Public files that are drawn under its map, simplified into the release: "
        "GeoJSON, GeoPackage, a shapefile, an OpenStreetMap extract, vector tiles (PMTiles), a "
        "GTFS feed or a GMNS folder.",
    )

    @model_validator(mode="after")
    def _somebody_states_it(self) -> "ReleasePlan":
        if self.parameters_chosen is Tuning.WITHOUT_THESE_ROWS and self.approver is None:
            raise ValueError(
                'parameters_chosen = "without these rows" is for an approver to state: name one'
            )
        return self


class EnginePlan(Section):
    """Where rows are read and counted, and how much of the machine that may use."""

    kind: Literal["duckdb", "spark", "warehouse"] = Field(
        default="duckdb",
        description="duckdb to read and count on this machine, spark to do it on a cluster, "
        "warehouse to read a table of a database; HUSHWAY_ENGINE_KIND if left out.",
    )
    url: Text | None = Field(
        default=None,
        repr=False,
        description="The address of the warehouse, such as postgres://user@host/database; "
        "HUSHWAY_ENGINE_URL if left out.",
    )
    master: Text | None = Field(
        default=None,
        description="The address of the Spark cluster, such as spark://host:7077; the Spark "
        "session of this process, or HUSHWAY_ENGINE_MASTER, if left out.",
    )
    parts: int | None = Field(
        default=None,
        ge=1,
        description="Into how many parts a cluster divides people; as many as its rows need, if "
        "left out. The counts are the same for any number.",
    )
    memory_limit: Text = Field(
        default="4GB",
        description="How much memory counting may use, on a cluster each task of it, such as 4GB; "
        "HUSHWAY_ENGINE_MEMORY_LIMIT if left out.",
    )
    threads: int | None = Field(
        default=None,
        ge=1,
        description="How many threads count; HUSHWAY_ENGINE_THREADS, or all processors, if left "
        "out.",
    )
    temp_folder: Text | None = Field(
        default=None,
        description="Where rows go that do not fit into memory; HUSHWAY_ENGINE_TEMP_FOLDER if "
        "left out.",
    )
    encrypt_spills: bool | None = Field(
        default=None,
        description="Whether rows that do not fit into memory are encrypted on disk. With true, "
        "counting is refused without hushway[encrypted-spills]; if left out, they are encrypted "
        "where that is installed.",
    )

    @model_validator(mode="after")
    def _has_a_cluster(self) -> "EnginePlan":
        if self.kind != "spark" and (self.master is not None or self.parts is not None):
            raise ValueError('master and parts belong to a cluster: set kind = "spark"')
        return self

    @model_validator(mode="after")
    def _has_an_address(self) -> "EnginePlan":
        if self.kind == "warehouse" and self.url is not None and "://" not in self.url:
            raise ValueError(
                "url must be the address of a warehouse, such as postgres://user@host/database"
            )
        if self.kind != "warehouse" and self.url is not None:
            raise ValueError('url belongs to a warehouse: set kind = "warehouse"')
        return self


class RowsPlan(Section):
    """What plans of all families say about the protected rows."""

    name: Text = Field(description="The ledger's name of this data set.")


class TimedRowsPlan(RowsPlan):
    """What plans say about protected rows with times."""

    clock: Literal["local", "utc", "service"] = Field(
        default="local",
        description="Whether times are on the city's clock, in UTC or with an offset, or hours of "
        "a service date, such as 25:30.",
    )
    time_format: TimeFormat | None = Field(
        default=None,
        description='How times are written, such as "%d/%m/%Y %H:%M"; epoch_s or epoch_ms for '
        "seconds or milliseconds since 1970; ISO 8601 if left out.",
    )
    encoding: Encoding = Field(
        default="utf-8",
        description="How bytes of CSV files stand for letters; windows-1252 is for Latin-1 too.",
    )

    @model_validator(mode="after")
    def _instants_have_their_clock(self) -> "TimedRowsPlan":
        if has_instants(self.time_format) and self.clock != "utc":
            raise ValueError('time_format tells instants, which need clock = "utc"')
        if self.time_format is not None and self.clock == "service":
            raise ValueError('clock = "service" has hours such as 25:30: leave out time_format')
        return self


class ClockedRowsPlan(TimedRowsPlan):
    """The same where rows tell no hours of a service date."""

    clock: Literal["local", "utc"] = Field(
        default="local",
        description="Whether times are on the city's clock, or in UTC or with an offset.",
    )


class LossPlan(Section):
    """What plans of all families say about the guarantee."""

    unit: Annotated[Unit, Field(strict=False)] = Field(description="Who is protected.")
    epsilon: Exact = Field(
        description='How much one of them may lose, in quotes: read exactly as written, "0.1" or '
        '"1/3".'
    )
    delta: Delta | None = Field(
        default=None,
        description="What Gaussian noise needs: far below one over the number of people.",
    )
    people: int | None = Field(
        default=None,
        ge=1,
        description="How many people the rows may be about, as far as that is public; never a "
        "count of the rows. A delta above one over it is a large one.",
    )
    large_delta: bool = Field(
        default=False,
        description="Whether a delta above 1e-5, or above one over the people, is meant. With that "
        "chance everything about somebody may show; certificate, page and label say LARGE DELTA.",
    )

    @model_validator(mode="after")
    def _large_delta_is_meant(self) -> Self:
        large = self.delta is not None and is_large(self.delta, self.people)
        if large and not self.large_delta:
            raise ValueError(
                f"delta: is above {number_of(usual_delta(self.people))}, the largest that is usual "
                "(1e-5, or one over privacy.people): with that chance everything about somebody "
                "may show. Choose a smaller one, or say that it is meant: large_delta = true"
            )
        if self.large_delta and not large:
            raise ValueError("large_delta: is true, and no delta here is a large one: leave it out")
        return self


class ProblemsPlan(Section):
    """What to do with rows that cannot be counted."""

    unknown_place: Rule = Field(
        default="drop", description="Rows at places that are not in the public list."
    )
    outside_window: Rule = Field(default="drop", description="Rows at times outside the window.")
    null_value: Rule = Field(default="drop", description="Rows without a value that they need.")
    unparsable_time: Rule = Field(default="drop", description="Rows whose time cannot be read.")
    malformed_row: Rule = Field(
        default="drop",
        description="Lines of a CSV file with too many or too few fields, with quotes that do not "
        "close within the line, or not in their encoding.",
    )
    impossible_time: Rule = Field(
        default="drop", description="Rows at a time of the wall clock that daylight saving skipped."
    )
    most_dropped: PartOrAll = Field(
        default=Fraction(1, 2),
        description="The largest share of rows that may be dropped; beyond, nothing is published.",
    )


class PositionProblemsPlan(ProblemsPlan):
    """What to do with rows that cannot be counted."""

    impossible_position: Rule = Field(
        default="drop", description="Rows whose position is not on earth."
    )


class AnyPlan(Section):
    """What plans of all families have."""

    version: int = Field(
        default=PLAN_VERSION, description="The version of the language that the plan is written in."
    )
    release_type: str = Field(description="The release type.")
    data: RowsPlan
    privacy: LossPlan
    series: SeriesPlan | None = None
    ledger: LedgerPlan
    release: ReleasePlan
    engine: EnginePlan = EnginePlan()
    folder: Path = Field(default=Path(), exclude=True)

    def __repr__(self) -> str:
        """Returns the plan in one line."""
        return (
            f"<{self.release_type} plan {self.release.title!r}: epsilon {self.privacy.epsilon} per "
            f"{self.privacy.unit}, in {str(self.folder)!r}>"
        )

    @model_validator(mode="after")
    def _tables_agree(self) -> Self:
        problems = list(self.disagreements())
        if problems:
            raise ValueError("\n".join(problems))
        return self

    def disagreements(self) -> Iterator[str]:
        """Yields what tables of the plan, each right by itself, do not agree on."""
        yield from ()

    @property
    def span_limit(self) -> Loss | None:
        """The budget of a span of a series, in the currency of its account; None if it is none."""
        if self.series is None:
            return None
        budget, delta = self.series.budget, self.privacy.delta
        return PureLoss(budget) if delta is None else budget_limit_for(budget, delta)

    def named_files(self) -> Iterator[tuple[str, Path]]:
        """Yields the public files that must be there, also those that nothing would read.

        The protected rows are left to those who know their folders and patterns.
        """
        for table in type(self).model_fields:
            section = getattr(self, table)
            if isinstance(section, Section):
                for option in section.file_options:
                    named = getattr(section, option)
                    for name in (named,) if isinstance(named, str) else named or ():
                        yield f"{table}.{option}", self.path(name)

    def named_tables(self) -> Iterator[NamedTable]:
        """Yields the tables whose columns the plan names, public and protected."""
        yield from ()

    def refuse_wrong_periods(self) -> None:
        """Refuses periods that make no sense, by public facts alone."""

    def path(self, name: str) -> Path:
        """Returns a path of the plan, taken from the plan's own folder."""
        return self.folder / os.path.expanduser(name)  # noqa: PTH111  keeps globs as they are

    def rows_path(self, name: str) -> Path | str:
        """Returns where protected rows are: a path as `path` does, a table as it is named."""
        return self.path(name) if table_of(name) is None else name

    def ledger_url(self) -> str | Path:
        """Returns the ledger's address: a URL as it stands, a file from the plan's folder."""
        return self.ledger.url if "://" in self.ledger.url else self.path(self.ledger.url)
