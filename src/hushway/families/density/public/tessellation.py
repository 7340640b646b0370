"""Areas that share borders but no ground, but for what digitising leaves.

Whoever lives in two areas would be published twice, so areas that overlap are refused. Borders
drawn twice cross each other by slivers, though: such ground is given to the first of the two areas.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from hushway.arrays import FloatArray, IntArray
from hushway.errors import GeographyError
from hushway.geography.areas import Areas

# Overlaps above this part of the smaller area are not the noise of digitising. Official polygons
# that were simplified one by one overlap by up to half a percent.
_MOST_SHARED = 1e-2
# Overlaps below this part are the rounding of coordinates: cutting them off changes nothing.
_LEAST_SHARED = 1e-9
_SHOWN = 5


def tessellation(areas: Areas) -> NDArray[Any]:
    """Returns the areas' shapes in metres, no ground in two of them.

    Raises:
        GeographyError: Areas overlap by more than slivers; the message names the worst pairs.
    """
    shapes = _valid(areas.projected)
    first, second, shared = _overlaps(shapes)
    worst = [at for at in np.argsort(-shared, kind="stable") if shared[at] > _MOST_SHARED]
    if worst:
        _refuse(areas, ((first[at], second[at], shared[at]) for at in worst[:_SHOWN]), len(worst))
    # In the order of the first of two areas, so that ground in three goes to the first of all.
    for one, other in zip(first, second, strict=True):
        shapes[other] = shapely.difference(shapes[other], shapes[one])
    return shapes


def _overlaps(shapes: NDArray[Any]) -> tuple[IntArray, IntArray, FloatArray]:
    """Returns pairs (first, second) and the part of the smaller area that both hold."""
    left, right = shapely.STRtree(shapes).query(shapes, predicate="intersects")
    once = left < right
    first, second = left[once], right[once]
    order = np.lexsort((second, first))
    first, second = first[order], second[order]
    sizes = shapely.area(shapes)
    common = shapely.area(shapely.intersection(shapes[first], shapes[second]))
    shared = common / np.minimum(sizes[first], sizes[second])
    real = shared > _LEAST_SHARED
    return first[real], second[real], shared[real]


def _valid(shapes: NDArray[Any]) -> NDArray[Any]:
    """Returns a copy, in which corners that met when rounded do not hinder any overlay."""
    shapes = shapes.copy()
    crossed = ~shapely.is_valid(shapes)
    shapes[crossed] = shapely.make_valid(shapes[crossed])
    return shapes


def _refuse(areas: Areas, pairs: Iterable[tuple[int, int, float]], count: int) -> None:
    named = ", ".join(
        f"{areas.ids[one]!r} and {areas.ids[other]!r} ({shared:.2%} of the smaller)"
        for one, other, shared in pairs
    )
    more = f", and {count - _SHOWN} more pairs" if count > _SHOWN else ""
    raise GeographyError(
        f"Areas overlap each other: {named}{more}.",
        advice="Give areas that share borders but no ground.",
    )
