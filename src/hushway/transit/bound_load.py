"""How many shuttles the riders fill who must be on board in some span of time."""

import numpy as np

from hushway.arrays import IntArray
from hushway.transit.bound_pairs import LegWindows

# Spans start at this many moments at most; each costs a few milliseconds for 15,000 legs.
_MOST_STARTS = 400


def fewest_for_load(legs: LegWindows, *, unserved_allowed: int) -> int:
    """Returns the largest number of shuttles that the seats in use in some span ask for.

    However a leg is served, it is on board from its pick-up on for its direct drive at least. Over
    the pick-ups that are allowed, the part of that drive inside a span rises and then falls, so
    it is least for the earliest or the latest pick-up. The parts of all served legs together are
    no more than seats x shuttles x the length of the span. Legs left unserved take away no more
    than the largest parts.

    Every span gives a true bound. For each start all ends are tried that can matter; the starts
    are spread over the moments at which riders enter and leave.
    """
    return max(
        (
            _fewest_from(legs, int(start), unserved_allowed=unserved_allowed)
            for start in _starts(legs)
        ),
        default=0,
    )


def _starts(legs: LegWindows) -> IntArray:
    # Where the bound of a span with a fixed end bends as its start moves.
    bends = np.unique(
        np.concatenate(
            [legs.request_s, legs.request_s + legs.direct_s, legs.request_s + legs.most_wait_s]
        )
    )
    few = np.linspace(0, len(bends) - 1, min(len(bends), _MOST_STARTS)).astype(np.int64)
    return bends[few]


def _fewest_from(legs: LegWindows, start_s: int, *, unserved_allowed: int) -> int:
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
    on_board_s = on_board_s - _largest(most_s, length_s, unserved_allowed)
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


def _largest(most_s: IntArray, length_s: IntArray, count: int) -> IntArray:
    """Returns, for each length, the sum of the largest parts, none above the length."""
    parts = np.sort(most_s)[max(0, len(most_s) - count) :]
    shorter = np.searchsorted(parts, length_s)
    below = np.concatenate([[0], np.cumsum(parts)])
    return np.asarray(below[shorter] + (len(parts) - shorter) * length_s)
