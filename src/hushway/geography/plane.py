"""A local map in metres: where areas have sizes and places have distances."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from hushway.arrays import FloatArray
from hushway.privacy.public_facts import public_facts


@public_facts
@dataclass(frozen=True, kw_only=True)
class Plane:
    """Lambert's equal-area map around a point: true sizes everywhere, true distances near it.

    Attributes:
        lon: Longitude of the point, WGS84 degrees.
        lat: Latitude of the point, WGS84 degrees.
    """

    lon: float
    lat: float

    def to_metres(self, lon: FloatArray, lat: FloatArray) -> FloatArray:
        """Returns positions (x, y) in metres, one row each."""
        return np.column_stack(_transformer(self.lon, self.lat).transform(lon, lat))

    def project(self, shapes: NDArray[Any]) -> NDArray[Any]:
        """Returns shapes given in degrees as shapes in metres."""
        return np.asarray(shapely.transform(shapes, lambda xy: self.to_metres(xy[:, 0], xy[:, 1])))


@cache
def _transformer(lon: float, lat: float) -> Any:
    # It takes a fifth of a second to load, and most commands never project.
    from pyproj import CRS, Transformer

    local = CRS.from_dict(
        {"proj": "laea", "lon_0": lon, "lat_0": lat, "datum": "WGS84", "units": "m"}
    )
    return Transformer.from_crs("EPSG:4326", local, always_xy=True)
