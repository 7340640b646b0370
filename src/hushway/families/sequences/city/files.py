"""The taps of a card city, as an agency would hand them over."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

if TYPE_CHECKING:
    from hushway.families.sequences.city.city import CardCity


def write_taps(city: "CardCity", path: Path) -> None:
    """Writes person, location and time of every tap, in the order of time."""
    order = np.argsort(city.seconds, kind="stable")
    midnight = np.datetime64(city.day, "s").astype(np.int64)
    names = pa.array(city.locations.ids)
    codes = _numbers(city.stops[order].astype(np.int32), pa.int32())
    columns = {
        "person": _numbers(city.person_of_stop[order], pa.int64()),
        "location": pa.DictionaryArray.from_arrays(codes, names),
        "time": _numbers(midnight + city.seconds[order], pa.timestamp("s")),
    }
    table = pa.Table.from_arrays(list(columns.values()), names=list(columns))
    parquet.write_table(table, path)


def _numbers(values: NDArray[Any], kind: pa.DataType) -> pa.Array:
    """Returns numbers as an Arrow array, without the detour by pandas that its own way takes."""
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])
