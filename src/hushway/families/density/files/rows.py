"""A published density as Parquet, CSV and GeoParquet, and the noisy series it was made from."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely

from hushway.arrays import FloatArray, IntArray
from hushway.errors import ReleaseError, damaged
from hushway.families.density.fit.table import DensityTable
from hushway.families.density.public.visits import DensityUniverse
from hushway.geography.areas import Areas
from hushway.geography.clock import microseconds
from hushway.geography.periods import Periods
from hushway.release.formats.csv import (
    BATCH_ROWS,
    LABEL,
    labelled,
    positions_among,
    read_batches,
    stream_csv,
    whole_column,
)
from hushway.release.formats.geoparquet import (
    check_geoparquet,
    geo_metadata,
    shape_array,
    write_geoparquet,
)
from hushway.release.formats.places import number_array, required_columns, text_array
from hushway.release.untrusted.parquet import open_parquet

# More rows of text are slow to open for everybody; Parquet holds the same numbers.
MOST_CSV_ROWS = 500_000

COLUMNS = ("area", "starts", "starts_local", "period", "count", "standard_error")

_STARTS = COLUMNS.index("starts")


def moment_type(periods: Periods) -> pa.DataType:
    """Returns the type of moments: in the zone of the periods; Parquet knows no coarser unit."""
    return pa.timestamp("ms", tz=periods.zone)


def rows_schema(starts: pa.DataType) -> pa.Schema:
    """Returns the columns of a density, with the starts of bins as moments or as text."""
    kinds = (LABEL, starts, LABEL, pa.int64(), pa.float64(), pa.float64())
    return required_columns(*zip(COLUMNS, kinds, strict=True))


_TEXT_SCHEMA = rows_schema(LABEL)


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
    periods = table.universe.periods
    schema = rows_schema(moment_type(periods))
    starts = _start_array(periods)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in _batches(table, schema, lambda at: starts.take(number_array(at))):
            writer.write_batch(batch)


def write_density_csv(table: DensityTable, path: Path) -> None:
    """Writes a density as one CSV file."""
    moments = text_array(_moments(table.universe.periods))
    batches = _batches(table, _TEXT_SCHEMA, lambda at: labelled(at, moments))
    stream_csv(path, _TEXT_SCHEMA, batches, labels=_labels(table.universe))


def read_density_parquet(path: Path, universe: DensityUniverse) -> tuple[FloatArray, FloatArray]:
    """Reads the counts and standard errors of every (area, bin).

    Raises:
        ReleaseError: The rows are not those of every area and bin in order.
    """
    schema = rows_schema(moment_type(universe.periods))
    with open_parquet(path, schema, rows=universe.size) as file:
        if file.metadata.num_rows != universe.size:
            raise _disagreement(path)
        counts, errors = _filled(path, universe, file.iter_batches(batch_size=BATCH_ROWS))
    return counts, errors


def check_density_csv(table: DensityTable, path: Path) -> None:
    """Makes sure that a CSV file holds the numbers of a density, in order.

    Raises:
        ReleaseError: It does not.
    """
    universe = table.universe
    known = text_array(_moments(universe.periods))
    times = _start_array(universe.periods)

    def with_times() -> Iterator[pa.RecordBatch]:
        for batch in read_batches(path, _TEXT_SCHEMA, labels=_labels(universe)):
            if batch.schema.names != list(COLUMNS):
                raise _disagreement(path)
            at = positions_among(batch.column(_STARTS), known)
            yield batch.set_column(_STARTS, "starts", times.take(number_array(at)))

    counts, errors = _filled(path, universe, with_times())
    same = np.array_equal(counts, table.counts) and np.array_equal(errors, table.standard_error)
    if not same:
        raise _disagreement(path)


def _filled(
    path: Path, universe: DensityUniverse, batches: Iterable[pa.RecordBatch]
) -> tuple[FloatArray, FloatArray]:
    """Returns the numbers of rows that name every area and bin in order."""
    ids, starts = text_array(universe.areas.ids), start_times(universe.periods)
    clocks = text_array(_clocks(universe.periods))
    schema = rows_schema(moment_type(universe.periods))
    counts, errors = np.empty(universe.size), np.empty(universe.size)
    row = 0
    for batch in batches:
        area, at = np.divmod(np.arange(row, row + len(batch)), universe.bins)
        kinds = [batch.schema.field(i).type for i in range(1, len(COLUMNS))]
        if row + len(batch) > universe.size or kinds != schema.types[1:]:
            raise _disagreement(path)
        named = positions_among(batch.column(0), ids)
        begun = whole_column(batch.column(1).cast(pa.int64()))
        if (
            not np.array_equal(named, area)
            or not np.array_equal(begun, starts[at])
            or not np.array_equal(positions_among(batch.column(2), clocks), at)
            or not np.array_equal(whole_column(batch.column(3)), at)
        ):
            raise _disagreement(path)
        counts[row : row + len(batch)] = whole_column(batch.column(4))
        errors[row : row + len(batch)] = whole_column(batch.column(5))
        row += len(batch)
    if row != universe.size:
        raise _disagreement(path)
    shape = (len(universe.areas), universe.bins)
    return counts.reshape(shape), errors.reshape(shape)


def _batches(
    table: DensityTable, schema: pa.Schema, starts: Callable[[IntArray], pa.Array]
) -> Iterator[pa.RecordBatch]:
    """Yields the rows of all areas and bins, some at a time, with the starts of bins as given."""
    universe, ids = table.universe, text_array(table.universe.areas.ids)
    clocks = text_array(_clocks(universe.periods))
    for first in range(0, universe.size, BATCH_ROWS):
        rows = np.arange(first, min(first + BATCH_ROWS, universe.size), dtype=np.int64)
        area, at = np.divmod(rows, universe.bins)
        columns = (at, table.counts.reshape(-1)[rows], table.standard_error.reshape(-1)[rows])
        local = labelled(at, clocks)
        arrays = [labelled(area, ids), starts(at), local, *map(number_array, columns)]
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
    return universe.areas.ids + _moments(periods) + _clocks(periods)


def _disagreement(path: Path) -> ReleaseError:
    return damaged(f"{path.name} does not hold a number for every area and period, in order.")


MEASURED_SCHEMA = required_columns(
    ("cluster", pa.int64()),
    ("period", pa.int64()),
    ("parts", pa.int64()),
)
SERIES_COLUMNS = tuple(MEASURED_SCHEMA.names)


def write_measured_series(measured: IntArray, path: Path) -> None:
    """Writes the noisy parts of visits of every (cluster, bin)."""
    flat = measured.reshape(-1)
    with pq.ParquetWriter(path, MEASURED_SCHEMA, compression="zstd") as writer:
        for start in range(0, len(flat), BATCH_ROWS):
            parts = flat[start : start + BATCH_ROWS]
            cluster, at = _places(start, len(parts), measured.shape[1])
            arrays = [number_array(each) for each in (cluster, at, parts)]
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=MEASURED_SCHEMA))


def read_measured_series(path: Path, clusters: int, bins: int) -> IntArray:
    """Reads the noisy series of so many clusters and bins.

    Raises:
        ReleaseError: The rows are not those of every (cluster, bin) in order.
    """
    with open_parquet(path, MEASURED_SCHEMA, rows=clusters * bins) as file:
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
        "measured_series.parquet does not hold a number for every cluster and period, in order."
    )


# A published density as GeoParquet 1.1: one row an area, with its shape and its whole series.
#
# Programs for maps open the file as it is.

_SERIES = pa.list_(pa.field("element", pa.float64(), nullable=False))
GEO_COLUMNS = (
    "id",
    "name",
    "geometry",
    "total",
    "mean",
    "busiest",
    "busiest_local",
    "counts",
    "standard_errors",
)

_HUNDREDTHS = 100


def totals_of(counts: FloatArray) -> FloatArray:
    """Returns the sum of each row of hundredths: exact, whatever the order of the additions."""
    hundredths = np.rint(counts * _HUNDREDTHS).astype(np.int64)
    totals: FloatArray = hundredths.sum(axis=-1) / _HUNDREDTHS
    return totals


def write_density_geo(table: DensityTable, path: Path) -> None:
    """Writes a density as one GeoParquet file."""
    write_geoparquet(_arrow(table), path)


def check_density_geo(table: DensityTable, path: Path) -> None:
    """Makes sure that a GeoParquet file holds a density.

    Raises:
        ReleaseError: It does not.
    """
    check_geoparquet(_arrow(table), path, "the areas")


def _arrow(table: DensityTable) -> pa.Table:
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
        _lists(table.counts),
        _lists(table.standard_error),
    ]
    shapes = sorted({area.shape.geom_type for area in areas.areas})
    metadata = geo_metadata(shapes, shapely.total_bounds(areas.shapes).tolist())
    kinds = [column.type for column in columns]
    schema = required_columns(*zip(GEO_COLUMNS, kinds, strict=True))
    return pa.Table.from_arrays(columns, schema=schema.with_metadata(metadata))


def _shapes(areas: Areas) -> list[bytes]:
    # Heights are of no use on a map, and would ask for a box with heights.
    return list(shapely.to_wkb(shapely.force_2d(areas.shapes), byte_order=1))


def _lists(numbers: FloatArray) -> pa.Array:
    ends = np.arange(0, numbers.size + 1, numbers.shape[1], dtype=np.int32)
    return pa.ListArray.from_arrays(
        number_array(ends), number_array(numbers.reshape(-1)), type=_SERIES
    )
