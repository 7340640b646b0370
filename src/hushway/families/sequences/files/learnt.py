"""A release of learnt records: its files, what is refused before, and what can be checked after."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import damaged
from hushway.families.sequences.files.layers import record_layers
from hushway.families.sequences.files.lists import LIST, records_through
from hushway.families.sequences.files.published import CSV, PARQUET, known_records
from hushway.families.sequences.files.records import QUESTIONS as QUESTIONS_TABLE
from hushway.families.sequences.files.records import (
    lines_columns,
    lists_columns,
    prefix_columns,
    questions_csv,
    read_prefixes,
    read_questions,
    read_records,
    records_csv,
    trie_of,
    write_prefixes,
    write_records,
)
from hushway.families.sequences.files.taxonomy import (
    check_levels,
    check_public,
    read_universe,
    taxonomy_files,
)
from hushway.families.sequences.fit.table import QuestionSummary, RecordTable
from hushway.families.sequences.mechanism.learned import LearnedSequences
from hushway.families.sequences.mechanism.people import PeopleSequences
from hushway.families.sequences.mechanism.terms import FAMILY, stated_terms
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.privacy.certificate import Certificate
from hushway.privacy.certificate.parts import plain
from hushway.release.folder.finding import Notes
from hushway.release.folder.guard import are_amounts, is_column, refuse
from hushway.release.folder.published_file import (
    Description,
    PublishedFile,
    TableContents,
    check_files,
    describe_files,
)
from hushway.release.forecast.known import KNOWN
from hushway.release.terms import (
    TERMS_HOLD,
    check_domain,
    check_release_type,
    check_terms,
    is_noise,
    noise_error,
    refuse_numbers,
)
from hushway.release.untrusted.limits import PAPER_BYTES, read_plain

PREFIXES = "prefixes.parquet"
QUESTIONS = "questions.csv"

# No sum of counts may overflow.
_MOST_RECORDS = 2**53


RecordFile = PublishedFile[RecordTable, RecordTable]

FILES: tuple[RecordFile, ...] = (
    RecordFile(
        path=PARQUET,
        title="Sequences of stops",
        description="Records that agree with all noisy answers as far as these are sure, the most "
        "frequent first. What is common is measured; what is rare is a likely course, not a "
        f"measurement. {PREFIXES} says what is sure.",
        columns=lists_columns,
        write=write_records,
    ),
    RecordFile(
        path=CSV,
        title="Sequences of stops",
        description=f"The same sequences as {PARQUET}; stops are joined by ' > '. A '>' or "
        "'\\' that belongs to an id has a '\\' before it.",
        columns=lines_columns,
        parts=records_csv,
        finding="sequences",
    ),
    RecordFile(
        path=PREFIXES,
        title="Prefixes that are sure",
        description="How many records begin with these stops, where that is known well enough; "
        "each prefix stands after those that it continues. The true number lies within two "
        "standard errors nearly always.",
        columns=lambda table: prefix_columns(LIST, table.taxonomy.locations),
        write=write_prefixes,
    ),
    RecordFile(
        path=QUESTIONS,
        title="What was asked",
        description="One row for every question: how many cells it had, and how large the noise is "
        "in one count.",
        columns=QUESTIONS_TABLE,
        parts=lambda table: [questions_csv(table.questions)],
        is_source=True,
    ),
    *taxonomy_files(lambda table: table.taxonomy),
)


def describe(table: RecordTable) -> Description:
    """Returns what a data package says about published records."""
    facts = {
        "sequences": len(table.counts),
        "records": int(table.counts.sum()),
        "prefixes": len(table.parent),
        "stops": table.height,
        "times": False,
        # The publisher's word: what was predicted on the way is not in the release.
        "fit": dict(table.diagnostics),
        KNOWN: known_records(table).sentence,
    }
    return describe_files(FILES, table, facts, record_layers(table))


def check_records(
    notes: Notes, folder: Path, certificate: Certificate, facts: Mapping[str, Any]
) -> Description | None:
    """Checks geography, records, prefixes and questions, as `Family.check` asks."""
    universe = notes.attempt("geography", lambda: _universe(folder, certificate))
    if universe is None:
        return None
    table = notes.attempt("records", lambda: _read(folder, universe, certificate, facts))
    if table is None:
        return None
    notes.holds("terms", lambda: check_stated(certificate, table), TERMS_HOLD)
    notes.holds(
        "sequences",
        lambda: check_files(FILES, table, folder, "sequences"),
        f"{CSV} holds the {len(table.counts):,} sequences of {PARQUET}.",
    )
    return describe(table)


def _universe(folder: Path, certificate: Certificate) -> tuple[SequenceUniverse, str]:
    universe = read_universe(folder, certificate, times=False)
    return universe, f"The public lists give the {universe.size:,} stops of the certificate."


def _read(
    folder: Path, universe: SequenceUniverse, certificate: Certificate, facts: Mapping[str, Any]
) -> tuple[RecordTable, str]:
    locations = universe.taxonomy.locations
    start, stops, counts = read_records(locations, folder / PARQUET)
    parent, place, prefix_counts, errors = read_prefixes(locations, folder / PREFIXES)
    _, mechanism = stated_terms(certificate, universe)
    table = RecordTable(
        taxonomy=universe.taxonomy,
        height=mechanism.height,
        start=start,
        stops=stops,
        counts=counts,
        parent=parent,
        place=place,
        prefix_counts=prefix_counts,
        prefix_errors=errors,
        questions=read_questions(read_plain(folder / QUESTIONS, PAPER_BYTES)),
        diagnostics=plain("diagnostics of the fit", facts["fit"]),
    )
    _check_sums(table)
    return table, (
        f"As many of the {int(counts.sum()):,} records begin with each of the {len(parent):,} "
        f"prefixes as {PREFIXES} says."
    )


def _check_sums(table: RecordTable) -> None:
    """Makes sure that records are short enough, and that prefixes count them."""
    length = np.diff(table.start)
    too_many = table.counts.sum(dtype=np.float64) >= _MOST_RECORDS
    if too_many or np.any(length < 1) or np.any(length > table.height):
        raise damaged("A sequence is empty or has too many stops, or there are too many records.")
    begun = begun_with(table, table.start, table.stops, table.counts)
    if not np.array_equal(begun, table.prefix_counts):
        raise damaged(f"{PREFIXES} does not count the records of {PARQUET}.")


def begun_with(table: RecordTable, start: IntArray, stops: IntArray, counts: IntArray) -> IntArray:
    """Returns how many records begin with each published prefix, walking all of them stop by stop.

    Args:
        table: The published prefixes.
        start: Where each sequence begins; one entry more than sequences.
        stops: The places of all of them in a row.
        counts: How many records each stands for.
    """
    return records_through(
        np.arange(len(table.parent)),
        table.parent,
        table.place,
        places=len(table.taxonomy.locations),
        start=start,
        stops=stops,
        counts=counts,
    )


def check_stated(certificate: Certificate, table: RecordTable) -> None:
    """Makes sure that a certificate states the terms of the questions of a table.

    Privacy:
        Every question was announced, with what it costs, before anything was measured.
    """
    check_release_type(certificate, FAMILY)
    universe = SequenceUniverse(taxonomy=table.taxonomy)
    check_domain(certificate, universe)
    planned, mechanism = stated_terms(certificate, universe)
    if not isinstance(mechanism, LearnedSequences | PeopleSequences):
        raise refuse_numbers("questions")
    events = mechanism.events_of([(one.name, one.cells, one.worth) for one in table.questions])
    if events is None:
        raise refuse_numbers("questions")
    cells = [
        sum(one.cells for one, at in _zipped(table, events) if at == number)
        for number in range(len(planned.events))
    ]
    check_terms(certificate, planned.measured(cells))
    for one, at in _zipped(table, events):
        if not is_noise(one.standard_error * one.worth, noise_error(planned.events[at])):
            raise refuse_numbers("questions")


def _zipped(table: RecordTable, events: Sequence[int]) -> Iterable[tuple[QuestionSummary, int]]:
    return zip(table.questions, events, strict=True)


class RecordsContents(TableContents[RecordTable]):
    """Learnt records, ready to be written."""

    files = FILES
    describe = staticmethod(describe)

    def check(self, certificate: Certificate) -> None:
        """Makes sure that the table is one and belongs to the certificate."""
        check_published(self.table)
        check_stated(certificate, self.table)
        _check_sums(self.table)
        check_levels(self.table.taxonomy)

    def picture(self, certificate: Certificate) -> bytes:
        """Returns the first stops, the strongest ways between stops and the lengths, as PNG."""
        # Matplotlib takes longest of all to load and is needed for nothing else.
        from hushway.families.sequences.files.picture import LEARNT, draw_sequences_picture

        return draw_sequences_picture(trie_of(self.table), certificate, white=LEARNT)


def check_published(table: RecordTable) -> None:
    """Makes sure that a table is made of published numbers."""
    check_public(table.taxonomy)
    whole = (table.start, table.stops, table.counts, table.parent, table.place, table.prefix_counts)
    if not all(is_column(column, np.int64) for column in whole):
        refuse("The columns of the records are not whole numbers.")
    errors = table.prefix_errors
    if not is_column(errors, np.float64) or not are_amounts(errors) or not bool(np.all(errors)):
        refuse("The errors of the prefixes are not numbers.")
    if type(table.questions) is not tuple or any(
        type(one) is not QuestionSummary for one in table.questions
    ):
        refuse("The questions are not a tuple of summaries.")
    for one in table.questions:
        numbers = type(one.cells) is int and type(one.worth) is int
        if type(one.name) is not str or not numbers or type(one.standard_error) is not float:
            refuse("A question is not described by a name and numbers.")
        if not math.isfinite(one.standard_error):
            refuse("The standard error of a question is not a number.")
    plain("diagnostics of the fit", table.diagnostics)
