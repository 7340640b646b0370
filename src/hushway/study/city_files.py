"""The files of a city, as an agency would hand them over."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from hushway.geography.locations import Locations


def write_locations(locations: Locations, path: Path) -> None:
    """Writes id, name, lon, lat and zone of every location."""
    places = locations.places
    columns = {
        "id": text_column(locations.ids),
        "name": text_column([place.name for place in places]),
        "lon": number_column(np.array([place.lon for place in places]), pa.float64()),
        "lat": number_column(np.array([place.lat for place in places]), pa.float64()),
        "zone": text_column([place.zone for place in places]),
    }
    write_columns(columns, path)


# Arrow's own constructors load pandas wherever it is installed, which takes longer than all the
# rest; arrays made of buffers do not.
def number_column(values: NDArray[Any], kind: pa.DataType) -> pa.Array:
    """Returns numbers as an Arrow array of a kind that is as wide."""
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def text_column(values: Sequence[str]) -> pa.Array:
    """Returns texts as an Arrow array."""
    encoded = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.StringArray.from_buffers(
        len(encoded), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))
    )


def table_of(columns: dict[str, pa.Array]) -> pa.Table:
    """Returns columns as an Arrow table."""
    return pa.Table.from_arrays(list(columns.values()), names=list(columns))


def write_columns(columns: dict[str, pa.Array], path: Path) -> None:
    """Writes columns as CSV."""
    # Ids and invented names hold no comma, quote or line end; pyarrow refuses them rather than
    # write them bare.
    options = csv.WriteOptions(include_header=False, quoting_style="none")
    with path.open("wb") as file:
        file.write((",".join(columns) + "\n").encode())
        csv.write_csv(table_of(columns), file, options)
