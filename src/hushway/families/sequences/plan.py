"""The plan of a sequences release, and what its tables must agree on."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from hushway.families.sequences.mechanism.catalogue import MECHANISMS, SequencesOptions
from hushway.privacy.bound import Unit
from hushway.release.plans.missing import NamedTable
from hushway.release.plans.sections import (
    AnyPlan,
    ClockedRowsPlan,
    LossPlan,
    PlaceListPlan,
    ProblemsPlan,
    Section,
    TimePlan,
)
from hushway.release.plans.values import Text, Texts

_ZONE = "zone"


class SequenceColumnsPlan(Section):
    """Which column holds what: place and time of taps, or the stops of ready sequences."""

    person: str | None = Field(
        default=None, description="The column with whose tap or sequence it is."
    )
    place: str = Field(default="place", description="The column with the place of a tap.")
    time: str = Field(default="time", description="The column with its time.")
    date: str | None = Field(
        default=None, description="The column with its day, if its time is in a column of its own."
    )
    stops: str = Field(
        default="stops",
        description="The column with the stops of a ready sequence, as a list or as text.",
    )


class SequencesDataPlan(ClockedRowsPlan):
    """The protected rows: taps, or sequences that somebody has put together already."""

    taps: Text | None = Field(
        default=None, description="CSV or Parquet, or table:NAME of a warehouse."
    )
    sequences: Text | None = Field(
        default=None, description="CSV or Parquet, or table:NAME of a warehouse."
    )
    separator: str = Field(default=" ", min_length=1, description="Between stops in a text.")
    columns: SequenceColumnsPlan = SequenceColumnsPlan()

    @model_validator(mode="after")
    def _one_kind(self) -> "SequencesDataPlan":
        if (self.taps is None) == (self.sequences is None):
            raise ValueError("must name exactly one of taps and sequences")
        if self.taps is not None and self.columns.person is None:
            raise ValueError("columns.person must name whose taps they are")
        return self


class StationsPlan(PlaceListPlan):
    """The public list of locations."""

    file: Text = Field(description="CSV, GeoJSON or a GTFS feed.")
    group: Text | None = Field(
        default=None,
        description="A column of the file, or zone: all places of a label are one place.",
    )


class TaxonomyPlan(Section):
    """The public groups of locations: one way to make them, or none at all."""

    file_options: ClassVar[tuple[str, ...]] = ("gtfs",)

    columns: Texts = Field(
        default=(), description="Columns of the places that group them, the coarsest first."
    )
    gtfs: Text | None = Field(
        default=None, description="A GTFS feed whose routes group the places."
    )
    fan_out: int | None = Field(
        default=None,
        ge=2,
        description="Groups of so many neighbours, cut from the coordinates by a public rule.",
    )

    @model_validator(mode="after")
    def _at_most_one(self) -> "TaxonomyPlan":
        if sum((bool(self.columns), self.gtfs is not None, self.fan_out is not None)) > 1:
            raise ValueError("must name at most one of columns, gtfs and fan_out")
        return self


class RecordsPlan(Section):
    """What one record is, and how much of it counts."""

    span: Literal["day", "window"] = Field(
        default="day",
        description="Whether a record is what a person did in a day, or in the whole window.",
    )
    max_stops: int | None = Field(
        default=None, ge=1, le=200, description="So many stops of a record count, the first ones."
    )
    mean_stops: float | None = Field(
        default=None,
        ge=1,
        allow_inf_nan=False,
        description="Instead of height: a public guess of a record's stops, which decides on it.",
    )
    times: bool = Field(
        default=False,
        description="Whether stops keep their periods, for which there is much more noise to beat.",
    )

    @model_validator(mode="after")
    def _one_height(self) -> "RecordsPlan":
        if self.max_stops is not None and self.mean_stops is not None:
            raise ValueError(
                "mean_stops is a guess that max_stops follows from: give one of the two"
            )
        return self


class SequencesPrivacyPlan(LossPlan):
    """Who is protected, and how much may be lost."""

    unit: Literal[Unit.PERSON, Unit.DEVICE, Unit.RECORD] = Field(
        default=Unit.PERSON, description="Who is protected."
    )
    max_records: Annotated[int, Field(ge=1, le=1_000_000)] | Literal["auto"] = Field(
        default="auto",
        description="The contribution limit: at most so many records of a person are counted, "
        "chosen at random; auto measures how many records people have, and chooses.",
    )


class SequencesPlan(AnyPlan):
    """A plan for a release of sequences."""

    release_type: Literal["sequences"] = Field(description="The release type.")
    data: SequencesDataPlan
    places: StationsPlan
    taxonomy: TaxonomyPlan = TaxonomyPlan()
    time: TimePlan | None = None
    records: RecordsPlan = RecordsPlan()
    privacy: SequencesPrivacyPlan
    mechanism: Annotated[SequencesOptions, MECHANISMS] | None = Field(
        default=None, description='"learned", where it is possible; "prefix_tree" elsewhere.'
    )
    problems: ProblemsPlan = ProblemsPlan()

    def named_tables(self) -> Iterator[NamedTable]:
        """Yields the locations, and the taps or the sequences."""
        groups = {
            f"taxonomy.columns[{place}]": column
            for place, column in enumerate(self.taxonomy.columns)
            if column != _ZONE
        }
        if self.places.group not in (None, _ZONE):
            groups["places.group"] = self.places.group
        yield NamedTable(
            option="places.file",
            name=self.places.file,
            columns={**self.places.columns.demanded("places.columns"), **groups},
        )
        data, columns = self.data, self.data.columns
        kind = "sequences" if data.taps is None else "taps"
        used = {"person", "stops"} if data.taps is None else {"person", "place", "time"}
        yield NamedTable(
            option=f"data.{kind}",
            name=data.taps or data.sequences or "",
            columns={
                f"data.columns.{role}": name for role, name in columns if name and role in used
            },
            rows=kind,
        )

    def refuse_wrong_periods(self) -> None:
        """Refuses periods that make no sense."""
        if self.time is not None:
            _ = self.time.periods

    def disagreements(self) -> Iterator[str]:
        """Yields what tables of a plan, each right by itself, do not agree on."""
        if self.data.taps is not None and self.time is None:
            yield "time: is missing; taps need a window of days"
        if self.data.sequences is not None and self.records.times:
            yield "records.times: ready sequences have no times; give taps instead"
        if self.places.group is not None and (self.taxonomy.columns or self.taxonomy.gtfs):
            yield "taxonomy: groups single places, which places.group joins"
        unit = self.privacy.unit
        if unit.has_many_records and self.data.columns.person is None:
            yield (
                f'privacy.unit: is "{unit}", so data.columns.person must name the column of its '
                'ids (without one, only unit = "record" is possible)'
            )
        if self.privacy.max_records not in (1, "auto"):
            if not unit.has_many_records:
                yield 'privacy.max_records: has no meaning with unit = "record", which counts once'
            elif self.data.taps is not None and self.records.span == "window":
                yield (
                    'privacy.max_records: has no meaning with records.span = "window", where all '
                    f"taps of a {unit} are one record"
                )
        if self.mechanism is not None:
            yield from self.mechanism.disagreements(self)

    @property
    def most_records(self) -> int | None:
        """How many records one unit can have, by public facts; None if these do not say."""
        if not self.privacy.unit.has_many_records:
            return 1
        if self.data.taps is None or self.time is None:
            return None
        return 1 if self.records.span == "window" else len(self.time.periods.days)

    @property
    def record_limit(self) -> int | None:
        """How many records of a unit count; None if that is to be chosen."""
        given, most = self.privacy.max_records, self.most_records
        if given == "auto":
            return 1 if most == 1 else None
        return given if most is None else min(given, most)

    @property
    def leaves_out(self) -> bool:
        """Whether somebody may have more records than count."""
        limit, most = self.record_limit, self.most_records
        return limit is None or most is None or most > limit
