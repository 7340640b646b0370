"""Flows as lines on a map: GeoParquet, one straight line for each row above 0.

A line goes from the place of origin to the place of destination, in longitudes and latitudes of
WGS84. A trip that ends where it began has a line of no length.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely

from hushway.arrays import IntArray
from hushway.errors import damaged
from hushway.families.od.files.intervals import HIGH, LOW
from hushway.families.od.files.rows import COLUMNS as ROW_COLUMNS
from hushway.families.od.files.rows import SCHEMA as ROW_SCHEMA
from hushway.families.od.files.rows import Rows, batches_of, from_arrow, to_arrow
from hushway.families.od.fit.table import ODTable
from hushway.families.od.public.cells import ODCells
from hushway.release.formats.csv import BATCH_ROWS
from hushway.release.formats.geoparquet import GEOMETRY, geo_metadata, shape_array
from hushway.release.untrusted.parquet import open_parquet

# The lines of more rows than these would be larger than all other files together.
MOST_LINES = 1 << 22

_GEO = geo_metadata(["LineString"], ())
_SCHEMA = ROW_SCHEMA.append(pa.field(GEOMETRY, pa.binary(), nullable=False)).with_metadata(_GEO)
_LABELS = [name for name in ROW_COLUMNS if name not in ("count", "standard_error", LOW, HIGH)]


def write_lines(table: ODTable, path: Path) -> None:
    """Writes the flows above 0 of a table."""
    # Shapes one by one, so that a verifier knows what the file takes before it reads it.
    with pq.ParquetWriter(path, _SCHEMA, compression="zstd", use_dictionary=_LABELS) as writer:
        for rows in batches_of(table):
            moving = rows.counts > 0
            kept = Rows(
                cells=rows.cells[moving],
                counts=rows.counts[moving],
                standard_errors=rows.standard_errors[moving],
            )
            columns = [*to_arrow(table.universe, kept).columns, _lines(table.universe, kept.cells)]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=_SCHEMA))


def read_lines(path: Path, universe: ODCells) -> Iterator[tuple[IntArray, IntArray]]:
    """Yields the cells and counts of the lines in a file, some at a time.

    Raises:
        ReleaseError: A line does not join its places, or a label is not in the public lists.
    """
    with open_parquet(path, _SCHEMA, rows=min(universe.size, MOST_LINES)) as file:
        if file.metadata.metadata.get(b"geo") != _GEO[b"geo"]:
            raise damaged(f"{path.name} does not say that its lines are in degrees of WGS84.")
        for batch in file.iter_batches(batch_size=BATCH_ROWS):
            rows = from_arrow(universe, batch.select(list(ROW_COLUMNS)))
            if not batch.column(GEOMETRY).equals(_lines(universe, rows.cells)):
                raise damaged(f"A line in {path.name} does not join the places of its row.")
            yield rows.cells, rows.counts


def _lines(universe: ODCells, cells: IntArray) -> pa.Array:
    places = universe.locations.places
    at = np.array([(float(place.lon), float(place.lat)) for place in places])
    _, origin, destination = universe.decode(cells)
    lines = shapely.linestrings(np.stack([at[origin], at[destination]], axis=1))
    return shape_array(shapely.to_wkb(lines, byte_order=1).tolist())
