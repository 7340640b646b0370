"""OD tables for flow map viewers: locations.csv and flows.csv.

The time column holds the start of the period on the first day of the window, in the one form that
flowmap.blue reads as a time of day; a period of the week is on the first day with its weekday, one
of a day type on the first day of that type, and one after midnight on the day that follows. The
counts are over all days of the window. Flows of 0 draw nothing and are left out.
"""

from collections.abc import Iterator
from datetime import datetime, time, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa

from hushway.arrays import IntArray
from hushway.errors import ReleaseError
from hushway.families.od.files.rows import (
    Rows,
    batches_of,
    cells_of,
    labels_of,
    positions_of,
)
from hushway.families.od.fit.table import ODTable
from hushway.families.od.public.cells import ODCells
from hushway.geography.locations import Locations
from hushway.geography.periods import Periods
from hushway.release.formats.csv import labelled, read_batches, stream_csv
from hushway.release.formats.places import csv_bytes, number_array, numbers_of, text_array

LOCATION_COLUMNS = ("id", "name", "lat", "lon")

_LABEL = pa.dictionary(pa.int32(), pa.string())
_SCHEMA = pa.schema([("origin", _LABEL), ("dest", _LABEL), ("count", pa.int64()), ("time", _LABEL)])


def flowmap_locations(locations: Locations) -> bytes:
    """Returns the places as a flow map viewer reads them."""
    rows = ((p.id, p.name, repr(p.lat), repr(p.lon)) for p in locations.places)
    return csv_bytes(LOCATION_COLUMNS, rows)


def write_flows(table: ODTable, path: Path) -> None:
    """Writes the flows above 0 of a table."""
    batches = (_to_arrow(table.universe, rows) for rows in batches_of(table))
    stream_csv(path, _SCHEMA, batches, labels=labels_of(table.universe))


def read_flows(path: Path, universe: ODCells) -> Iterator[tuple[IntArray, IntArray]]:
    """Yields the cells and counts of the flows in a file, some at a time.

    Raises:
        ReleaseError: A label is not in the public lists.
    """
    for batch in read_batches(path, _SCHEMA, labels=labels_of(universe)):
        if batch.schema.names != _SCHEMA.names:
            raise ReleaseError(
                "The columns of the flow map are not origin, dest, count, time.",
                advice="The file was rewritten.",
            )
        origin, destination = (
            positions_of(batch.column(i), universe.locations.ids) for i in (0, 1)
        )
        period = positions_of(batch.column(3), _times(universe.periods))
        yield (
            cells_of(universe, period, origin, destination),
            numbers_of(batch.column(2)),
        )


def _to_arrow(universe: ODCells, rows: Rows) -> pa.RecordBatch:
    moving = np.flatnonzero(rows.counts)
    period, origin, destination = universe.decode(rows.cells[moving])
    places = text_array(universe.locations.ids)
    return pa.RecordBatch.from_arrays(
        [
            labelled(origin, places),
            labelled(destination, places),
            number_array(rows.counts[moving]),
            labelled(period, text_array(_times(universe.periods))),
        ],
        schema=_SCHEMA,
    )


def _times(periods: Periods) -> tuple[str, ...]:
    parts = periods.day_parts
    starts = (
        datetime.combine(day, time()) + timedelta(minutes=parts[i % len(parts)].starts)
        for i, day in enumerate(periods.example_days)
    )
    return tuple(f"{start:%Y-%m-%d %H:%M}" for start in starts)
