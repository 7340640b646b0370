"""GeoParquet files: written, and held against what they should hold without trusting them."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from hushway.errors import ReleaseError
from hushway.release.formats.bounded_parquet import open_parquet

# A reader holds a row group at a time.
_GROUP_BYTES = 1 << 26
# Pages may take some room beside the numbers themselves.
_OVERHEAD, _ROOM = 4, 1 << 20


def write_geoparquet(table: pa.Table, path: Path) -> None:
    """Writes a table with the metadata "geo", texts and shapes one by one.

    A verifier then knows what the file takes before it reads it.
    """
    rows = max(1, len(table) * _GROUP_BYTES // max(1, table.nbytes))
    pq.write_table(table, path, compression="zstd", use_dictionary=False, row_group_size=rows)


def check_geoparquet(expected: pa.Table, path: Path, what: str) -> None:
    """Makes sure that a GeoParquet file holds a table, with its words for maps.

    Args:
        expected: The table, with the metadata "geo".
        path: The file.
        what: What it should hold, for the message.

    Raises:
        ReleaseError: It does not.
    """
    lists = [column for column in expected.columns if pa.types.is_list(column.type)]
    values = max((sum(len(part.values) for part in column.chunks) for column in lists), default=0)
    room = _OVERHEAD * expected.nbytes + _ROOM
    with open_parquet(path, expected.schema, rows=len(expected), values=values, size=room) as file:
        facts = file.metadata
        # Arrow would take the words from a copy of its own: look at those that others read.
        words = facts.metadata[b"geo"] == expected.schema.metadata[b"geo"]
        same = words and file.schema_arrow.equals(expected.schema, check_metadata=True)
        if not same or facts.num_rows != len(expected) or not _same_rows(file, expected):
            raise ReleaseError(
                f"{path.name} does not hold {what} with the published numbers.",
                advice="Ask the publisher for an intact copy of the release.",
            )


def _same_rows(file: pq.ParquetFile, expected: pa.Table) -> bool:
    row = 0
    for group in range(file.num_row_groups):
        part = file.read_row_group(group)
        if not part.equals(expected.slice(row, len(part))):
            return False
        row += len(part)
    return row == len(expected)
