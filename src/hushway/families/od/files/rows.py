"""The rows of an OD table in batches, so that no format ever needs the whole table as text."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushway.arrays import FloatArray, IntArray
from hushway.errors import ReleaseError
from hushway.families.od.files.intervals import HIGH, LOW, are_intervals, interval_of
from hushway.families.od.fit.table import ODTable
from hushway.families.od.public.cells import ODCells
from hushway.release.formats.csv import (
    BATCH_ROWS,
    LABEL,
    labelled,
    positions_among,
    read_batches,
    stream_csv,
    whole_column,
)
from hushway.release.formats.places import number_array, text_array
from hushway.release.untrusted.parquet import open_parquet

COLUMNS = ("period", "origin", "destination", "count", "standard_error", LOW, HIGH)

SCHEMA = pa.schema(
    [
        pa.field("period", LABEL, nullable=False),
        pa.field("origin", LABEL, nullable=False),
        pa.field("destination", LABEL, nullable=False),
        pa.field("count", pa.int64(), nullable=False),
        pa.field("standard_error", pa.float64(), nullable=False),
        pa.field(LOW, pa.float64(), nullable=False),
        pa.field(HIGH, pa.float64(), nullable=False),
    ]
)


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Some rows of a table: their cells, counts and standard errors."""

    cells: IntArray
    counts: IntArray
    standard_errors: FloatArray


def batches_of(table: ODTable) -> Iterator[Rows]:
    """Yields the rows of a table in order, some at a time."""
    for start in range(0, len(table.cells), BATCH_ROWS):
        part = slice(start, start + BATCH_ROWS)
        yield Rows(
            cells=table.cells[part],
            counts=table.counts[part],
            standard_errors=table.standard_errors[part],
        )


def to_arrow(universe: ODCells, rows: Rows) -> pa.RecordBatch:
    """Returns rows with readable labels, stored as small numbers into the public lists."""
    period, origin, destination = universe.decode(rows.cells)
    places = text_array(universe.locations.ids)
    return pa.RecordBatch.from_arrays(
        [
            labelled(period, text_array(universe.periods.labels)),
            labelled(origin, places),
            labelled(destination, places),
            number_array(rows.counts),
            number_array(rows.standard_errors),
            *map(number_array, interval_of(rows.counts, rows.standard_errors)),
        ],
        schema=SCHEMA,
    )


def from_arrow(universe: ODCells, batch: pa.RecordBatch) -> Rows:
    """Reads rows back into cells of the public universe.

    Raises:
        ReleaseError: A label is not in the public lists, or the columns are not those of a table.
    """
    if tuple(batch.schema.names) != COLUMNS:
        raise ReleaseError(
            f"The columns are not {', '.join(COLUMNS)}.", advice="The table was rewritten."
        )
    if [batch.schema.field(i).type for i in range(3, 7)] != [pa.int64(), *[pa.float64()] * 3]:
        raise ReleaseError(
            "The counts are not whole numbers, or the errors no numbers at all.",
            advice="The table was rewritten.",
        )
    counts, errors, low, high = (whole_column(batch.column(i)) for i in range(3, 7))
    if not are_intervals(low, high, counts, errors):
        raise ReleaseError(
            "An interval is not 1.96 standard errors to either side of its count.",
            advice="The table was rewritten.",
        )
    return Rows(
        cells=cells_of(
            universe,
            positions_of(batch.column(0), universe.periods.labels),
            positions_of(batch.column(1), universe.locations.ids),
            positions_of(batch.column(2), universe.locations.ids),
        ),
        counts=counts,
        standard_errors=errors,
    )


def cells_of(
    universe: ODCells, period: IntArray, origin: IntArray, destination: IntArray
) -> IntArray:
    """Returns the cells of labelled rows.

    Raises:
        ReleaseError: A row goes from a place to itself and the universe has no such cell.
    """
    if not universe.include_intrazonal and bool(np.any(origin == destination)):
        raise ReleaseError(
            "A row goes from a place to itself, which is not a public cell.",
            advice="The table was rewritten.",
        )
    return universe.encode(period, origin, destination)


def positions_of(column: pa.Array, labels: tuple[str, ...]) -> IntArray:
    """Returns the position of each label in a public list.

    Raises:
        ReleaseError: A label is not in the list.
    """
    return positions_among(column, text_array(labels))


def write_parquet(table: ODTable, path: Path) -> None:
    """Writes a table as one Parquet file."""
    with pq.ParquetWriter(path, SCHEMA, compression="zstd") as writer:
        for rows in batches_of(table):
            writer.write_batch(to_arrow(table.universe, rows))


def read_parquet(path: Path, universe: ODCells) -> Iterator[Rows]:
    """Yields the rows of a Parquet file, some at a time.

    Raises:
        ReleaseError: A label is not in the public lists, or there are more rows than cells.
    """
    with open_parquet(path, SCHEMA, rows=universe.size) as file:
        for batch in file.iter_batches(batch_size=BATCH_ROWS):
            yield from_arrow(universe, batch)


def write_csv(table: ODTable, path: Path) -> None:
    """Writes a table as one CSV file."""
    batches = (to_arrow(table.universe, rows) for rows in batches_of(table))
    stream_csv(path, SCHEMA, batches, labels=labels_of(table.universe))


def read_csv(path: Path, universe: ODCells) -> Iterator[Rows]:
    """Yields the rows of a CSV file, some at a time.

    Raises:
        ReleaseError: A label is not in the public lists.
    """
    for batch in read_batches(path, SCHEMA, labels=labels_of(universe)):
        yield from_arrow(universe, batch.select(list(COLUMNS)))


def labels_of(universe: ODCells) -> tuple[str, ...]:
    """Returns every text that can appear in a row."""
    return universe.locations.ids + universe.periods.labels
