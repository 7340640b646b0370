"""The noisy series that a density was made from, as Parquet: one row a cluster and bin."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushway.arrays import IntArray
from hushway.errors import ReleaseError, damaged
from hushway.release.formats.bounded_parquet import open_parquet
from hushway.release.formats.columns import BATCH_ROWS, whole_column
from hushway.release.formats.places import number_array

SCHEMA = pa.schema(
    [
        pa.field("cluster", pa.int64(), nullable=False),
        pa.field("bin", pa.int64(), nullable=False),
        pa.field("parts", pa.int64(), nullable=False),
    ]
)
COLUMNS = tuple(SCHEMA.names)


def write_measured_series(measured: IntArray, path: Path) -> None:
    """Writes the noisy parts of visits of every (cluster, bin)."""
    flat = measured.reshape(-1)
    with pq.ParquetWriter(path, SCHEMA, compression="zstd") as writer:
        for start in range(0, len(flat), BATCH_ROWS):
            parts = flat[start : start + BATCH_ROWS]
            cluster, at = _places(start, len(parts), measured.shape[1])
            arrays = [number_array(each) for each in (cluster, at, parts)]
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=SCHEMA))


def read_measured_series(path: Path, clusters: int, bins: int) -> IntArray:
    """Reads the noisy series of so many clusters and bins.

    Raises:
        ReleaseError: The rows are not those of every (cluster, bin) in order.
    """
    with open_parquet(path, SCHEMA, rows=clusters * bins) as file:
        if file.metadata.num_rows != clusters * bins:
            raise _rewritten()
        parts = np.empty(clusters * bins, dtype=np.int64)
        row = 0
        for batch in file.iter_batches(batch_size=BATCH_ROWS):
            cluster, at, own = (whole_column(column) for column in batch.columns)
            expected = _places(row, len(own), bins)
            if row + len(own) > len(parts) or not all(map(np.array_equal, (cluster, at), expected)):
                raise _rewritten()
            parts[row : row + len(own)] = own
            row += len(own)
    if row != len(parts):
        raise _rewritten()
    return parts.reshape(clusters, bins)


def _places(start: int, rows: int, bins: int) -> tuple[IntArray, IntArray]:
    return np.divmod(np.arange(start, start + rows, dtype=np.int64), bins)


def _rewritten() -> ReleaseError:
    return damaged(
        "measured_series.parquet does not hold a number for every cluster and bin, in order."
    )
