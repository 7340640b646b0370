"""Files in pieces that a cluster's workers read side by side."""

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from hushway.engine.embedded import EmbeddedSession
from hushway.errors import DataError
from hushway.tables.layout import Layout

# Rows that one worker reads at a time, and that one part of all people has.
_ROWS_OF_A_PIECE = 1 << 21
ROWS_OF_A_PART = 1 << 22
# A row of a CSV file has at least so many bytes, more or less; gzip makes a fifth of it.
_BYTES_OF_A_ROW = 30
_NUMBER_BITS = 40


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A file, or some of its row groups.

    Attributes:
        layout: How to read it; it names one file.
        row_groups: Which row groups of a Parquet file; all of a CSV file if empty.
        rows: About how many rows it has: says how to divide the work, and nothing else.
    """

    number: int
    layout: Layout
    row_groups: tuple[int, ...]
    rows: int

    def open(self, session: EmbeddedSession) -> None:
        """Lets a DuckDB read this piece, and number its rows apart from those of other pieces."""
        session.first_number = numbers_of(self.number)
        if self.row_groups:
            session.give_once(self._reader())

    def _reader(self) -> pa.RecordBatchReader:
        names = list(dict.fromkeys(self.layout.names.values()))
        try:
            file = pq.ParquetFile(self.layout.files.paths[0])
            schema = pa.schema([file.schema_arrow.field(name) for name in names])
            batches = file.iter_batches(row_groups=list(self.row_groups), columns=names)
            return pa.RecordBatchReader.from_batches(
                schema, (batch.select(names) for batch in batches)
            )
        except (OSError, pa.ArrowException):
            pass
        raise _gone(self.layout.files.paths[0])


def numbers_of(piece: int) -> int:
    """Returns from where on to number the rows of a piece, apart from those of all others."""
    return piece << _NUMBER_BITS


def pieces_of(layout: Layout) -> list[Piece]:
    """Cuts the files of a layout into pieces."""
    pieces: list[Piece] = []
    for path in layout.files.paths:
        alone = replace(layout, files=replace(layout.files, paths=(path.absolute(),)))
        for groups, rows in _cuts(layout, path):
            pieces.append(Piece(number=len(pieces), layout=alone, row_groups=groups, rows=rows))
    return pieces


def parts_of(pieces: list[Piece], cores: int) -> int:
    """Returns into how many parts to divide people, so that each fits into a worker's memory."""
    rows = sum(piece.rows for piece in pieces)
    return max(2 * cores, ceil(rows / ROWS_OF_A_PART))


def _cuts(layout: Layout, path: Path) -> Iterator[tuple[tuple[int, ...], int]]:
    if layout.files.format == "csv":
        # Where a line ends is known only to those who have read all lines before it.
        yield (), path.stat().st_size // _BYTES_OF_A_ROW
        return
    groups: list[int] = []
    rows = 0
    for number, size in enumerate(_group_sizes(path)):
        groups.append(number)
        rows += size
        if rows >= _ROWS_OF_A_PIECE:
            yield tuple(groups), rows
            groups, rows = [], 0
    if groups:
        yield tuple(groups), rows


def _group_sizes(path: Path) -> list[int]:
    try:
        facts = pq.read_metadata(path)
        return [facts.row_group(i).num_rows for i in range(facts.num_row_groups)]
    except (OSError, pa.ArrowException):
        pass
    raise _gone(path)


def _gone(path: Path) -> DataError:
    return DataError(
        f"The file {path.name} cannot be read here.",
        advice="Keep the files where every worker of the cluster can read them under one path.",
    )


def sent(thing: object) -> bytes:
    """Returns something as bytes that a worker can read."""
    return pickle.dumps(thing, protocol=pickle.HIGHEST_PROTOCOL)
