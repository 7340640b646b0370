"""What is known of a record so far, as keys under which like records are pooled.

People come back: the stop where they got off, or the one where they began. So a history is known by
its shape too, which says where stops repeat and not which stops they are.
"""

import numpy as np

from hushway.arrays import IntArray, WordArray
from hushway.numerics.compiled import compiled

# What a record does next: it ends, goes to a place that is new to it, or back to the stop a number
# of stops ago (1 is the last stop again).
END, NEW = 0, 1
MOST_BACK = 12
KINDS = 2 + MOST_BACK

# Pools for what a record does next, from the widest to the narrowest, and for which new place.
KIND_POOLS, PLACE_POOLS = 4, 3

_SHORT = 4
_SPREAD = np.uint64(6364136223846793005)
_OFFSET = np.uint64(1442695040888963407)
_FOLD = np.uint64(29)


@compiled
def kind_keys(history: IntArray, keys: WordArray) -> None:
    """Writes the keys of a history's pools: parity, short shape, shape, shape and last stop.

    Taps often come in pairs, on and off, so that odd and even stops differ.
    """
    length = len(history)
    begin = max(0, length - _SHORT)
    short, shape = _mixed(np.uint64(1), length % 2), _mixed(np.uint64(2), length)
    for at in range(length):
        shape = _mixed(shape, stops_back(history[:at], history[at]))
        if at >= begin:
            short = _mixed(short, stops_back(history[begin:at], history[at]))
    keys[0] = _mixed(np.uint64(3), length % 2)
    keys[1] = short
    keys[2] = shape
    keys[3] = _mixed(shape, history[-1] + 1) if length else shape


@compiled
def place_keys(history: IntArray, keys: WordArray) -> None:
    """Writes the keys of a history's pools: parity, and with it the last stop or the last two."""
    length = len(history)
    keys[0] = _mixed(np.uint64(4), length % 2 if length else 2)
    keys[1] = _mixed(keys[0], history[-1] + 1 if length else 0)
    keys[2] = _mixed(keys[1], history[-2] + 1 if length > 1 else 0)


@compiled
def stops_back(history: IntArray, place: int) -> int:
    """Returns how many stops ago a place was last visited; 0 if it is new or long ago."""
    length = len(history)
    for back in range(1, min(length, MOST_BACK) + 1):
        if history[length - back] == place:
            return back
    return 0


@compiled
def all_keys(histories: IntArray) -> tuple[WordArray, WordArray]:
    """Returns the keys of each row of histories of one length."""
    kinds = np.empty((len(histories), KIND_POOLS), dtype=np.uint64)
    places = np.empty((len(histories), PLACE_POOLS), dtype=np.uint64)
    for row in range(len(histories)):
        kind_keys(histories[row], kinds[row])
        place_keys(histories[row], places[row])
    return kinds, places


@compiled
def kinds_of(histories: IntArray, row: IntArray, place: IntArray) -> IntArray:
    """Returns what each record does that goes from a row of histories to a place."""
    kinds = np.empty(len(row), dtype=np.int64)
    for one in range(len(row)):
        back = stops_back(histories[row[one]], place[one])
        kinds[one] = NEW if back == 0 else 1 + back
    return kinds


@compiled
def _mixed(key: np.uint64, value: int) -> np.uint64:
    mixed = (key ^ np.uint64(value)) * _SPREAD + _OFFSET
    return mixed ^ (mixed >> _FOLD)
