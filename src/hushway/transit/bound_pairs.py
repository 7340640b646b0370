"""Which two legs one shuttle can serve, and which two can sit on one seat.

Both are decided for the two legs alone, by a shuttle that starts wherever and whenever it likes.
That is necessary for any service: take what a shuttle does and forget all its other legs. The
stops that are left keep their moments, and by the triangle inequality the drive from one of them to
the next still fits, so the shuttle could have served just the two.
"""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import BoolArray, IntArray
from hushway.numerics.compiled import compiled
from hushway.transit.legs import ShuttleLegs
from hushway.transit.rules import ServiceRules


@dataclass(frozen=True, kw_only=True, eq=False)
class LegWindows:
    """Legs with all that the rules say about their moments.

    Attributes:
        request_s: The earliest pick-up of each, ascending.
        pickup: Index of the place where it starts.
        dropoff: Index of the place where it ends.
        direct_s: The shortest time on board.
        longest_s: The longest time on board.
        most_wait_s: How long after the request a pick-up may be.
        seats: Riders that a shuttle holds.
        shuttle_s: Seconds from place to place.
    """

    request_s: IntArray
    pickup: IntArray
    dropoff: IntArray
    direct_s: IntArray
    longest_s: IntArray
    most_wait_s: int
    seats: int
    shuttle_s: IntArray

    @classmethod
    def of(cls, legs: ShuttleLegs, shuttle_s: IntArray, rules: ServiceRules) -> "LegWindows":
        """Returns the windows of legs under rules."""
        direct_s = shuttle_s[legs.pickup, legs.dropoff]
        return cls(
            request_s=legs.request_s,
            pickup=legs.pickup,
            dropoff=legs.dropoff,
            direct_s=direct_s,
            longest_s=rules.longest_ride_s(direct_s),
            most_wait_s=rules.most_wait_s,
            seats=rules.seats,
            shuttle_s=shuttle_s,
        )

    def __len__(self) -> int:
        return len(self.request_s)

    def between(self, first: int, end: int) -> "LegWindows":
        """Returns the legs from `first` up to, not including, `end`."""
        part = slice(first, end)
        return LegWindows(
            request_s=self.request_s[part],
            pickup=self.pickup[part],
            dropoff=self.dropoff[part],
            direct_s=self.direct_s[part],
            longest_s=self.longest_s[part],
            most_wait_s=self.most_wait_s,
            seats=self.seats,
            shuttle_s=self.shuttle_s,
        )


def on_one_seat(legs: LegWindows) -> BoolArray:
    """Returns which two legs can use the same seat, one after the other; symmetric."""
    return _pairs(_table(legs), legs.shuttle_s, legs.most_wait_s, 1)


def on_one_shuttle(legs: LegWindows) -> BoolArray:
    """Returns which two legs can be served by the same shuttle, shared or not; symmetric."""
    return _pairs(_table(legs), legs.shuttle_s, legs.most_wait_s, legs.seats)


def _table(legs: LegWindows) -> IntArray:
    return np.column_stack(
        [legs.request_s, legs.pickup, legs.dropoff, legs.direct_s, legs.longest_s]
    )


@compiled
def _pairs(legs: IntArray, shuttle_s: IntArray, most_wait_s: int, seats: int) -> BoolArray:
    pairs = np.zeros((len(legs), len(legs)), dtype=np.bool_)
    for i in range(len(legs)):
        for j in range(i + 1, len(legs)):
            one, other = legs[i], legs[j]
            pairs[i, j] = (
                _follows(one, other, shuttle_s, most_wait_s)
                or _follows(other, one, shuttle_s, most_wait_s)
                or (
                    seats > 1
                    and (
                        _joins(one, other, shuttle_s, most_wait_s)
                        or _joins(other, one, shuttle_s, most_wait_s)
                    )
                )
            )
            pairs[j, i] = pairs[i, j]
    return pairs


@compiled
def _follows(one: IntArray, other: IntArray, shuttle_s: IntArray, most_wait_s: int) -> bool:
    """Whether the other can be picked up after the one is dropped.

    The one is dropped at its request plus its direct drive at the earliest.
    """
    request, _, dropoff, direct, _ = one
    return bool(request + direct + shuttle_s[dropoff, other[1]] <= other[0] + most_wait_s)


@compiled
def _joins(one: IntArray, other: IntArray, shuttle_s: IntArray, most_wait_s: int) -> bool:
    """Whether the other can be picked up while the one is on board.

    Between the pick-ups pass at least the drive and whatever the windows force, and at most what
    the windows allow; every length between is possible. Either may be dropped first. The drives
    after the second pick-up take as long as they take: waiting there helps nobody.
    """
    request, pickup, dropoff, _, longest = one
    request_2, pickup_2, dropoff_2, direct_2, longest_2 = other
    between = max(shuttle_s[pickup, pickup_2], request_2 - request - most_wait_s)
    if between > request_2 - request + most_wait_s:
        return False
    to_dropoff = shuttle_s[pickup_2, dropoff]
    one_first = (
        between + to_dropoff <= longest and to_dropoff + shuttle_s[dropoff, dropoff_2] <= longest_2
    )
    other_first = between + direct_2 + shuttle_s[dropoff_2, dropoff] <= longest
    return bool(one_first or other_first)
