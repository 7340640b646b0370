"""What shuttles are asked to do: rides from a place to a place, each from some moment on."""

from dataclasses import dataclass

from hushway.arrays import IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class ShuttleLegs:
    """Rides that riders ask for, in the order of asking; one rider each.

    Attributes:
        request_s: When each is asked for, in seconds, ascending.
        pickup: Index of the place where it starts.
        dropoff: Index of the place where it ends, another one.
    """

    request_s: IntArray
    pickup: IntArray
    dropoff: IntArray

    def __len__(self) -> int:
        return len(self.request_s)
