"""Estimates of cells as Parquet: not whole, so that no guess is lost; for whoever simulates."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushway.errors import damaged
from hushway.families.od.files.rows import cells_of, positions_of
from hushway.families.od.fit.table import Estimates
from hushway.families.od.public.cells import ODCells
from hushway.release.formats.csv import BATCH_ROWS, LABEL, labelled, whole_column
from hushway.release.formats.places import number_array, text_array
from hushway.release.untrusted.parquet import open_parquet

SCHEMA = pa.schema(
    [
        pa.field("period", LABEL, nullable=False),
        pa.field("origin", LABEL, nullable=False),
        pa.field("destination", LABEL, nullable=False),
        pa.field("estimate", pa.float64(), nullable=False),
        pa.field("standard_error", pa.float64(), nullable=False),
    ]
)
COLUMNS = tuple(SCHEMA.names)


def write_estimates(universe: ODCells, estimates: Estimates, path: Path) -> None:
    """Writes estimates as one Parquet file."""
    periods, places = text_array(universe.periods.labels), text_array(universe.locations.ids)
    with pq.ParquetWriter(path, SCHEMA, compression="zstd") as writer:
        for start in range(0, len(estimates.cells), BATCH_ROWS):
            part = slice(start, start + BATCH_ROWS)
            period, origin, destination = universe.decode(estimates.cells[part])
            arrays = [
                labelled(period, periods),
                labelled(origin, places),
                labelled(destination, places),
                number_array(estimates.means[part]),
                number_array(estimates.standard_errors[part]),
            ]
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=SCHEMA))


def read_estimates(universe: ODCells, path: Path) -> Estimates:
    """Reads estimates back.

    Raises:
        ReleaseError: They are not numbers of trips for public cells in order.
    """
    periods, places = universe.periods.labels, universe.locations.ids
    cells, means, errors = [np.zeros(0, dtype=np.int64)], [np.zeros(0)], [np.zeros(0)]
    with open_parquet(path, SCHEMA, rows=universe.size) as file:
        for batch in file.iter_batches(batch_size=BATCH_ROWS):
            cells.append(
                cells_of(
                    universe,
                    positions_of(batch.column(0), periods),
                    positions_of(batch.column(1), places),
                    positions_of(batch.column(2), places),
                )
            )
            means.append(whole_column(batch.column(3)))
            errors.append(whole_column(batch.column(4)))
    read = Estimates(
        cells=np.concatenate(cells),
        means=np.concatenate(means),
        standard_errors=np.concatenate(errors),
    )
    numbers = np.concatenate([read.means, read.standard_errors])
    if np.any(np.diff(read.cells) <= 0) or not np.all(np.isfinite(numbers) & (numbers >= 0)):
        raise damaged(f"{path.name} does not hold numbers of trips for public cells in order.")
    return read
