"""The trips and modes of a city, as an agency would hand them over."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from hushway.arrays import IntArray
from hushway.study.city_files import number_column, table_of, text_column, write_columns

if TYPE_CHECKING:
    from hushway.families.od.city.city import City


def write_modes(city: "City", path: Path) -> None:
    """Writes the mode of every origin and destination that differ."""
    ids = text_column(city.cells.locations.ids)
    origin, destination = np.nonzero(city.mode_of >= 0)
    columns = {
        "origin": _looked_up(ids, origin),
        "destination": _looked_up(ids, destination),
        "mode": _looked_up(text_column(city.modes), city.mode_of[origin, destination]),
    }
    write_columns(columns, path)


def write_trips(city: "City", path: Path) -> None:
    """Writes the trips as CSV or Parquet, as the path's suffix says."""
    trips = city.trips
    ids = text_column(city.cells.locations.ids)
    columns = {
        "trip_id": number_column(np.arange(1, len(trips) + 1), pa.int64()),
        "rider": _looked_up(_rider_ids(trips.riders), trips.rider),
        "origin": _looked_up(ids, trips.origin),
        "destination": _looked_up(ids, trips.destination),
    }
    midnight = np.datetime64(city.cells.periods.first_day, "s")
    if path.suffix == ".parquet":
        departed_at = midnight.astype(np.int64) + trips.departure_s
        columns["departed_at"] = number_column(departed_at, pa.timestamp("s"))
        parquet.write_table(table_of(columns), path)
        return
    # A day has few seconds and many trips: every text is made once.
    seconds, which = _numbered(trips.departure_s)
    texts = np.datetime_as_string(midnight + seconds.astype("timedelta64[s]"))
    columns["departed_at"] = _looked_up(text_column(texts.tolist()), which)
    write_columns(columns, path)


def _rider_ids(riders: int) -> pa.Array:
    width = max(6, len(str(riders - 1)))
    return text_column([f"rider-{number:0{width}d}" for number in range(riders)])


def _numbered(ascending: IntArray) -> tuple[IntArray, IntArray]:
    """Returns the distinct values of an ascending array, and which of them each entry is."""
    new = np.concatenate([[True], np.diff(ascending) != 0])
    return ascending[new], np.cumsum(new) - 1


def _looked_up(texts: pa.Array, which: IntArray) -> pa.Array:
    """Returns the text with each of the numbers `which`."""
    return texts.take(number_column(np.ascontiguousarray(which), pa.int64()))
