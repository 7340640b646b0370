"""What riders are promised, and what vehicles hold."""

from dataclasses import dataclass

from hushway.arrays import IntArray
from hushway.errors import PlanError


@dataclass(frozen=True, kw_only=True)
class ServiceRules:
    """The rules that every ride keeps.

    Attributes:
        seats: Riders that a shuttle holds.
        bus_seats: Riders that a bus holds.
        most_wait_s: The longest wait for a shuttle; a rider whom none can reach by then is not
            served.
        detour: How many times its direct drive a shared ride may take.
        detour_s: Seconds that it may take on top.
    """

    seats: int = 8
    bus_seats: int = 100
    most_wait_s: int = 900
    detour: float = 1.5
    detour_s: int = 180

    def __post_init__(self) -> None:
        if min(self.seats, self.bus_seats) < 1:
            raise PlanError("A vehicle needs a seat.", advice="Give 1 seat or more.")
        if self.most_wait_s < 0 or self.detour < 1 or self.detour_s < 0:
            raise PlanError(
                "A wait or a detour cannot be negative.",
                advice="Give seconds of 0 or more, and a detour of 1 or more.",
            )

    def longest_ride_s(self, direct_s: IntArray) -> IntArray:
        """Returns how long a ride may take whose direct drive takes so long."""
        return (direct_s * self.detour).astype(direct_s.dtype) + self.detour_s
