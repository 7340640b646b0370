"""No fewer shuttles than this can serve the legs of a zone, whoever dispatches them.

The bounds hold for every dispatching, also for one that knows all legs beforehand and starts its
shuttles wherever it likes. A fleet that a simulation finds enough lies above them, so the two
together say how much a better dispatching could save at most.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from hushway.arrays import BoolArray, IntArray
from hushway.errors import PlanError
from hushway.transit.bound_groups import fewest_paths, legs_apart
from hushway.transit.bound_load import fewest_for_load
from hushway.transit.bound_pairs import LegWindows, on_one_seat, on_one_shuttle
from hushway.transit.legs import ShuttleLegs
from hushway.transit.rules import ServiceRules

# Pairs of legs are looked at for so many legs in a row. Large blocks see every leg of a rush hour;
# in small ones paths cannot gain from legs between that let them pass where nobody can.
_BLOCKS = (2000, 500, 150, 50)


@dataclass(frozen=True, kw_only=True)
class FleetBound:
    """Lower bounds on the shuttles that serve all legs but those that may be left unserved.

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


def fewest_shuttles(
    legs: ShuttleLegs,
    shuttle_s: IntArray,
    rules: ServiceRules,
    *,
    unserved_allowed: int = 0,
) -> FleetBound:
    """Returns lower bounds on the number of shuttles that can serve legs.

    Bounds for some of the legs hold for all, since serving all serves those. Leaving k legs
    unserved saves k groups at most: give each of them a group of its own, and the groups of the
    others with these k are groups of all legs.

    Args:
        legs: What riders ask for.
        shuttle_s: Seconds from place to place, 0 from a place to itself; no way round by a third
            place is shorter.
        rules: What riders are promised.
        unserved_allowed: How many legs need not be served, whichever they are.

    Raises:
        PlanError: If fewer than no legs may be left unserved.
    """
    if unserved_allowed < 0:
        raise PlanError(
            "The number of legs that may be left unserved is negative.", advice="Give 0 or more."
        )
    windows = LegWindows.of(legs, shuttle_s, rules)
    blocks = list(_blocks(windows))
    together = [on_one_shuttle(block) for block in blocks]
    in_turn = [on_one_seat(block) for block in blocks]
    seats_needed = max(_most(fewest_paths, in_turn), _most(legs_apart, in_turn)) - unserved_allowed
    return FleetBound(
        paths=max(0, _most(fewest_paths, together) - unserved_allowed),
        apart=max(0, _most(legs_apart, together) - unserved_allowed),
        seats=max(0, -(-seats_needed // rules.seats)),
        load=fewest_for_load(windows, unserved_allowed=unserved_allowed),
        least=int(len(legs) > unserved_allowed),
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
