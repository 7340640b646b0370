"""How records go on: an interpolated back-off model over contexts of a published tree.

Contexts (pools) are known by keys, from wide to narrow. People come back: to the stop where they
got off, or the one where they began. So a history is known by its shape too, which says where stops
repeat and not which stops they are.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray, WordArray
from hushway.families.sequences.fit.distinct import mixed
from hushway.numerics.compiled import compiled

# What a record does next: it ends, goes to a place that is new to it, or back to the stop a number
# of stops ago (1 is the last stop again).
END, NEW = 0, 1
MOST_BACK = 12
KINDS = 2 + MOST_BACK

# Pools for what a record does next, from the widest to the narrowest, and for which new place.
KIND_POOLS, PLACE_POOLS = 4, 3

_SHORT = 4


@compiled
def kind_keys(history: IntArray, keys: WordArray) -> None:
    """Writes the keys of a history's pools: parity, short shape, shape, shape and last stop.

    Taps often come in pairs, on and off, so that odd and even stops differ.
    """
    length = len(history)
    begin = max(0, length - _SHORT)
    short, shape = mixed(np.uint64(1), length % 2), mixed(np.uint64(2), length)
    for at in range(length):
        shape = mixed(shape, stops_back(history[:at], history[at]))
        if at >= begin:
            short = mixed(short, stops_back(history[begin:at], history[at]))
    keys[0] = mixed(np.uint64(3), length % 2)
    keys[1] = short
    keys[2] = shape
    keys[3] = mixed(shape, history[-1] + 1) if length else shape


@compiled
def place_keys(history: IntArray, keys: WordArray) -> None:
    """Writes the keys of a history's pools: parity, and with it the last stop or the last two."""
    length = len(history)
    keys[0] = mixed(np.uint64(4), length % 2 if length else 2)
    keys[1] = mixed(keys[0], history[-1] + 1 if length else 0)
    keys[2] = mixed(keys[1], history[-2] + 1 if length > 1 else 0)


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


# A narrow pool of so many records counts as much as the wider pools together. It is about the noise
# in one count; half or three times as much made no difference that could be measured.
_TRUST = 100.0
# Where nothing is known, nearly all records end: completion adds only what the tree suggests.
_ENDS_UNKNOWN = 0.9


class Moves(NamedTuple):
    """Records that were seen to go on or to end, and the pools that each counts in.

    Attributes:
        kind_keys: Pools for what it does.
        place_keys: Pools for which new place it goes to.
        place: Where it goes; 0 if it ends.
        records: How many records do so; need not be whole.
    """

    kind_keys: WordArray
    place_keys: WordArray
    kind: IntArray
    place: IntArray
    records: FloatArray


class Model(NamedTuple):
    """Pooled counts, level after level, with the keys of each level ascending.

    Attributes:
        kind_level: Where each level of `kind_key` begins; one entry more than levels.
        kind_key: The pools for what records do.
        kind_records: How many records of each pool do what.
        place_level: Where each level of `place_key` begins; one entry more than levels.
        place_key: The pools for which new place records go to.
        place_total: How many records of each pool go to a new place.
        place_start: Where the list of each pool begins; one entry more than pools.
    """

    places: int
    kind_level: IntArray
    kind_key: WordArray
    kind_records: FloatArray
    place_level: IntArray
    place_key: WordArray
    place_total: FloatArray
    place_start: IntArray
    place: IntArray
    place_records: FloatArray


def pooled(moves: Sequence[Moves], places: int) -> Model:
    """Returns the pools of all moves."""
    nothing = Moves(
        kind_keys=np.zeros((0, KIND_POOLS), dtype=np.uint64),
        place_keys=np.zeros((0, PLACE_POOLS), dtype=np.uint64),
        kind=np.zeros(0, dtype=np.int64),
        place=np.zeros(0, dtype=np.int64),
        records=np.zeros(0, dtype=np.float64),
    )
    columns = (np.concatenate(column) for column in zip(nothing, *moves, strict=True))
    all_moves = Moves(*columns)
    new = all_moves.kind == NEW
    kinds = [_kind_pool(all_moves, level) for level in range(KIND_POOLS)]
    lists = [
        _place_pool(all_moves.place_keys[new, level], all_moves, new, places)
        for level in range(PLACE_POOLS)
    ]
    lengths = np.concatenate([length for _, length, _, _ in lists])
    records = np.concatenate([records for *_, records in lists])
    start = _starts(lengths)
    sums = np.concatenate([np.zeros(1), np.cumsum(records)])
    return Model(
        places=places,
        kind_level=_starts(np.array([len(keys) for keys, _ in kinds])),
        kind_key=np.concatenate([keys for keys, _ in kinds]),
        kind_records=np.concatenate([rows for _, rows in kinds]),
        place_level=_starts(np.array([len(keys) for keys, *_ in lists])),
        place_key=np.concatenate([keys for keys, *_ in lists]),
        place_total=sums[start[1:]] - sums[start[:-1]],
        place_start=start,
        place=np.concatenate([place for _, _, place, _ in lists]),
        place_records=records,
    )


@compiled
def kind_chances(model: Model, history: IntArray, keys: WordArray, chances: FloatArray) -> None:
    """Writes the probability of all that a record may do next, given its history.

    Each pool is interpolated with the wider ones, and counts the more the more records it has.
    """
    kind_keys(history, keys)
    chances[:] = 0.0
    chances[END], chances[NEW] = _ENDS_UNKNOWN, 1 - _ENDS_UNKNOWN
    for level in range(KIND_POOLS):
        pool = _pool(model.kind_key, model.kind_level, level, keys[level])
        if pool >= 0:
            trusted = 1 / (model.kind_records[pool].sum() + _TRUST)
            for kind in range(KINDS):
                count = model.kind_records[pool, kind]
                chances[kind] = (count + _TRUST * chances[kind]) * trusted
    length = len(history)
    for back in range(1, KINDS - 1):
        # A place visited twice is known by its last visit.
        if back > length or stops_back(history, history[length - back]) != back:
            chances[1 + back] = 0.0
    chances /= chances.sum()


@compiled
def place_chances(model: Model, history: IntArray, keys: WordArray, chances: FloatArray) -> None:
    """Writes the probability of each place, given the history of a record that goes to a new one.

    Places in the history get 0, and the others add up to 1.
    """
    place_keys(history, keys)
    chances[:] = 0.0
    left = 1.0
    for deeper in range(PLACE_POOLS):
        level = PLACE_POOLS - 1 - deeper
        pool = _pool(model.place_key, model.place_level, level, keys[level])
        if pool >= 0:
            part = left / (model.place_total[pool] + _TRUST)
            left = part * _TRUST
            for at in range(model.place_start[pool], model.place_start[pool + 1]):
                chances[model.place[at]] += part * model.place_records[at]
    chances += left / model.places
    unvisited = 1.0
    for place in history:
        unvisited -= chances[place]
        chances[place] = 0.0
    if unvisited > 0:
        chances /= unvisited


@compiled
def _pool(keys: WordArray, levels: IntArray, level: int, key: np.uint64) -> int:
    """Returns the number of a pool, or -1 if nothing was seen in it."""
    begin, end = levels[level], levels[level + 1]
    at = begin + np.searchsorted(keys[begin:end], key)
    return int(at) if at < end and keys[at] == key else -1


def _kind_pool(moves: Moves, level: int) -> tuple[WordArray, FloatArray]:
    keys, pool = np.unique(moves.kind_keys[:, level], return_inverse=True)
    cells = np.bincount(pool * KINDS + moves.kind, moves.records, minlength=len(keys) * KINDS)
    return keys, cells.reshape(-1, KINDS).astype(np.float64)


def _place_pool(
    key: WordArray, moves: Moves, new: BoolArray, places: int
) -> tuple[WordArray, IntArray, IntArray, FloatArray]:
    """Returns the keys of a level, the length of each pool's list, and the lists in a row."""
    keys, pool = np.unique(key, return_inverse=True)
    cells, cell = np.unique(pool * places + moves.place[new], return_inverse=True)
    records = np.bincount(cell, moves.records[new], minlength=len(cells)).astype(np.float64)
    lengths = np.bincount(cells // places, minlength=len(keys)).astype(np.int64)
    return keys, lengths, cells % places, records


def _starts(lengths: IntArray) -> IntArray:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
