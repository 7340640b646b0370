"""The files of a release: how they are written, described and checked.

A release holds the public lists, the noisy answers, and what follows from both as Parquet, CSV and
a small JSON of profiles. Whoever checks it reads lists and answers, computes all else again and
compares.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from hushway import families as hw

from hushway_visits.mechanism import MECHANISMS, RELEASE_TYPE, VisitCounts, visit_terms
from hushway_visits.public import StopHours
from hushway_visits.table import VisitsTable

PARQUET, CSV, PROFILES, MEASURED = (
    "visits.parquet",
    "visits.csv",
    "profiles.json",
    "measured.parquet",
)
# Beyond it a release would not fit into the memory of those who check it.
MOST_CELLS = 1 << 22
_MOST_COUNT = 1 << 53

# Texts that repeat are numbers into a list, in files and in memory.
_COLUMNS = hw.table_columns(
    hw.Column("stop", hw.LABEL, "Id of the stop."),
    hw.Column("period", hw.LABEL, "Label of the period."),
    hw.Column("count", pa.float64(), "Published visits."),
    hw.Column("standard_error", pa.float64(), "What the count is expected to be off by."),
    key=["stop", "period"],
)
_PLAIN = _COLUMNS.with_kinds(stop=pa.string(), period=pa.string())
_MEASURED = hw.table_columns(
    hw.Column("question", pa.int64(), "Which question."),
    hw.Column("value", pa.int64(), "The noisy answer."),
)


def _columns(table: VisitsTable) -> list[list[Any]]:
    stops, periods = table.universe.shape
    return [
        [stop for stop in table.universe.stops.ids for _ in range(periods)],
        list(table.universe.periods.labels) * stops,
        table.counts.ravel().tolist(),
        [table.errors.cell] * table.universe.size,
    ]


def _arrow(table: VisitsTable) -> pa.Table:
    return pa.table(_columns(table), schema=_COLUMNS.schema)


def _measured(table: VisitsTable) -> pa.Table:
    sizes = [len(answer) for answer in table.answers]
    columns = [np.repeat(np.arange(len(sizes)), sizes), np.concatenate(table.answers)]
    return pa.table(columns, schema=_MEASURED.schema)


def _lines(table: VisitsTable) -> Iterator[bytes]:
    rows = zip(*_columns(table), strict=True)
    texts = ((stop, period, repr(count), repr(error)) for stop, period, count, error in rows)
    return hw.csv_parts(_COLUMNS.names, texts)


def _profiles(table: VisitsTable) -> bytes:
    """Returns the file of profiles: for each stop its total and its counts, period by period."""
    totals, counts = table.stop_totals.tolist(), table.counts.tolist()
    stops = [
        {"id": place.id, "name": place.name, "total": total, "counts": row}
        for place, total, row in zip(table.universe.stops.places, totals, counts, strict=True)
    ]
    profiles = {
        "format": "hushway-visits profiles 1",
        "periods": list(table.universe.periods.labels),
        "standard_error": {"total": table.errors.stop, "count": table.errors.cell},
        "stops": stops,
    }
    return json.dumps(profiles, ensure_ascii=False, indent=1).encode()


def _write_table(table: pa.Table, path: Path) -> None:
    hw.write_parquet(path, table.schema, table.to_batches())


def _check_table(table: VisitsTable, path: Path) -> None:
    read = _read(path, _COLUMNS.schema, rows=table.universe.size)
    if read.cast(_PLAIN.schema) != _arrow(table).cast(_PLAIN.schema):
        raise hw.damaged(f"{path.name} does not hold the counts that follow from {MEASURED}.")


def _read(path: Path, schema: pa.Schema, *, rows: int) -> pa.Table:
    """Reads a table of a stranger, once it is known how large it is."""
    with hw.open_parquet(path, schema, rows=rows) as file:
        table = file.read()
    return table.replace_schema_metadata(None)


# What is rendered by `parts` is checked by rendering it again; sources are read first.
FILES: tuple[hw.PublishedFile[VisitsTable, VisitsTable], ...] = (
    hw.PublishedFile(
        path=PARQUET,
        title="Visits by stop and period",
        description="One row for each stop and period, in the order of both lists.",
        columns=_COLUMNS,
        write=lambda table, path: _write_table(_arrow(table), path),
        check=_check_table,
    ),
    hw.PublishedFile(
        path=CSV,
        title="Visits by stop and period, as text",
        description=f"The same rows as {PARQUET}.",
        columns=_COLUMNS,
        parts=_lines,
    ),
    hw.PublishedFile(
        path=PROFILES,
        title="Profiles of stops",
        description="For each stop the visits of the whole window and of every period. The totals "
        "are estimates of their own, closer to the truth than sums of the counts.",
        parts=lambda table: [_profiles(table)],
    ),
    hw.PublishedFile(
        path=MEASURED,
        title="What was measured",
        description="The noisy answers: question 0 is every stop and period, in the order of "
        f"{PARQUET}; 1 every stop; 2 every period.",
        columns=_MEASURED,
        write=lambda table, path: _write_table(_measured(table), path),
    ),
    hw.PublishedFile(
        path="places.csv",
        title="Public stops",
        description="The stops that visits are counted at.",
        columns=lambda table: hw.locations_columns(table.universe.stops),
        parts=lambda table: [hw.locations_csv(table.universe.stops)],
        is_source=True,
    ),
    hw.periods_file(lambda table: table.universe.periods),
)


def describe(table: VisitsTable) -> hw.Description:
    """Returns what the data package says about the files."""
    stops, periods = table.universe.shape
    facts = {"stops": stops, "periods": periods, "questions": len(table.answers)}
    return hw.describe_files(FILES, table, facts)


@dataclass(frozen=True)
class VisitsContents:
    """A table, ready to be written."""

    table: VisitsTable

    @property
    def description(self) -> hw.Description:
        """What the data package says about the files."""
        return describe(self.table)

    def check(self, certificate: hw.Certificate) -> None:
        """Makes sure that the table belongs to the certificate.

        Raises:
            ReleaseError: The certificate was made for other lists, or states other terms.
        """
        hw.check_domain(certificate, self.table.universe)
        check_stated(certificate, self.table)

    def write(self, folder: Path, progress: hw.Progress) -> None:
        """Writes every file into a folder."""
        hw.write_files(FILES, self.table, folder, progress)

    def picture(self, certificate: hw.Certificate) -> bytes:
        """Returns a map of the stops and the visits of the day, as PNG."""
        # Matplotlib takes long to load and is needed for nothing else.
        from hushway_visits.drawing import draw_picture

        return draw_picture(self.table, certificate)


def check_visits(
    notes: hw.Notes, folder: Path, certificate: hw.Certificate, facts: Mapping[str, Any]
) -> hw.Description | None:
    """Checks the files of a release, which may be a stranger's, and believes none of them.

    Counts, texts and profiles are computed again from the noisy answers, and the terms of the
    certificate from its mechanism and the public lists.
    """
    del facts
    cells = notes.attempt("geography", lambda: _geography(folder, certificate))
    if cells is None:
        return None
    table = notes.attempt("measurements", lambda: _answers(folder, certificate, cells))
    if table is None:
        return None
    notes.holds("terms", lambda: check_stated(certificate, table), hw.TERMS_HOLD)
    notes.holds(
        "formats",
        lambda: hw.check_files(FILES, table, folder),
        f"{PARQUET}, {CSV} and {PROFILES} hold the counts that follow from {MEASURED}.",
    )
    return describe(table)


def read_visits(folder: Path, certificate: hw.Certificate) -> VisitsTable:
    """Reads a release that is as it was sealed.

    Raises:
        ReleaseError: Its files are not as this package writes them.
    """
    cells, _ = _geography(folder, certificate)
    return _answers(folder, certificate, cells)[0]


def stated_mechanism(certificate: hw.Certificate) -> VisitCounts:
    """Returns the mechanism that a certificate names.

    Raises:
        ReleaseError: It is not one of this version.
    """
    mechanism: VisitCounts = MECHANISMS.certified(certificate.terms.mechanism)
    return mechanism


def check_stated(certificate: hw.Certificate, table: VisitsTable) -> None:
    """Makes sure that a certificate states the terms of a table.

    Privacy:
        As many answers as were announced are in the release, and their noise is what follows from
        the stated prices and limit.

    Raises:
        ReleaseError: It states others.
    """
    hw.check_release_type(certificate, RELEASE_TYPE)
    mechanism, cells = stated_mechanism(certificate), table.universe
    hw.check_terms(certificate, visit_terms(mechanism, cells, certificate.terms.unit))
    sizes = [query.cells.size for query in mechanism.queries(cells)]
    stated = mechanism.table(list(table.answers), cells).weights
    if [len(answer) for answer in table.answers] != sizes or table.weights != stated:
        raise hw.damaged("The answers are not those that the certificate announces.")


def _geography(folder: Path, certificate: hw.Certificate) -> tuple[StopHours, str]:
    stops, periods = hw.published_places(folder), hw.published_periods(folder)
    cells = StopHours(stops=stops, periods=periods)
    if cells.size > MOST_CELLS:
        raise hw.damaged(f"A release has at most {MOST_CELLS:,} counts.")
    hw.check_domain(certificate, cells)
    words = f"{hw.plural(len(stops), 'stop')} and {hw.plural(len(periods), 'period')}"
    return cells, f"The public lists give the {words} of the certificate."


def _answers(
    folder: Path, certificate: hw.Certificate, cells: StopHours
) -> tuple[VisitsTable, str]:
    mechanism = stated_mechanism(certificate)
    sizes = [query.cells.size for query in mechanism.queries(cells)]
    read = _read(folder / MEASURED, _MEASURED.schema, rows=sum(sizes))
    question, value = (np.asarray(column, dtype=np.int64) for column in read.columns)
    if not np.array_equal(question, np.repeat(np.arange(len(sizes)), sizes)):
        raise hw.damaged(f"{MEASURED} does not hold an answer for every cell, in order.")
    if np.any(np.abs(value) > _MOST_COUNT):
        raise hw.damaged(f"{MEASURED} holds an answer that is no number of visits.")
    answers = np.split(value, np.cumsum(sizes)[:-1])
    return mechanism.table(answers, cells), "There is a noisy answer for every cell and total."
