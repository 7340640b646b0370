"""How each stop of a record relates to the stops before it."""

import numpy as np

from hushway.arrays import Int8Array, Int32Array, IntArray
from hushway.families.sequences.public.questions import Turn
from hushway.numerics.compiled import compiled

_STAYS, _BACK, _BACK_TWO = int(Turn.STAYS), int(Turn.BACK), int(Turn.BACK_TWO)
_TO_FIRST, _TO_EARLIER, _TO_NEW = int(Turn.TO_FIRST), int(Turn.TO_EARLIER), int(Turn.TO_NEW)


@compiled
def turns_of(start: IntArray, stops: Int32Array | IntArray) -> Int8Array:
    """Returns the turn by which each stop is reached; the first one of a sequence is new.

    Args:
        start: Where each sequence begins; one entry more than sequences.
        stops: The places of all of them in a row.
    """
    turns = np.empty(len(stops), dtype=np.int8)
    for row in range(len(start) - 1):
        first = start[row]
        for at in range(first, start[row + 1]):
            turns[at] = _turn(stops, first, at)
    return turns


@compiled
def _turn(stops: Int32Array | IntArray, first: int, at: int) -> int:
    place = stops[at]
    for back in range(_STAYS, _BACK_TWO + 1):
        if at - back >= first and stops[at - back] == place:
            return back
    if at > first and stops[first] == place:
        return _TO_FIRST
    for earlier in range(first + 1, at):
        if stops[earlier] == place:
            return _TO_EARLIER
    return _TO_NEW
