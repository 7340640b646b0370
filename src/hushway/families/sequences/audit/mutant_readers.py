"""A wrong reader: people whose rows lie in several files count once in each."""

from typing import Any

from hushway.audit.mutant_readers import Summed, files_of
from hushway.families.sequences.rows.duckdb import DuckDBSequences
from hushway.families.sequences.rows.sequences import SequencesSource
from hushway.families.sequences.rows.taps import TapsSource
from hushway.privacy.query import Counter


def sequences_file_by_file(*, source: TapsSource | SequencesSource, **options: Any) -> Counter:
    """Returns a counter of sequences that bounds people in each file by itself."""
    return Summed([DuckDBSequences(source=one, **options) for one in files_of(source)])
