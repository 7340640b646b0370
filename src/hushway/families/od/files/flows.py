"""Flows above 0 for maps: CSV files for flow map viewers, and lines as GeoParquet.

Viewers know moments and no periods. So a flow has a time only where each period is counted on one
day: its start, in the one form that flowmap.blue reads as a time of day; one after midnight is on
the day that follows. A sum or an average of several days has no moment, and names its period. A
line is straight, in longitudes and latitudes of WGS84; a trip that ends where it began has a line
of no length.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, time, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import shapely

from hushway.arrays import IntArray
from hushway.errors import damaged
from hushway.families.od.files.rows import (
    CELL,
    Rows,
    cell_arrays,
    from_arrow,
    joined,
    shown,
    to_arrow,
    trips_columns,
)
from hushway.families.od.public.cells import ODCells
from hushway.geography.locations import Locations
from hushway.geography.periods import Periods
from hushway.release.formats.columns import (
    BATCH_ROWS,
    LABEL,
    NUMBER,
    TEXT,
    WHOLE,
    WKB,
    Column,
    Columns,
    write_parquet,
)
from hushway.release.formats.csv import labelled, table_csv
from hushway.release.formats.geoparquet import GEOMETRY, geo_metadata, shape_array
from hushway.release.formats.places import csv_bytes, number_array, text_array
from hushway.release.untrusted.parquet import open_parquet

# The lines of more rows than these would be larger than all other files together.
MOST_LINES = 1 << 22

VIEWER_PLACES = Columns(
    (
        Column("id", TEXT, "Id of the place."),
        Column("name", TEXT, "Name of the place."),
        Column("lat", NUMBER, "Latitude in degrees (WGS84)."),
        Column("lon", NUMBER, "Longitude in degrees (WGS84)."),
    ),
    key=("id",),
)
LINE = Column(GEOMETRY, WKB, "A line string, as WKB.")

_GEO = geo_metadata(["LineString"], ())


def has_moments(periods: Periods) -> bool:
    """Whether every period is counted on one day."""
    return set(periods.days_counted) == {1}


def viewer_flows(periods: Periods) -> Columns:
    """Returns the columns of flows for viewers, which show one number: the average if there is."""
    kind, words = WHOLE, "Published number of trips."
    if periods.average:
        kind, words = NUMBER, "Published number of trips of an average day, to three decimals."
    return Columns(
        (
            Column("origin", LABEL, "Id of the place where trips start."),
            Column("dest", LABEL, "Id of the place where trips end."),
            Column("count", kind, words),
            Column("time", LABEL, "Day and start of the period.")
            if has_moments(periods)
            else CELL[0],
        )
    )


def _lines_schema(universe: ODCells) -> pa.Schema:
    return trips_columns(universe).and_also(LINE).schema.with_metadata(_GEO)


def flowmap_locations(locations: Locations) -> bytes:
    """Returns the places as a flow map viewer reads them."""
    rows = ((p.id, p.name, repr(p.lat), repr(p.lon)) for p in locations.places)
    return csv_bytes(VIEWER_PLACES.names, rows)


def flows_csv(universe: ODCells, batches: Iterable[Rows]) -> Iterator[bytes]:
    """Yields the flows above 0 as a flow map viewer reads them."""
    arrow = (_flows(universe, rows.above_zero) for rows in batches)
    labels = (*universe.locations.ids, *_times(universe.periods))
    return table_csv(viewer_flows(universe.periods).names, arrow, labels=labels)


def _flows(universe: ODCells, rows: Rows) -> pa.RecordBatch:
    period, *_ = universe.decode(rows.cells)
    _, origin, destination = cell_arrays(universe, rows.cells)
    when = labelled(period, text_array(_times(universe.periods)))
    counts = number_array(shown(universe, rows.cells, rows.counts))
    arrays = [origin, destination, counts, when]
    return pa.RecordBatch.from_arrays(arrays, schema=viewer_flows(universe.periods).schema)


def _times(periods: Periods) -> tuple[str, ...]:
    if not has_moments(periods):
        return periods.labels
    parts = periods.day_parts
    starts = (
        datetime.combine(day, time()) + timedelta(minutes=parts[i % len(parts)].starts)
        for i, day in enumerate(periods.example_days)
    )
    return tuple(f"{start:%Y-%m-%d %H:%M}" for start in starts)


def write_lines(universe: ODCells, batches: Iterable[Rows], path: Path) -> None:
    """Writes the flows above 0 as lines."""
    schema, moving = _lines_schema(universe), (rows.above_zero for rows in batches)
    arrow = (
        pa.RecordBatch.from_arrays(
            [*to_arrow(universe, rows).columns, lines_of(universe, rows.cells)], schema=schema
        )
        for rows in moving
    )
    # Shapes without a dictionary, so that a verifier knows what the file takes before it reads it.
    labels = [field.name for field in schema if field.type == LABEL]
    write_parquet(path, schema, arrow, use_dictionary=labels)


def check_lines(universe: ODCells, batches: Iterable[Rows], path: Path) -> None:
    """Makes sure that a file holds the flows above 0 as lines."""
    expected, row = joined(rows.above_zero for rows in batches), 0
    schema = _lines_schema(universe)
    with open_parquet(path, schema, rows=len(expected.cells)) as file:
        if file.metadata.metadata.get(b"geo") != _GEO[b"geo"]:
            raise damaged(f"{path.name} does not say that its lines are in degrees of WGS84.")
        for batch in file.iter_batches(batch_size=BATCH_ROWS):
            rows = from_arrow(universe, batch.select(schema.names[:-1]))
            if not batch.column(GEOMETRY).equals(lines_of(universe, rows.cells)):
                raise damaged(f"A line in {path.name} does not join the places of its row.")
            part = expected[row : row + len(batch)]
            if not all(map(np.array_equal, vars(rows).values(), vars(part).values())):
                raise damaged(f"{path.name} does not hold the flows of the published table.")
            row += len(batch)
    if row != len(expected.cells):
        raise damaged(f"{path.name} does not hold the flows of the published table.")


def lines_of(universe: ODCells, cells: IntArray) -> pa.Array:
    """Returns a straight line from origin to destination of each cell, as WKB."""
    places = universe.locations.places
    at = np.array([(float(place.lon), float(place.lat)) for place in places])
    _, origin, destination = universe.decode(cells)
    lines = shapely.linestrings(np.stack([at[origin], at[destination]], axis=1))
    return shape_array(shapely.to_wkb(lines, byte_order=1).tolist())
