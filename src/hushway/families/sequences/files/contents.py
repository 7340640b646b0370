"""Which of the two kinds of release a table or a folder is: a tree of prefixes, or records."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hushway.families.sequences.files.check import SequencesContents, check_sequences
from hushway.families.sequences.files.learnt import RecordsContents, check_records
from hushway.families.sequences.fit.record_table import RecordTable
from hushway.families.sequences.fit.table import SequenceTable
from hushway.families.sequences.mechanism.learned import LEARNED
from hushway.privacy.certificate import Certificate
from hushway.release.folder.finding import Notes
from hushway.release.folder.published_file import Contents, Description


def contents_of(table: SequenceTable | RecordTable) -> Contents:
    """Returns a table as files that can be written."""
    return RecordsContents(table) if isinstance(table, RecordTable) else SequencesContents(table)


def check_files_of(
    notes: Notes, folder: Path, certificate: Certificate, facts: Mapping[str, Any]
) -> Description | None:
    """Checks the files of a release, as `Family.check` asks."""
    learnt = certificate.terms.mechanism.name == LEARNED
    return (check_records if learnt else check_sequences)(notes, folder, certificate, facts)
