"""The files of a city of calls, as an operator and a statistical office would hand them over."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import shapely
from pyarrow import csv, parquet

from hushway.geography.areas import Areas
from hushway.study.city_files import number_column, table_of

if TYPE_CHECKING:
    from hushway.families.density.city.city import DensityCity

_CSV_ROWS = 1 << 20


def write_areas(areas: Areas, path: Path) -> None:
    """Writes id, name and shape of every area as GeoJSON."""
    features = [
        {
            "type": "Feature",
            "properties": {"id": area.id, "name": area.name},
            "geometry": json.loads(shapely.to_geojson(area.shape)),
        }
        for area in areas.areas
    ]
    crs = {"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}}
    collection = {"type": "FeatureCollection", "crs": crs, "features": features}
    path.write_text(json.dumps(collection) + "\n", encoding="utf-8")


def write_events(city: "DensityCity", path: Path) -> None:
    """Writes person, tower and time of every event, in the order of the city."""
    if path.suffix == ".parquet":
        parquet.write_table(_table(city, slice(None)), path)
        return
    options = csv.WriteOptions(include_header=False, quoting_style="none")
    with path.open("wb") as file:
        file.write(b"person,tower,time\n")
        # In parts, because texts take several times the room of numbers.
        for first in range(0, len(city), _CSV_ROWS):
            table = _table(city, slice(first, first + _CSV_ROWS))
            plain = table.set_column(1, "tower", table["tower"].cast(pa.string()))
            csv.write_csv(plain, file, options)


def _table(city: "DensityCity", rows: slice) -> pa.Table:
    midnight = np.datetime64(city.first_day, "s").astype(np.int64)
    codes = number_column(city.tower[rows], pa.int16())
    columns = {
        "person": number_column(city.person[rows], pa.int32()),
        "tower": pa.DictionaryArray.from_arrays(codes, pa.array(city.towers.ids)),
        "time": number_column(midnight + city.second[rows], pa.timestamp("s")),
    }
    return table_of(columns)
