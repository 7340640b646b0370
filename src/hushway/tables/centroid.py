"""The middle of a polygon."""

from collections.abc import Sequence
from math import fsum

Ring = Sequence[Sequence[float]]


def centroid(polygons: Sequence[Sequence[Ring]]) -> tuple[float, float]:
    """Returns the centroid of polygons with holes, in the plane of their coordinates.

    Each polygon is an outer ring followed by its holes. The difference between degrees in the plane
    and the sphere does not matter at the size of a zone. A polygon without area is at the mean of
    its corners.

    Raises:
        ValueError: There is no ring, or a ring has no corner.
    """
    parts = []
    for polygon in polygons:
        for hole, ring in enumerate(polygon):
            area, lon, lat = _ring(ring)
            parts.append((-abs(area) if hole else abs(area), lon, lat))
    if not parts:
        raise ValueError
    whole = fsum(area for area, _, _ in parts)
    if whole <= 0:
        corners = [corner for polygon in polygons for corner in polygon[0]]
        return _mean(corners)
    return (
        fsum(area * lon for area, lon, _ in parts) / whole,
        fsum(area * lat for area, _, lat in parts) / whole,
    )


def _ring(ring: Ring) -> tuple[float, float, float]:
    """Returns (signed area, lon, lat) of a ring by the shoelace formula."""
    corners = [(float(corner[0]), float(corner[1])) for corner in ring]
    if not corners:
        raise ValueError
    # Measured from the first corner: far from 0 the products would cancel digits.
    at_lon, at_lat = corners[0]
    local = [(lon - at_lon, lat - at_lat) for lon, lat in corners]
    crosses = [
        (ax * by - bx * ay, ax + bx, ay + by)
        for (ax, ay), (bx, by) in zip(local, [*local[1:], local[0]], strict=True)
    ]
    twice = fsum(cross for cross, _, _ in crosses)
    if twice == 0:
        return 0.0, *_mean(corners)
    return (
        twice / 2,
        at_lon + fsum(cross * lon for cross, lon, _ in crosses) / (3 * twice),
        at_lat + fsum(cross * lat for cross, _, lat in crosses) / (3 * twice),
    )


def _mean(corners: Sequence[Sequence[float]]) -> tuple[float, float]:
    count = len(corners)
    return (
        fsum(float(corner[0]) for corner in corners) / count,
        fsum(float(corner[1]) for corner in corners) / count,
    )
