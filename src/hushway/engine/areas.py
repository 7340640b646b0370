"""Points of rows in public areas, found by the engine while it reads."""

from collections.abc import Callable

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
import shapely

from hushway.arrays import FloatArray, IntArray
from hushway.engine.embedded import EmbeddedSession, quietly
from hushway.geography.areas import Areas

AreaOf = Callable[[ir.FloatingValue, ir.FloatingValue], ir.IntegerValue]

NOWHERE = -1
_NAME = "public_area_of"


def area_index(areas: Areas) -> Callable[[FloatArray, FloatArray], IntArray]:
    """Returns a function that says in which area points lie; -1 where it is none of them.

    A point on a border, or in two areas, lies in the one that comes first in the public list. What
    is no number of degrees lies nowhere.
    """
    tree = shapely.STRtree(areas.shapes)

    def find(lon: FloatArray, lat: FloatArray) -> IntArray:
        found = np.full(len(lon), len(areas), dtype=np.int64)
        sound = np.flatnonzero(np.isfinite(lon) & np.isfinite(lat))
        points = shapely.points(lon[sound], lat[sound])
        point, area = tree.query(points, predicate="intersects")
        np.minimum.at(found, sound[point], area)
        return np.where(found == len(areas), NOWHERE, found)

    return find


def _signature(lon: float, lat: float) -> int:
    """Tells Ibis what the function that DuckDB has been taught takes and gives."""
    raise NotImplementedError


def load_areas(session: EmbeddedSession, areas: Areas) -> AreaOf:
    """Teaches a DuckDB to find the area of a point, some thousand rows at a time.

    Privacy:
        Looks at one point and at public shapes. A point without a longitude or a latitude has no
        area.
    """
    find = area_index(areas)

    def of_columns(lon: pa.ChunkedArray, lat: pa.ChunkedArray) -> pa.Array:
        return pa.array(find(lon.to_numpy(), lat.to_numpy()))

    quietly(
        lambda: session.backend.con.create_function(
            _NAME,
            of_columns,
            ["DOUBLE", "DOUBLE"],
            "BIGINT",
            type="arrow",
        )
    )

    area_of: AreaOf = ibis.udf.scalar.builtin(name=_NAME)(_signature)
    return area_of
