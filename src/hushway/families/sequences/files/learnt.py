"""A release of learnt records: its files, what is refused before, and what can be checked after."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import PrivacyError, damaged
from hushway.families.sequences.files.published import CSV, LOCATIONS, PARQUET, TAXONOMY
from hushway.families.sequences.files.records import (
    PREFIX_COLUMNS,
    QUESTION_COLUMNS,
    SEQUENCE_COLUMNS,
    check_records_csv,
    questions_csv,
    read_prefixes,
    read_questions,
    read_records,
    write_prefixes,
    write_records,
    write_records_csv,
)
from hushway.families.sequences.files.taxonomy import (
    check_levels,
    grouped_locations,
    grouped_locations_csv,
    read_taxonomy,
    taxonomy_json,
)
from hushway.families.sequences.fit.record_table import QuestionSummary, RecordTable
from hushway.families.sequences.mechanism.learned import LearnedSequences
from hushway.families.sequences.mechanism.terms import FAMILY, stated_terms
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.geography.locations import Labels, Locations
from hushway.privacy.certificate import Certificate
from hushway.privacy.certificate.parts import plain
from hushway.progress import Progress
from hushway.release.folder.finding import Notes
from hushway.release.folder.published_file import (
    Description,
    PublishedFile,
    check_files,
    columns_schema,
    describe_files,
    locations_schema,
    write_files,
)
from hushway.release.formats.places import location_columns
from hushway.release.terms import (
    TERMS_HOLD,
    check_domain,
    check_release_type,
    check_terms,
    is_noise,
    noise_error,
    refuse_numbers,
)
from hushway.release.untrusted.limits import LIST_BYTES, PAPER_BYTES, read_plain

PREFIXES = "prefixes.parquet"
QUESTIONS = "questions.csv"

# No sum of counts may overflow.
_MOST_RECORDS = 2**53


def _sequences_schema(kind: str, how: str) -> dict[str, Any]:
    words = (
        (kind, f"Ids of the stops in order, as in {LOCATIONS}, {how}."),
        ("integer", "Published number of records with these stops and no further ones."),
    )
    return columns_schema(SEQUENCE_COLUMNS, words, key=["sequence"])


RecordFile = PublishedFile[RecordTable, RecordTable]

FILES: tuple[RecordFile, ...] = (
    RecordFile(
        path=PARQUET,
        title="Sequences of stops",
        description="Records that agree with all noisy answers as far as these are sure, the most "
        "frequent first. What is common is measured; what is rare is a likely course, not a "
        f"measurement. {PREFIXES} says what is sure.",
        schema=_sequences_schema("array", "as a list"),
        write=write_records,
    ),
    RecordFile(
        path=CSV,
        title="Sequences of stops",
        description=f"The same sequences as {PARQUET}; stops are joined by ' > '. A '>' or "
        "'\\' that belongs to an id has a '\\' before it.",
        schema=_sequences_schema("string", "joined by ' > '"),
        write=write_records_csv,
        check=check_records_csv,
        finding="sequences",
    ),
    RecordFile(
        path=PREFIXES,
        title="Prefixes that are sure",
        description="How many records begin with these stops, where that is known well enough; "
        "each prefix stands after those that it continues. The true number lies within two "
        "standard errors nearly always.",
        schema=columns_schema(
            PREFIX_COLUMNS,
            (
                ("array", f"Ids of the first stops in order, as in {LOCATIONS}, as a list."),
                ("integer", "Number of the published records that begin with these stops."),
                ("number", "Standard error of that, as learnt from the noisy answers."),
            ),
            key=["prefix"],
        ),
        write=write_prefixes,
    ),
    RecordFile(
        path=QUESTIONS,
        title="What was asked",
        description="One row for every question: how many cells it had, and how large the noise is "
        "in one count.",
        schema=columns_schema(
            QUESTION_COLUMNS,
            (
                ("string", "What was counted."),
                ("integer", "In how many cells."),
                ("integer", "What one count added to its cell before noise; 1 unless shared out."),
                ("number", "Standard deviation of the noise in one count."),
            ),
            key=["question"],
        ),
        write=lambda table, path: path.write_bytes(questions_csv(table)),
    ),
    RecordFile(
        path=LOCATIONS,
        title="Public places",
        description="Where stops may be, with the groups that they belong to. Public "
        "knowledge, not made from the data.",
        schema=lambda table: locations_schema(location_columns(grouped_locations(table.taxonomy))),
        write=lambda table, path: path.write_bytes(grouped_locations_csv(table.taxonomy)),
    ),
    RecordFile(
        path=TAXONOMY,
        title="Public groups of places",
        description="Which places belong together at each level. Public knowledge, not made "
        "from the data.",
        write=lambda table, path: path.write_bytes(taxonomy_json(table.taxonomy)),
    ),
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
    }
    return describe_files(FILES, table, facts)


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
    universe = SequenceUniverse(
        taxonomy=read_taxonomy(
            read_plain(folder / TAXONOMY, LIST_BYTES), read_plain(folder / LOCATIONS, LIST_BYTES)
        )
    )
    check_domain(certificate, universe)
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
    """Makes sure that records are short enough, and that prefixes count them.

    Raises:
        ReleaseError: They do not.
    """
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
    places = len(table.taxonomy.locations)
    keys = (table.parent + 1) * places + table.place
    order = np.argsort(keys, kind="stable")
    known = keys[order]
    begun = np.zeros(len(keys), dtype=np.int64)
    record, at = np.arange(len(counts)), np.zeros(len(counts), dtype=np.int64)
    stop = 0
    while len(record) and len(known):
        inside = start[record] + stop < start[record + 1]
        record, at = record[inside], at[inside]
        wanted = at * places + stops[start[record] + stop]
        where = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        hit = known[where] == wanted
        record, node = record[hit], order[where[hit]]
        np.add.at(begun, node, counts[record])
        at, stop = node + 1, stop + 1
    return begun


def check_stated(certificate: Certificate, table: RecordTable) -> None:
    """Makes sure that a certificate states the terms of the questions of a table.

    Privacy:
        Every question was announced, with what it costs, before anything was measured.

    Raises:
        ReleaseError: It states other terms, or a question had other noise.
    """
    check_release_type(certificate, FAMILY)
    universe = SequenceUniverse(taxonomy=table.taxonomy)
    check_domain(certificate, universe)
    planned, mechanism = stated_terms(certificate, universe)
    if not isinstance(mechanism, LearnedSequences):
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


@dataclass(frozen=True)
class RecordsContents:
    """Learnt records, ready to be written."""

    table: RecordTable

    def check(self, certificate: Certificate) -> None:
        """Makes sure that the table is one and belongs to the certificate.

        Raises:
            PrivacyError: The table is not made of published numbers.
            ReleaseError: The certificate was made for other public lists or other questions.
        """
        check_published(self.table)
        check_stated(certificate, self.table)
        _check_sums(self.table)
        check_levels(self.table.taxonomy)

    @property
    def description(self) -> Description:
        """What the data package says about the files."""
        return describe(self.table)

    def write(self, folder: Path, progress: Progress) -> None:
        """Writes every file of the description into a folder."""
        write_files(FILES, self.table, folder, progress)

    def picture(self, certificate: Certificate) -> bytes:
        """Returns the first stops, the strongest ways between stops and the lengths, as PNG."""
        # Matplotlib takes longest of all to load and is needed for nothing else.
        from hushway.families.sequences.files.picture import LEARNT, draw_sequences_picture
        from hushway.families.sequences.files.trie import trie_of

        return draw_sequences_picture(trie_of(self.table), certificate, white=LEARNT)


def check_published(table: RecordTable) -> None:
    """Makes sure that a table is made of published numbers.

    Raises:
        PrivacyError: It is not.
    """
    # The very classes: a subclass might carry more than what is public.
    taxonomy = table.taxonomy
    if type(taxonomy) is not Taxonomy or type(taxonomy.locations) is not Locations:
        _refuse("The places of the records are not public ones.")
    if any(type(level) is not Labels for level in taxonomy.levels):
        _refuse("The groups of the places are not public labels.")
    whole = (table.start, table.stops, table.counts, table.parent, table.place, table.prefix_counts)
    if not all(_is_column(column, np.int64) for column in whole):
        _refuse("The columns of the records are not whole numbers.")
    if not _is_column(table.prefix_errors, np.float64) or not _is_finite(table.prefix_errors):
        _refuse("The errors of the prefixes are not numbers.")
    if type(table.questions) is not tuple or any(
        type(one) is not QuestionSummary for one in table.questions
    ):
        _refuse("The questions are not a tuple of summaries.")
    for one in table.questions:
        numbers = type(one.cells) is int and type(one.worth) is int
        if type(one.name) is not str or not numbers or type(one.standard_error) is not float:
            _refuse("A question is not described by a name and numbers.")
        if not math.isfinite(one.standard_error):
            _refuse("The standard error of a question is not a number.")
    plain("diagnostics of the fit", table.diagnostics)


def _is_column(column: object, kind: type) -> bool:
    return isinstance(column, np.ndarray) and column.dtype == kind and column.ndim == 1


def _is_finite(values: FloatArray) -> bool:
    return bool(np.all(np.isfinite(values) & (values > 0)))


def _refuse(message: str) -> NoReturn:
    raise PrivacyError(message, advice="Publish only what a mechanism's `fit` returned.")
