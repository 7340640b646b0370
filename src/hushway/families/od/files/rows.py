"""The rows of an OD table in batches, so that no format ever needs the whole table as text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.errors import ReleaseError, damaged
from hushway.families.od.fit.table import Estimates, ODTable
from hushway.families.od.public.cells import ODCells
from hushway.release.formats.columns import (
    BATCH_ROWS,
    LABEL,
    NUMBER,
    WHOLE,
    Column,
    Columns,
    write_parquet,
)
from hushway.release.formats.csv import labelled, positions_among, table_csv, whole_column
from hushway.release.formats.interval import HIGH, INTERVAL, LOW, are_intervals, interval_of
from hushway.release.formats.names import name_column, place_names
from hushway.release.formats.per_day import per_day, per_day_arrays, per_day_columns
from hushway.release.formats.places import number_array, text_array
from hushway.release.untrusted.parquet import open_parquet

CELL: Final = (
    Column("period", LABEL, "Label of the period, as in periods.csv."),
    Column("origin", LABEL, "Id of the place where trips start, as in places.csv."),
    Column("destination", LABEL, "Id of the place where trips end, as in places.csv."),
)
_KEY: Final = tuple(column.name for column in CELL)
_ENDS: Final = _KEY[1:]


def _cell_columns(universe: ODCells) -> tuple[Column, ...]:
    """Returns the columns that tell a cell."""
    return (CELL[0], *ends_columns(universe))


def ends_columns(universe: ODCells) -> tuple[Column, ...]:
    """Returns the columns that tell a pair of places: ids, and names where places have any."""
    _, origin, destination = CELL
    names = place_names(universe.locations)
    return (
        origin,
        *name_column("origin", "place where trips start", names),
        destination,
        *name_column("destination", "place where trips end", names),
    )


def trips_columns(universe: ODCells, error: str = "the noise in the count") -> Columns:
    """Returns the columns of the table, given what the standard error is of."""
    return Columns(
        (
            *_cell_columns(universe),
            Column("count", WHOLE, "Published number of trips over all days of the window."),
            Column("standard_error", NUMBER, f"Standard deviation of {error}, in trips."),
            *INTERVAL,
            *per_day_columns(universe.periods, "count", "standard_error", LOW, HIGH),
        ),
        key=_KEY,
    )


def estimates_columns(universe: ODCells) -> Columns:
    """Returns the columns of estimates."""
    return Columns(
        (
            *_cell_columns(universe),
            Column("estimate", NUMBER, "Expected number of trips over all days of the window."),
            Column(
                "standard_error",
                NUMBER,
                "Standard deviation of the true count around it, in trips.",
            ),
            *per_day_columns(universe.periods, "estimate", "standard_error"),
        ),
        key=_KEY,
    )


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Some rows of a table: their cells, counts and standard errors."""

    cells: IntArray
    counts: IntArray
    standard_errors: FloatArray

    def __getitem__(self, which: slice | BoolArray) -> "Rows":
        return Rows(
            cells=self.cells[which],
            counts=self.counts[which],
            standard_errors=self.standard_errors[which],
        )

    @property
    def above_zero(self) -> "Rows":
        """Those with a count above 0."""
        return self[self.counts > 0]


def joined(parts: Iterable[Rows]) -> Rows:
    """Returns rows one after another."""
    parts, nothing = tuple(parts), np.empty(0, dtype=np.int64)
    return Rows(
        cells=np.concatenate([nothing, *(part.cells for part in parts)]),
        counts=np.concatenate([nothing, *(part.counts for part in parts)]),
        standard_errors=np.concatenate([np.empty(0), *(part.standard_errors for part in parts)]),
    )


def batches_of(table: ODTable) -> Iterator[Rows]:
    """Yields the rows of a table in order, some at a time."""
    rows = Rows(cells=table.cells, counts=table.counts, standard_errors=table.standard_errors)
    for start in range(0, len(table.cells), BATCH_ROWS):
        yield rows[start : start + BATCH_ROWS]


def cell_arrays(universe: ODCells, cells: IntArray) -> list[pa.Array]:
    """Returns the labels of cells, stored as small numbers into the public lists."""
    period, origin, destination = universe.decode(cells)
    places = text_array(universe.locations.ids)
    return [
        labelled(period, text_array(universe.periods.labels)),
        labelled(origin, places),
        labelled(destination, places),
    ]


def named_cells(universe: ODCells, cells: IntArray) -> list[pa.Array]:
    """Returns the same with the names of places, where they have any."""
    period, *ends = cell_arrays(universe, cells)
    names, (_, *positions) = place_names(universe.locations), universe.decode(cells)
    if names is None:
        return [period, *ends]
    return [
        period,
        *(one for end, at in zip(ends, positions, strict=True) for one in (end, names.of(at))),
    ]


def to_arrow(universe: ODCells, rows: Rows) -> pa.RecordBatch:
    """Returns rows with readable labels."""
    numbers = (rows.counts, rows.standard_errors, *interval_of(rows.counts, rows.standard_errors))
    arrays = [
        *named_cells(universe, rows.cells),
        *map(number_array, numbers),
        *_averages(universe, rows.cells, *numbers),
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=trips_columns(universe).schema)


def _days_of(universe: ODCells, cells: IntArray) -> IntArray:
    """Returns how many days each cell is counted on."""
    days = np.array(universe.periods.days_counted, dtype=np.int64)
    return np.asarray(days[cells // universe.pairs])


def shown(universe: ODCells, cells: IntArray, sums: NDArray[np.number]) -> NDArray[np.number]:
    """Returns what readers are shown of cells: numbers of an average day, or else sums."""
    return per_day(sums, _days_of(universe, cells)) if universe.periods.average else sums


def _averages(universe: ODCells, cells: IntArray, *sums: NDArray[np.number]) -> list[pa.Array]:
    """Returns the numbers of an average day, if the release has them."""
    return per_day_arrays(_days_of(universe, cells), *sums) if universe.periods.average else []


def from_arrow(universe: ODCells, batch: pa.RecordBatch) -> Rows:
    """Reads rows back into cells of the public universe."""
    numbers = ("count", "standard_error", LOW, HIGH)
    counts, errors, low, high = (whole_column(batch.column(name)) for name in numbers)
    if not are_intervals(low, high, counts, errors):
        raise ReleaseError(
            "An interval is not 1.96 standard errors to either side of its count.",
            advice="The table was rewritten.",
        )
    cells = _cells(universe, batch)
    _check_averages(batch, HIGH, _averages(universe, cells, counts, errors, low, high))
    return Rows(cells=cells, counts=counts, standard_errors=errors)


def _check_averages(batch: pa.RecordBatch, last: str, averages: Sequence[pa.Array]) -> None:
    """Makes sure that the columns behind one are what follows from the sums before them."""
    behind = batch.columns[batch.schema.get_field_index(last) + 1 :]
    if not all(map(pa.Array.equals, behind, averages)):
        raise damaged("A number of an average day is not its sum divided by its days.")


def _cells(universe: ODCells, batch: pa.RecordBatch) -> IntArray:
    """Returns the cells that the columns of ids name, if names beside them are theirs."""
    period = positions_among(batch.column("period"), text_array(universe.periods.labels))
    return cells_of(universe, period, *ends_of(universe, batch))


def ends_of(universe: ODCells, batch: pa.RecordBatch) -> tuple[IntArray, IntArray]:
    """Returns the origins and destinations of rows, if names beside the ids are theirs."""
    places, names = text_array(universe.locations.ids), place_names(universe.locations)
    ends = {name: positions_among(batch.column(name), places) for name in _ENDS}
    if names is not None:
        for name, positions in ends.items():
            names.check(batch.column(f"{name}_name"), positions)
    return ends["origin"], ends["destination"]


def cells_of(
    universe: ODCells, period: IntArray, origin: IntArray, destination: IntArray
) -> IntArray:
    """Returns the cells of labelled rows."""
    if not universe.include_intrazonal and bool(np.any(origin == destination)):
        raise ReleaseError(
            "A row goes from a place to itself, which is not a public cell.",
            advice="The table was rewritten.",
        )
    return universe.encode(period, origin, destination)


def write_rows(table: ODTable, path: Path) -> None:
    """Writes a table as one Parquet file."""
    batches = (to_arrow(table.universe, rows) for rows in batches_of(table))
    write_parquet(path, trips_columns(table.universe).schema, batches)


def read_parquet(path: Path, universe: ODCells) -> Iterator[Rows]:
    """Yields the rows of a Parquet file, some at a time."""
    schema = trips_columns(universe).schema
    with open_parquet(path, schema, rows=universe.size) as file:
        for batch in file.iter_batches(batch_size=BATCH_ROWS):
            yield from_arrow(universe, batch)


def trips_csv(universe: ODCells, batches: Iterable[Rows]) -> Iterator[bytes]:
    """Yields the same rows as CSV."""
    arrow = (to_arrow(universe, rows) for rows in batches)
    return table_csv(trips_columns(universe).names, arrow, labels=_labels(universe))


def _labels(universe: ODCells) -> tuple[str, ...]:
    """Returns every text that can appear in a row."""
    names = place_names(universe.locations)
    shown = () if names is None else names.texts
    return universe.locations.ids + universe.periods.labels + shown


def write_estimates(universe: ODCells, estimates: Estimates, path: Path) -> None:
    """Writes estimates of cells, which are not whole numbers, as one Parquet file."""
    schema = estimates_columns(universe).schema
    starts = range(0, len(estimates.cells), BATCH_ROWS)
    parts = (slice(start, start + BATCH_ROWS) for start in starts)
    batches = (
        pa.RecordBatch.from_arrays(
            [
                *named_cells(universe, estimates.cells[part]),
                number_array(estimates.means[part]),
                number_array(estimates.standard_errors[part]),
                *_averages(
                    universe,
                    estimates.cells[part],
                    estimates.means[part],
                    estimates.standard_errors[part],
                ),
            ],
            schema=schema,
        )
        for part in parts
    )
    write_parquet(path, schema, batches)


def read_estimates(universe: ODCells, path: Path) -> Estimates:
    """Reads estimates back."""
    cells, means, errors = [np.zeros(0, dtype=np.int64)], [np.zeros(0)], [np.zeros(0)]
    schema = estimates_columns(universe).schema
    with open_parquet(path, schema, rows=universe.size) as file:
        for batch in file.iter_batches(batch_size=BATCH_ROWS):
            cells.append(_cells(universe, batch))
            means.append(whole_column(batch.column("estimate")))
            errors.append(whole_column(batch.column("standard_error")))
            _check_averages(
                batch, "standard_error", _averages(universe, cells[-1], means[-1], errors[-1])
            )
    read = Estimates(
        cells=np.concatenate(cells),
        means=np.concatenate(means),
        standard_errors=np.concatenate(errors),
    )
    numbers = np.concatenate([read.means, read.standard_errors])
    if np.any(np.diff(read.cells) <= 0) or not np.all(np.isfinite(numbers) & (numbers >= 0)):
        raise damaged(f"{path.name} does not hold numbers of trips for public cells in order.")
    return read
