"""OD tables as Parquet, in row groups of about a million rows."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq

from hushway.families.od.files.formats.rows import SCHEMA, Rows, batches_of, from_arrow, to_arrow
from hushway.families.od.mechanism.table import ODTable
from hushway.families.od.public.cells import ODCells
from hushway.release.formats.bounded_parquet import open_parquet
from hushway.release.formats.columns import BATCH_ROWS


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
