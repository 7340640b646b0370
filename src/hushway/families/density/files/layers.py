"""A density for maps and spreadsheets: areas with their totals, and visits by period."""

import numpy as np
import pyarrow as pa

from hushway.families.density.files.rows import batches_as_text, rows_columns, totals_of
from hushway.families.density.fit.table import DensityTable
from hushway.geography.period_words import window_text
from hushway.release.formats.columns import NUMBER, TEXT, Column, Columns
from hushway.release.formats.interval import INTERVAL, interval_of
from hushway.release.formats.layers import Layer, outlines_array, shape_column
from hushway.release.formats.places import number_array, text_array

_AREAS = Columns(
    (
        Column("id", TEXT, "Id of the area."),
        Column("name", TEXT, "Name of the area."),
        Column("count", NUMBER, "Visits of all periods together."),
        Column(
            "standard_error",
            NUMBER,
            "At most what that is expected to be off by: the sum of the errors of its periods.",
        ),
        *INTERVAL,
        shape_column("Its shape"),
    )
)


def density_layers(table: DensityTable) -> tuple[Layer, ...]:
    """Returns the layers of a density."""
    universe = table.universe
    return (
        Layer(
            name="areas",
            title=f"Visits by area, all periods together, {window_text(universe.periods)}",
            columns=_AREAS,
            rows=len(universe.areas),
            batches=lambda: [_areas(table)],
            shape="MULTIPOLYGON",
        ),
        Layer(
            name="visits",
            title=f"Visits by area and period of time: {universe.counted}",
            columns=rows_columns(universe.areas).with_kinds(starts=TEXT),
            rows=universe.size,
            batches=lambda: batches_as_text(table),
        ),
    )


def _areas(table: DensityTable) -> pa.RecordBatch:
    areas = table.universe.areas
    counts, errors = totals_of(table.counts), totals_of(table.standard_error)
    numbers = (counts, errors, *interval_of(counts, errors))
    arrays = [
        text_array(areas.ids),
        text_array([area.name for area in areas.areas]),
        *(number_array(np.ascontiguousarray(each)) for each in numbers),
        outlines_array(areas.shapes),
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=_AREAS.schema)
