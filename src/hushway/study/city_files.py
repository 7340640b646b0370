"""The files of a city, as an agency would hand them over."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv, parquet

from hushway.arrays import IntArray
from hushway.families.od.city.city import City
from hushway.geography.locations import Locations


def write_locations(locations: Locations, path: Path) -> None:
    """Writes id, name, lon, lat and zone of every location."""
    places = locations.places
    columns = {
        "id": _texts(locations.ids),
        "name": _texts([place.name for place in places]),
        "lon": _numbers(np.array([place.lon for place in places]), pa.float64()),
        "lat": _numbers(np.array([place.lat for place in places]), pa.float64()),
        "zone": _texts([place.zone for place in places]),
    }
    _write_csv(columns, path)


def write_modes(city: City, path: Path) -> None:
    """Writes the mode of every origin and destination that differ."""
    ids = _texts(city.cells.locations.ids)
    origin, destination = np.nonzero(city.mode_of >= 0)
    columns = {
        "origin": _looked_up(ids, origin),
        "destination": _looked_up(ids, destination),
        "mode": _looked_up(_texts(city.modes), city.mode_of[origin, destination]),
    }
    _write_csv(columns, path)


def write_trips(city: City, path: Path) -> None:
    """Writes the trips as CSV or Parquet, as the path's suffix says."""
    trips = city.trips
    ids = _texts(city.cells.locations.ids)
    columns = {
        "trip_id": _numbers(np.arange(1, len(trips) + 1), pa.int64()),
        "rider": _looked_up(_rider_ids(trips.riders), trips.rider),
        "origin": _looked_up(ids, trips.origin),
        "destination": _looked_up(ids, trips.destination),
    }
    midnight = np.datetime64(city.cells.periods.first_day, "s")
    if path.suffix == ".parquet":
        departed_at = midnight.astype(np.int64) + trips.departure_s
        columns["departed_at"] = _numbers(departed_at, pa.timestamp("s"))
        parquet.write_table(_table(columns), path)
        return
    # A day has few seconds and many trips: every text is made once.
    seconds, which = _numbered(trips.departure_s)
    texts = np.datetime_as_string(midnight + seconds.astype("timedelta64[s]"))
    columns["departed_at"] = _looked_up(_texts(texts.tolist()), which)
    _write_csv(columns, path)


def _rider_ids(riders: int) -> pa.Array:
    width = max(6, len(str(riders - 1)))
    return _texts([f"rider-{number:0{width}d}" for number in range(riders)])


def _numbered(ascending: IntArray) -> tuple[IntArray, IntArray]:
    """Returns the distinct values of an ascending array, and which of them each entry is."""
    new = np.concatenate([[True], np.diff(ascending) != 0])
    return ascending[new], np.cumsum(new) - 1


# Arrow's own constructors load pandas wherever it is installed, which takes longer than all the
# rest; arrays made of buffers do not.
def _numbers(values: NDArray[Any], kind: pa.DataType) -> pa.Array:
    """Returns numbers of 64 bits as an Arrow array."""
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def _texts(values: Sequence[str]) -> pa.Array:
    """Returns texts as an Arrow array."""
    encoded = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.StringArray.from_buffers(
        len(encoded), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))
    )


def _looked_up(texts: pa.Array, which: IntArray) -> pa.Array:
    """Returns the text with each of the numbers `which`."""
    return texts.take(_numbers(np.ascontiguousarray(which), pa.int64()))


def _table(columns: dict[str, pa.Array]) -> pa.Table:
    return pa.Table.from_arrays(list(columns.values()), names=list(columns))


def _write_csv(columns: dict[str, pa.Array], path: Path) -> None:
    # Ids and invented names hold no comma, quote or line end; pyarrow refuses them rather than
    # write them bare.
    options = csv.WriteOptions(include_header=False, quoting_style="none")
    with path.open("wb") as file:
        file.write((",".join(columns) + "\n").encode())
        csv.write_csv(_table(columns), file, options)
