"""OD tables as OMX, the matrix format of transport planning: one matrix a period.

Matrices are dense, so a table over many places is left out of this format; see `fits_omx`. There is
no reader here on purpose: PyTables unpickles attributes, so opening the OMX file of a stranger can
run the stranger's code.
"""

import re
from pathlib import Path

import numpy as np
import openmatrix
from numpy.typing import NDArray

from hushway.arrays import FloatArray
from hushway.families.od.files.rows import shown
from hushway.families.od.fit.table import ODTable
from hushway.families.od.public.cells import ODCells

MOST_CELLS = 25_000_000


def fits_omx(universe: ODCells) -> bool:
    """Returns whether the dense matrices stay within `MOST_CELLS` numbers."""
    return len(universe.locations) ** 2 * len(universe.periods) <= MOST_CELLS


def write_omx(table: ODTable, path: Path) -> None:
    """Writes a table as one OMX file; a cell without a row is 0.

    The bytes depend on the table alone: HDF5 is told to keep no times. They are made in memory and
    written by Python, because on a full disk HDF5 cuts the file short and says nothing.
    """
    path.write_bytes(omx_bytes(table))


def omx_bytes(table: ODTable, *, drawn: str | None = None) -> bytes:
    """Returns a table as an OMX file; what was drawn says so, and has no errors."""
    universe = table.universe
    shape = np.array([len(universe.locations)] * 2, dtype=np.int32)
    with openmatrix.open_file(
        "memory.omx", "w", driver="H5FD_CORE", driver_core_backing_store=0
    ) as file:
        file.root._v_attrs["SHAPE"] = shape  # noqa: SLF001 - PyTables' own name for attributes
        if drawn is not None:
            file.root._v_attrs["synthetic"] = drawn  # noqa: SLF001 - likewise
        for i, name in enumerate(matrix_names(universe)):
            part = _period_rows(table, i)
            node = file.create_carray(
                file.root.data, name, obj=_matrix(table, part), track_times=False
            )
            node.attrs["period"] = universe.periods.labels[i]
            node.attrs["counted"] = universe.counted
            errors = shown(universe, table.cells[part], table.standard_errors[part])
            for key, value in _error_attributes(errors).items() if drawn is None else ():
                node.attrs[key] = value
        for name, entries in _lookups(universe).items():
            file.create_array(file.root.lookup, name, obj=entries, track_times=False)
        file.flush()
        return bytes(file.get_file_image())


def matrix_names(universe: ODCells) -> tuple[str, ...]:
    """Returns names that every reader of HDF5 accepts, such as t0800_0830 or t1_am_peak."""
    periods = universe.periods
    if periods.named or periods.day_types:
        # Names that people chose may hold anything; the number keeps them apart.
        plain = (re.sub(r"[^A-Za-z0-9]+", "_", label) for label in periods.labels)
        return tuple(f"t{i + 1}_{label}".rstrip("_") for i, label in enumerate(plain))
    without = str.maketrans({":": None, " ": None, "-": "_"})
    return tuple("t" + label.translate(without) for label in periods.labels)


def _lookups(universe: ODCells) -> dict[str, NDArray[np.generic]]:
    """Returns what stands beside every row and column: the id, and the row of places.csv."""
    return {
        "location": np.array([key.encode() for key in universe.locations.ids]),
        "row": np.arange(1, len(universe.locations) + 1, dtype=np.uint32),
    }


def _period_rows(table: ODTable, period: int) -> slice:
    pairs = table.universe.pairs
    first, last = np.searchsorted(table.cells, [period * pairs, (period + 1) * pairs])
    return slice(int(first), int(last))


def _matrix(table: ODTable, part: slice) -> FloatArray:
    # Doubles, because several planning packages read no other numbers; counts stay exact in them.
    places = len(table.universe.locations)
    matrix = np.zeros((places, places))
    _, origin, destination = table.universe.decode(table.cells[part])
    matrix[origin, destination] = shown(table.universe, table.cells[part], table.counts[part])
    return matrix


def _error_attributes(standard_errors: NDArray[np.number]) -> dict[str, float]:
    if not len(standard_errors):
        return {}
    return {
        "standard_error_mean": float(standard_errors.mean()),
        "standard_error_max": float(standard_errors.max()),
    }
