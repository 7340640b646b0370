"""Lower bounds on the shuttles that serve the legs of a zone, however they are dispatched.

The bounds hold for every dispatching, also for one that knows all legs beforehand and starts its
shuttles wherever it likes. A fleet that a simulation finds enough lies above them, so the two
together say how much a better dispatching could save at most.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from hushway.arrays import BoolArray, IntArray
from hushway.numerics.compiled import compiled
from hushway.transit.legs import ShuttleLegs
from hushway.transit.operations import ServiceRules

# Which two legs one shuttle can serve, and which two can sit on one seat.
#
# Both are decided for the two legs alone, by a shuttle that starts wherever and whenever it likes.
# That is necessary for any service: take what a shuttle does and forget all its other legs. The
# stops that are left keep their moments, and by the triangle inequality the drive from one of them
# to the next still fits, so the shuttle could have served just the two.


@dataclass(frozen=True, kw_only=True, eq=False)
class LegWindows:
    """Legs with all that the rules say about their moments.

    Attributes:
        request_s: The earliest pick-up of each, ascending.
        most_wait_s: How long after the request a pick-up may be.
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
        cut = ("request_s", "pickup", "dropoff", "direct_s", "longest_s")
        return replace(self, **{name: getattr(self, name)[part] for name in cut})


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


# Pairs of legs are looked at for so many legs in a row. Large blocks see every leg of a rush hour;
# in small ones paths cannot gain from legs between that let them pass where nobody can.
_BLOCKS = (2000, 500, 150, 50)


@dataclass(frozen=True, kw_only=True)
class FleetBound:
    """Lower bounds on the shuttles that serve all legs.

    Attributes:
        paths: The legs of one shuttle go together two by two; from paths through such pairs.
        apart: Likewise, from legs of which no two can be served by the same shuttle.
        seats: The legs of one seat follow each other; from groups of such legs.
        load: From the seats that are in use in some span of time.
        least: 1 if somebody must be served, else 0.
    """

    paths: int
    apart: int
    seats: int
    load: int
    least: int

    @property
    def shuttles(self) -> int:
        """The best of the bounds."""
        return max(self.paths, self.apart, self.seats, self.load, self.least)


def fewest_shuttles(legs: ShuttleLegs, shuttle_s: IntArray, rules: ServiceRules) -> FleetBound:
    """Returns lower bounds on the number of shuttles that can serve all legs.

    Bounds for some of the legs hold for all, since serving all serves those.

    Args:
        shuttle_s: Seconds from place to place, 0 from a place to itself; no way through a third
            place is shorter.
    """
    windows = LegWindows.of(legs, shuttle_s, rules)
    blocks = list(_blocks(windows))
    together = [on_one_shuttle(block) for block in blocks]
    in_turn = [on_one_seat(block) for block in blocks]
    seats_needed = max(_most(fewest_paths, in_turn), _most(legs_apart, in_turn))
    return FleetBound(
        paths=_most(fewest_paths, together),
        apart=_most(legs_apart, together),
        seats=-(-seats_needed // rules.seats),
        load=fewest_for_load(windows),
        least=int(len(legs) > 0),
    )


def _blocks(legs: LegWindows) -> Iterator[LegWindows]:
    """Yields, for each size, the legs in a row that are asked for in the shortest time."""
    sizes = {min(size, len(legs)) for size in _BLOCKS} - {0}
    for size in sorted(sizes):
        spans_s = legs.request_s[size - 1 :] - legs.request_s[: len(legs) - size + 1]
        first = int(np.argmin(spans_s))
        yield legs.between(first, first + size)


def _most(bound: Callable[[BoolArray], int], graphs: list[BoolArray]) -> int:
    return max((bound(pairs) for pairs in graphs), default=0)


# Spans start at this many moments at most; each costs a few milliseconds for 15,000 legs.
_MOST_STARTS = 400


def fewest_for_load(legs: LegWindows) -> int:
    """Returns the largest number of shuttles that the seats in use in some span ask for.

    However a leg is served, it is on board from its pick-up on for its direct drive at least. Over
    the pick-ups that are allowed, the part of that drive inside a span rises and then falls, so
    it is least for the earliest or the latest pick-up. The parts of all served legs together are
    no more than seats x shuttles x the length of the span.

    Every span gives a true bound. For each start all ends are tried that can matter; the starts
    are spread over the moments at which riders enter and leave.
    """
    return max((_fewest_from(legs, int(start)) for start in _starts(legs)), default=0)


def _starts(legs: LegWindows) -> IntArray:
    # Where the bound of a span with a fixed end bends as its start moves.
    bends = np.unique(
        np.concatenate(
            [legs.request_s, legs.request_s + legs.direct_s, legs.request_s + legs.most_wait_s]
        )
    )
    few = np.linspace(0, len(bends) - 1, min(len(bends), _MOST_STARTS)).astype(np.int64)
    return bends[few]


def _fewest_from(legs: LegWindows, start_s: int) -> int:
    # Picked up at the earliest, a leg leaves this much after the start; picked up at the latest it
    # enters at this moment, and from there on fills the span second by second.
    most_s = np.minimum(legs.direct_s, legs.request_s + legs.direct_s - start_s)
    matter = most_s > 0
    if not matter.any():
        return 0
    most_s = most_s[matter]
    enter_s = np.maximum(legs.request_s[matter] + legs.most_wait_s - start_s, 0)
    # Lengths of spans at which the seconds on board bend; between two of them, seconds per
    # length only rise or only fall.
    length_s, on_board_s = _ramps(enter_s, enter_s + most_s)
    return max(0, int((-(-on_board_s // (legs.seats * length_s))).max()))


def _ramps(from_s: IntArray, to_s: IntArray) -> tuple[IntArray, IntArray]:
    """Returns lengths above 0, and for each the sum of what lies between from and to below it."""
    moments = np.concatenate([from_s, to_s])
    order = np.argsort(moments, kind="stable")
    length_s = moments[order]
    riders = np.cumsum(np.where(order < len(from_s), 1, -1))
    on_board_s = np.concatenate([[0], np.cumsum(riders[:-1] * np.diff(length_s))])
    above = length_s > 0
    return length_s[above], on_board_s[above]


# How many groups legs need if any two legs of a group must go together.
#
# The fewest groups are a minimum clique cover, which is NP-hard. Two lower bounds are quick:
#
# - Paths. Number the legs in any way and draw every edge from the lower to the higher number. A
#   group, taken by number, is then a path, so a cover by groups is a cover by paths, and the fewest
#   paths are no more than the fewest groups. No circle can close, so the fewest paths that cover n
#   legs are n less the most edges of which no two leave or enter the same leg: a maximum matching.
# - Legs apart. In an independent set, legs no two of which go together, each needs its own group.
#
# Either can be the larger: a path may run through two legs that do not go together.

_NOBODY = -1


@compiled
def fewest_paths(pairs: BoolArray) -> int:
    """Returns the fewest paths that cover all legs, every step from a leg to a later one.

    Legs look for a leg to follow them, one leg after another; a leg that finds only taken ones
    looks whether somebody else can move. SciPy's matching of Hopcroft and Karp took 53 seconds for
    a dense graph of 1,000 legs, this a tenth of a second.
    """
    count = len(pairs)
    before = np.full(count, _NOBODY)
    after = np.full(count, _NOBODY)
    asked_by = np.empty(count, dtype=np.int64)
    # What a vain search has seen can never help a later one, so it stays seen.
    seen = np.zeros(count, dtype=np.bool_)
    reached = np.empty(count, dtype=np.int64)
    paths = 0
    for first in range(count):
        found, size, at, leg = _NOBODY, 0, 0, first
        while True:
            for other in range(leg + 1, count):
                if pairs[leg, other] and not seen[other]:
                    seen[other] = True
                    asked_by[other] = leg
                    reached[size] = other
                    size += 1
                    if before[other] == _NOBODY:
                        found = other
                        break
            if found != _NOBODY or at == size:
                break
            leg = before[reached[at]]
            at += 1
        if found == _NOBODY:
            paths += 1
            continue
        seen[reached[:size]] = False
        _move_up(before, after, asked_by, found)
    return paths


@compiled
def _move_up(before: IntArray, after: IntArray, asked_by: IntArray, found: int) -> None:
    """Gives everybody on the way back from the free leg the leg that they asked for."""
    while found != _NOBODY:
        leg = asked_by[found]
        released = after[leg]
        before[found], after[leg] = leg, found
        found = released


def legs_apart(pairs: BoolArray) -> int:
    """Returns a number of legs, as many as are easily found, of which no two go together.

    The leg that goes with the fewest others is taken and those others are put aside, again and
    again.
    """
    left = np.ones(len(pairs), dtype=np.bool_)
    others = pairs.sum(axis=1)
    taken = 0
    while left.any():
        leg = int(np.argmin(np.where(left, others, len(pairs))))
        gone = pairs[leg] & left
        gone[leg] = True
        left &= ~gone
        others -= pairs[gone].sum(axis=0)
        taken += 1
    return taken
