"""A published density as Parquet, CSV and GeoParquet, and the noisy series it was made from."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import shapely

from hushway.arrays import FloatArray, IntArray
from hushway.errors import damaged
from hushway.families.density.files.universe import COVER
from hushway.families.density.fit.table import DensityTable
from hushway.families.density.public.visits import DensityUniverse
from hushway.geography.areas import Areas
from hushway.geography.clock import microseconds
from hushway.geography.periods import Periods
from hushway.release.folder.published_file import PERIODS
from hushway.release.formats.areas import AREAS
from hushway.release.formats.columns import (
    BATCH_ROWS,
    LABEL,
    MOMENT,
    NUMBER,
    TEXT,
    WHOLE,
    WKB,
    Column,
    Columns,
    out_of_order,
    rows_in_order,
    write_parquet,
)
from hushway.release.formats.csv import labelled, positions_among, table_csv, whole_column
from hushway.release.formats.geoparquet import GEOMETRY, geo_metadata, series_array, shape_array
from hushway.release.formats.interval import INTERVAL, are_intervals, interval_of
from hushway.release.formats.names import Names, name_column, names_beside
from hushway.release.formats.places import number_array, text_array

# More rows of text are slow to open for everybody; Parquet holds the same numbers.
MOST_CSV_ROWS = 500_000

_BY_PERIOD = (
    Column(
        "starts", MOMENT, "When the period starts; of a period of the week, on its first such day."
    ),
    Column(
        "starts_local", LABEL, f"The same on the wall clock, in the time zone that {PERIODS} names."
    ),
    Column("period", WHOLE, f"Number of the period, from 0, in the order of {PERIODS}."),
    Column("count", NUMBER, "Published number of visits, to two decimals."),
    Column("standard_error", NUMBER, "What the count is expected to be off by, in visits."),
    *INTERVAL,
)


def area_names(areas: Areas) -> Names | None:
    """Returns the names of areas, if they have any."""
    return names_beside(areas.ids, [area.name for area in areas.areas])


def area_columns(areas: Areas) -> tuple[Column, ...]:
    """Returns the columns that tell an area: its id, and its name where areas have names."""
    named = name_column("area", "area", area_names(areas))
    return (Column("area", LABEL, f"Id of the area, as in {AREAS}."), *named)


def area_arrays(areas: Areas, positions: IntArray) -> list[pa.Array]:
    """Returns what these columns hold."""
    names = area_names(areas)
    ids = labelled(positions, text_array(areas.ids))
    return [ids] if names is None else [ids, names.of(positions)]


def rows_columns(areas: Areas) -> Columns:
    """Returns the columns of a density."""
    return Columns((*area_columns(areas), *_BY_PERIOD), key=("area", "period"))


def moment_type(periods: Periods) -> pa.DataType:
    """Returns the type of moments: in the zone of the periods; Parquet knows no coarser unit."""
    return pa.timestamp("ms", tz=periods.zone)


def _rows_schema(universe: DensityUniverse) -> pa.Schema:
    return rows_columns(universe.areas).with_kinds(starts=moment_type(universe.periods)).schema


def fits_csv(universe: DensityUniverse) -> bool:
    """Whether a table over these areas and bins is small enough for text."""
    return universe.size <= MOST_CSV_ROWS


def start_times(periods: Periods) -> IntArray:
    """Returns when each bin starts, in milliseconds since 1970.

    A bin of the week starts on the first such weekday of the window.
    """
    starts = [microseconds(start) // 1000 for start, _ in periods.moments]
    return np.array(starts, dtype=np.int64)


def write_density_parquet(table: DensityTable, path: Path) -> None:
    """Writes a density as one Parquet file."""
    schema, starts = _rows_schema(table.universe), _start_array(table.universe.periods)
    write_parquet(path, schema, _batches(table, schema, lambda at: starts.take(number_array(at))))


def density_csv(table: DensityTable) -> Iterator[bytes]:
    """Yields a density as CSV."""
    batches = batches_as_text(table)
    return table_csv(
        rows_columns(table.universe.areas).names, batches, labels=_labels(table.universe)
    )


def batches_as_text(table: DensityTable) -> Iterator[pa.RecordBatch]:
    """Yields the rows of a density, some at a time, with moments as text."""
    moments = text_array(_moments(table.universe.periods))
    columns = rows_columns(table.universe.areas).with_kinds(starts=LABEL)
    return _batches(table, columns.schema, lambda at: labelled(at, moments))


def read_density_parquet(path: Path, universe: DensityUniverse) -> tuple[FloatArray, FloatArray]:
    """Reads the counts and standard errors of every (area, bin)."""
    ids, starts = text_array(universe.areas.ids), start_times(universe.periods)
    clocks, names = text_array(_clocks(universe.periods)), area_names(universe.areas)
    counts, errors = np.empty(universe.size), np.empty(universe.size)
    for rows, batch in rows_in_order(path, _rows_schema(universe), universe.size):
        area, at = np.divmod(np.arange(rows.start, rows.stop), universe.bins)
        moments = batch.column("starts").cast(pa.int64())
        if (
            not np.array_equal(positions_among(batch.column("area"), ids), area)
            or not np.array_equal(whole_column(moments), starts[at])
            or not np.array_equal(positions_among(batch.column("starts_local"), clocks), at)
            or not np.array_equal(whole_column(batch.column("period")), at)
        ):
            raise out_of_order(path)
        if names is not None:
            names.check(batch.column("area_name"), area)
        numbers = [whole_column(column) for column in batch.columns[-4:]]
        counts[rows], errors[rows] = numbers[:2]
        if not are_intervals(*numbers[2:], *numbers[:2]):
            raise damaged(f"{path.name}: an interval is not that of its standard error.")
    shape = (len(universe.areas), universe.bins)
    return counts.reshape(shape), errors.reshape(shape)


def _batches(
    table: DensityTable, schema: pa.Schema, starts: Callable[[IntArray], pa.Array]
) -> Iterator[pa.RecordBatch]:
    """Yields the rows of all areas and bins, some at a time, with the starts of bins as given."""
    universe = table.universe
    clocks = text_array(_clocks(universe.periods))
    for first in range(0, universe.size, BATCH_ROWS):
        rows = np.arange(first, min(first + BATCH_ROWS, universe.size), dtype=np.int64)
        area, at = np.divmod(rows, universe.bins)
        counts, errors = table.counts.reshape(-1)[rows], table.standard_error.reshape(-1)[rows]
        columns = (at, counts, errors, *interval_of(counts, errors))
        local = labelled(at, clocks)
        own = area_arrays(universe.areas, area)
        arrays = [*own, starts(at), local, *map(number_array, columns)]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _start_array(periods: Periods) -> pa.Array:
    return number_array(start_times(periods)).cast(moment_type(periods))


def _moments(periods: Periods) -> tuple[str, ...]:
    """Returns when each bin starts, as text with the offset of the clock."""
    return tuple(start.isoformat() for start, _ in periods.moments)


def _clocks(periods: Periods) -> tuple[str, ...]:
    """Returns what the wall clock shows when each bin starts."""
    return tuple(f"{start:%Y-%m-%d %H:%M}" for start, _ in periods.moments)


def _labels(universe: DensityUniverse) -> tuple[str, ...]:
    periods = universe.periods
    return area_labels(universe.areas) + _moments(periods) + _clocks(periods)


def area_labels(areas: Areas) -> tuple[str, ...]:
    """Returns every text that can tell an area."""
    names = area_names(areas)
    return areas.ids if names is None else areas.ids + names.texts


SERIES = Columns(
    (
        Column("cluster", WHOLE, f"Number of the cluster, as in {COVER}."),
        Column("period", WHOLE, "Number of the period, from 0."),
        Column("parts", WHOLE, "Noisy number of parts of visits."),
    ),
    key=("cluster", "period"),
)


def write_measured_series(measured: IntArray, path: Path) -> None:
    """Writes the noisy parts of visits of every (cluster, bin)."""
    flat, bins = measured.reshape(-1), measured.shape[1]
    parts = (slice(start, start + BATCH_ROWS) for start in range(0, len(flat), BATCH_ROWS))
    batches = (
        pa.RecordBatch.from_arrays(
            [
                *map(number_array, np.divmod(np.arange(len(flat), dtype=np.int64)[part], bins)),
                number_array(flat[part]),
            ],
            schema=SERIES.schema,
        )
        for part in parts
    )
    write_parquet(path, SERIES.schema, batches)


def read_measured_series(path: Path, clusters: int, bins: int) -> IntArray:
    """Reads the noisy series of so many clusters and bins."""
    parts = np.empty(clusters * bins, dtype=np.int64)
    for rows, batch in rows_in_order(path, SERIES.schema, clusters * bins):
        cluster, at, parts[rows] = (whole_column(column) for column in batch.columns)
        expected = np.divmod(np.arange(rows.start, rows.stop), bins)
        if not all(map(np.array_equal, (cluster, at), expected)):
            raise out_of_order(path)
    return parts.reshape(clusters, bins)


# A published density as GeoParquet 1.1: one row an area, with its shape and its whole series.
#
# Programs for maps open the file as it is.

_SERIES = pa.list_(pa.field("element", pa.float64(), nullable=False))
MAP = Columns(
    (
        Column("id", TEXT, f"Id of the area, as in {AREAS}."),
        Column("name", TEXT, "Name of the area."),
        Column(GEOMETRY, WKB, "Its shape as WKB, in longitudes and latitudes."),
        Column("total", NUMBER, "Sum of its counts over all periods."),
        Column("mean", NUMBER, "Mean of its counts, to two decimals."),
        Column("busiest", MOMENT, "Start of the first period with its largest count."),
        Column("busiest_local", TEXT, "The same on the wall clock."),
        Column("counts", _SERIES, "Its counts, in the order of the periods."),
        Column("standard_errors", _SERIES, "Their standard errors, in the same order."),
    ),
    key=("id",),
)

_HUNDREDTHS = 100


def totals_of(counts: FloatArray) -> FloatArray:
    """Returns the sum of each row of hundredths: exact, whatever the order of the additions."""
    hundredths = np.rint(counts * _HUNDREDTHS).astype(np.int64)
    totals: FloatArray = hundredths.sum(axis=-1) / _HUNDREDTHS
    return totals


def density_map(table: DensityTable) -> pa.Table:
    """Returns a density as GeoParquet holds it: one row an area."""
    areas, periods = table.universe.areas, table.universe.periods
    totals = totals_of(table.counts)
    busiest: IntArray = table.counts.argmax(axis=1).astype(np.int64)
    columns = [
        text_array(areas.ids),
        text_array([area.name for area in areas.areas]),
        shape_array(_shapes(areas)),
        number_array(totals),
        number_array(np.round(totals / len(periods), 2)),
        _start_array(periods).take(number_array(busiest)),
        text_array(np.array(_clocks(periods))[busiest].tolist()),
        series_array(table.counts, _SERIES),
        series_array(table.standard_error, _SERIES),
    ]
    shapes = sorted({area.shape.geom_type for area in areas.areas})
    metadata = geo_metadata(shapes, shapely.total_bounds(areas.shapes).tolist())
    schema = MAP.with_kinds(busiest=moment_type(periods)).schema
    return pa.Table.from_arrays(columns, schema=schema.with_metadata(metadata))


def _shapes(areas: Areas) -> list[bytes]:
    # Heights are of no use on a map, and would ask for a box with heights.
    return list(shapely.to_wkb(shapely.force_2d(areas.shapes), byte_order=1))
