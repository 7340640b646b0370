"""Traces in metres on the map of a road network, and the ways along links that they become."""

from dataclasses import dataclass
from enum import IntEnum

from hushway.arrays import BoolArray, FloatArray, IntArray


class Reason(IntEnum):
    """What became of a trace."""

    MATCHED = 0
    TOO_SHORT = 1
    OFF_ROAD = 2
    NO_ROUTE = 3
    BROKEN = 4


@dataclass(frozen=True, kw_only=True, eq=False)
class Traces:
    """Positions of trips, one trip after the other, each in the order of time.

    Attributes:
        start: Where each trip begins; one entry more than trips.
        x: Metres east on the plane of the road network.
        y: Metres north.
        seconds: When each position was taken, ascending within a trip.
    """

    start: IntArray
    x: FloatArray
    y: FloatArray
    seconds: FloatArray

    def __len__(self) -> int:
        return len(self.start) - 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Ways:
    """Trips as links, one after the other.

    A trip that breaks is several connected stretches; within a stretch each link begins where the
    one before ends.

    Attributes:
        start: Where the links of each trip begin; one entry more than trips.
        link: The links of all trips in a row.
        entered: Second at which each link was entered, as far as positions tell.
        left: Second at which it was left.
        fresh: Whether a stretch begins with this link: true for the first of every trip.
        reason: A `Reason` for each trip: matched whole, broken, or why not at all.
        point_link: The link of each position of the traces; -1 where there is none.
    """

    start: IntArray
    link: IntArray
    entered: FloatArray
    left: FloatArray
    fresh: BoolArray
    reason: IntArray
    point_link: IntArray

    def __len__(self) -> int:
        return len(self.start) - 1
