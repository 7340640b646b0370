"""Whether a GeoParquet file holds what it should, without trusting what it claims."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from hushway.errors import ReleaseError

# Pages and dictionaries may take some room beside the numbers themselves.
_OVERHEAD, _ROOM = 4, 1 << 20


def check_geoparquet(expected: pa.Table, path: Path, what: str) -> None:
    """Makes sure that a GeoParquet file holds a table, with its words for maps.

    Args:
        expected: The table, with the metadata "geo".
        path: The file.
        what: What it should hold, for the message.

    Raises:
        ReleaseError: It does not.
    """
    with pq.ParquetFile(path) as file:
        facts = file.metadata
        groups = range(facts.num_row_groups)
        # A few bytes can claim a list of any length: look at the claim before reading it.
        claimed = sum(facts.row_group(i).total_byte_size for i in groups)
        fits = claimed <= _OVERHEAD * expected.nbytes + _ROOM
        # Arrow would take the words from a copy of its own: look at those that others read.
        words = facts.metadata[b"geo"] == expected.schema.metadata[b"geo"]
        same = fits and words and file.schema_arrow.equals(expected.schema, check_metadata=True)
        if not same or facts.num_rows != len(expected) or not file.read().equals(expected):
            raise ReleaseError(
                f"{path.name} does not hold {what} with the published numbers.",
                advice="Ask the publisher for an intact copy of the release.",
            )
