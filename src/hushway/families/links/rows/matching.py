"""What counting needs of a map matcher."""

from typing import Protocol

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.matching.traces import Traces, Ways


class RoadMatcher(Protocol):
    """Finds the ways of traces on a road network: each of its own trace and the public map alone.

    Privacy:
        What becomes of a trip must not depend on the other trips that are matched with it, nor on
        the number of threads.
    """

    def match(self, traces: Traces, *, threads: int | None = None) -> Ways:
        """Returns the way of each trip."""
        ...

    def nearest_links(
        self, x: FloatArray, y: FloatArray, radius: float
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Returns links near points, nearest first: where each point's begin, they, distances."""
        ...

    def links_within(self, x: FloatArray, y: FloatArray, radii: FloatArray) -> IntArray:
        """Returns how many streets lie within each radius (columns) of each point (rows)."""
        ...
