"""Sequences of stops, as the rest of the product knows them."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hushway.release.family import SEED, Example, Family

if TYPE_CHECKING:
    from hushway.audit.suite import Suite
    from hushway.families.sequences.plan import SequencesPlan
    from hushway.privacy.certificate import Certificate
    from hushway.release.finding import Notes
    from hushway.release.job import Job
    from hushway.release.published_file import Contents, Description

_CARDS = 150_000


class SequencesFamily(Family):
    """Sequences of stops."""

    name = "sequences"
    title = "journeys of cards, stop by stop"

    @property
    def plan(self) -> "type[SequencesPlan]":
        """The model of its plans."""
        from hushway.families.sequences.plan import SequencesPlan

        return SequencesPlan

    def prepare(self, plan: "SequencesPlan") -> "Job":
        """Reads the public files of a plan and sets up its mechanism."""
        from hushway.families.sequences.job import prepare_sequences

        return prepare_sequences(plan)

    @property
    def table(self) -> type:
        """The class of what its mechanisms publish."""
        from hushway.families.sequences.mechanism.table import SequenceTable

        return SequenceTable

    def contents(self, table: Any) -> "Contents":
        """Returns a published table as files that can be written."""
        from hushway.families.sequences.files.check import SequencesContents

        return SequencesContents(table)

    def facts_fit(self, facts: Mapping[str, Any]) -> bool:
        """Whether the facts of a data package are enough to read its files."""
        from hushway.families.sequences.files.published import facts_fit

        return facts_fit(facts)

    def check(
        self, notes: "Notes", folder: Path, certificate: "Certificate", facts: Mapping[str, Any]
    ) -> "Description | None":
        """Checks the files of a release."""
        from hushway.families.sequences.files.check import check_sequences

        return check_sequences(notes, folder, certificate, facts)

    @property
    def suite(self) -> "Suite[Any]":
        """Its audits, and the mistakes that they must catch."""
        from hushway.families.sequences.audit.suite import SUITE

        return SUITE

    def example(self, folder: Path) -> Example:
        """Writes a day of a synthetic metro's cards."""
        from hushway.families.sequences.city.cards import metro

        city = metro(SEED, records=_CARDS)
        city.write(folder)
        return Example(title="Journeys by card: a synthetic metro", rows=f"{len(city):,} cards")
