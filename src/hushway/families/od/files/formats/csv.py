"""OD tables as CSV."""

from collections.abc import Iterator
from pathlib import Path

from hushway.families.od.files.formats.rows import (
    COLUMNS,
    SCHEMA,
    Rows,
    batches_of,
    from_arrow,
    to_arrow,
)
from hushway.families.od.mechanism.table import ODTable
from hushway.families.od.public.cells import ODCells
from hushway.release.formats.csv import read_batches, stream_csv


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
