"""Sequences of stops, as the rest of the product knows them."""

from pathlib import Path
from typing import Any

from hushway.release.compared import ComparedTable
from hushway.release.family import SEED, Example, PackagedFamily, Parts
from hushway.release.intake import PERSON, TIME, Intake

_CARDS = 150_000


class SequencesFamily(PackagedFamily):
    """Sequences of stops."""

    name = "sequences"
    title = "journeys of cards, stop by stop"
    contribution_limit = "max_records"
    guessed = "records"
    intake = Intake(
        rows="taps",
        columns={
            "person": PERSON,
            "place": (
                "place",
                "place_id",
                "station",
                "station_id",
                "stop",
                "stop_id",
                "location",
                "location_id",
            ),
            "time": TIME,
        },
        signs=("person", "place"),
        files={"places.file": "the public list of places"},
        left_out=("taxonomy.columns",),
    )
    compared = ComparedTable(
        file="sequences.parquet", keys=("sequence",), optional=("periods",), error=None
    )
    parts = Parts(
        plan="plan.SequencesPlan",
        prepare="job.prepare_sequences",
        invented_rows="study.invented_rows.invented_sequences",
        table="mechanism.table.SequenceTable",
        contents="files.contents.contents_of",
        check="files.contents.check_files_of",
        drawing="files.atlas.draw_sequences",
    )

    def limit_option(self, plan: Any) -> str | None:
        """Returns what a plan calls its contribution limit; all taps of a window are one record."""
        one = plan.data.taps is not None and plan.records.span == "window"
        return None if one else super().limit_option(plan)

    @property
    def tables(self) -> tuple[type, ...]:
        """Trees of prefixes, and records that were learnt."""
        from hushway.families.sequences.mechanism.record_table import RecordTable

        return (self.table, RecordTable)

    def example(self, folder: Path) -> Example:
        """Writes a day of a synthetic metro's cards."""
        from hushway.families.sequences.city.cards import metro

        city = metro(SEED, records=_CARDS)
        city.write(folder)
        return Example(title="Journeys by card: a synthetic metro", rows=f"{len(city):,} cards")
