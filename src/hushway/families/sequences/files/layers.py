"""Sequences for maps and spreadsheets: as lines through their stops, beside the places."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pyarrow as pa
import shapely

from hushway.arrays import IntArray
from hushway.families.sequences.files import records
from hushway.families.sequences.files.rows import (
    batches_of_sequences,
    ending_nodes,
    line_batches,
    lines_columns,
)
from hushway.families.sequences.fit.table import RecordTable, SequenceTable
from hushway.geography.locations import Locations
from hushway.release.formats.columns import TEXT, Columns
from hushway.release.formats.geoparquet import shape_array
from hushway.release.formats.layers import Layer, places_layer, shape_column

# Rows, where the stops of each begin, and the places of all stops.
Lines = tuple[pa.RecordBatch, IntArray, IntArray]

_SHAPE = shape_column("A line from stop to stop")


def tree_layers(table: SequenceTable, prefix: IntArray) -> tuple[Layer, ...]:
    """Returns the layers of a tree."""

    def lines() -> Iterator[Lines]:
        parts = batches_of_sequences(table, prefix)
        for part, batch in zip(parts, line_batches(table, prefix), strict=True):
            yield batch, part.start, table.taxonomy.location_of(table.code[part.stops])

    locations, rows = table.taxonomy.locations, len(ending_nodes(table))
    return (
        _layer("sequences", locations, lines_columns(table), rows, lines),
        places_layer(locations),
    )


def record_layers(table: RecordTable) -> tuple[Layer, ...]:
    """Returns the layers of learnt records."""
    locations = table.taxonomy.locations
    prefixes = records.prefix_columns(TEXT, locations)
    return (
        _layer(
            "prefixes",
            locations,
            prefixes,
            len(table.parent),
            lambda: [(records.prefix_lines(table), *records.prefix_lists(table))],
        ),
        _layer(
            "sequences",
            locations,
            records.lines_columns(table),
            len(table.counts),
            lambda: records.lines_with_stops(table),
        ),
        places_layer(locations),
    )


_TITLES = {
    "prefixes": "How many records begin with these stops, where that is sure",
    "sequences": "Sequences of stops: how many records have these and no further ones",
}


def _layer(
    name: str,
    locations: Locations,
    columns: Columns,
    rows: int,
    lines: Callable[[], Iterable[Lines]],
) -> Layer:
    shown = columns.and_also(_SHAPE)

    def batches() -> Iterator[pa.RecordBatch]:
        for batch, start, places in lines():
            arrays = [*batch.columns, _courses(locations, start, places)]
            yield pa.RecordBatch.from_arrays(arrays, schema=shown.schema)

    return Layer(
        name=name,
        title=_TITLES[name],
        columns=shown,
        rows=rows,
        batches=batches,
        shape="LINESTRING",
    )


def _courses(locations: Locations, start: IntArray, places: IntArray) -> pa.Array:
    """Returns lines through stops; a single stop has a line of no length."""
    at = np.array([(float(place.lon), float(place.lat)) for place in locations.places])
    lengths = np.diff(start)
    # A line has two points at least: a lone stop is there twice.
    repeated = np.ones(len(places), dtype=np.int64)
    repeated[(start[:-1] - start[0])[lengths == 1]] = 2
    points = np.repeat(at[places], repeated, axis=0)
    line = np.repeat(np.arange(len(lengths)), np.maximum(lengths, 2))
    lines = shapely.linestrings(points, indices=line)
    return shape_array(shapely.to_wkb(lines, byte_order=1).tolist())
