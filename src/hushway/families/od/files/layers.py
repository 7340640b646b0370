"""An OD table for maps and spreadsheets: places, flows above 0, and sums that add up."""

from collections.abc import Iterator

import pyarrow as pa

from hushway.families.od.files.flows import lines_of
from hushway.families.od.files.margins import margin_batches, margins_columns
from hushway.families.od.files.rows import to_arrow
from hushway.families.od.files.view import ODView
from hushway.release.formats.columns import Columns
from hushway.release.formats.layers import Layer, places_layer, shape_column


def od_layers(view: ODView, columns: Columns) -> tuple[Layer, ...]:
    """Returns the layers of a table, given the columns of its rows."""
    flows = columns.and_also(shape_column("A straight line from origin to destination"))

    def batches() -> Iterator[pa.RecordBatch]:
        for part in view.batches():
            rows = part.above_zero
            arrays = [*to_arrow(view.universe, rows).columns, lines_of(view.universe, rows.cells)]
            yield pa.RecordBatch.from_arrays(arrays, schema=flows.schema)

    found = (
        Layer(
            name="flows",
            title=f"Trips by period, origin and destination, above 0: {view.universe.counted}",
            columns=flows,
            rows=view.rows.above_zero,
            batches=batches,
            shape="LINESTRING",
        ),
        places_layer(view.universe.locations),
    )
    return (*found, _sums(view)) if view.margins else found


def _sums(view: ODView) -> Layer:
    return Layer(
        name="sums",
        title="Sums that add up",
        columns=margins_columns(view.universe, learnt=view.is_learnt),
        rows=sum(feature.size for feature in view.features),
        batches=lambda: margin_batches(view.margins),
    )
