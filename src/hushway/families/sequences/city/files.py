"""The taps of a card city, as an agency would hand them over."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from hushway.study.city_files import number_column, table_of

if TYPE_CHECKING:
    from hushway.families.sequences.city.city import CardCity


def write_taps(city: "CardCity", path: Path) -> None:
    """Writes person, location and time of every tap, in the order of time."""
    order = np.argsort(city.seconds, kind="stable")
    midnight = np.datetime64(city.day, "s").astype(np.int64)
    names = pa.array(city.locations.ids)
    codes = number_column(city.stops[order].astype(np.int32), pa.int32())
    columns = {
        "person": number_column(city.person_of_stop[order], pa.int64()),
        "place": pa.DictionaryArray.from_arrays(codes, names),
        "time": number_column(midnight + city.seconds[order], pa.timestamp("s")),
    }
    table = table_of(columns)
    parquet.write_table(table, path)
