"""Random walks: records that leave the known prefixes, continued by the transition chances.

The random numbers are public: a sequence that is the same for every release.
"""

from typing import Final

import numpy as np

from hushway.arrays import FloatArray, Int8Array, Int32Array, IntArray
from hushway.families.sequences.fit.transitions import (
    ENDS,
    STAYS,
    TO_EARLIER,
    TO_NEW,
    NewPlaceChances,
    TransitionModel,
    context_of,
    earlier_places,
    place_back,
    turn_chances,
    was_there,
)
from hushway.families.sequences.public.questions import TURNS
from hushway.numerics.compiled import compiled, compiled_for_threads
from hushway.numerics.search import first_above, first_at_least
from hushway.numerics.threads import in_threads, processors

# The mixer of splitmix64 (Steele, Lea and Flood 2014): public numbers that look like chance.
_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)
_UNIT: Final = 2.0**-53
_SEED: Final = 20121117
# After so many vain attempts only the last place is looked at; after so many the record stays.
_PATIENCE, _ATTEMPTS = 6, 16
# Records that share one row of public chance; several are walked at once.
_TOGETHER: Final = 1 << 15

Walking = tuple[Int32Array, IntArray, Int8Array, IntArray]
"""Paths, numbers of stops, turns to the last stop, and the node that each record is at."""


def continue_records(
    model: TransitionModel, records: Walking, known: IntArray, firsts: FloatArray, height: int
) -> None:
    """Continues records in place until they end, on as many processors as there are.

    `known` are the ways down the tree, ascending, as node * places + place; `firsts` are cumulated
    chances of first stops.
    """

    def walk(first: int) -> None:
        some = slice(first, first + _TOGETHER)
        paths, stops, turned, node = records
        part = paths[some], stops[some], turned[some], node[some]
        _continue(model, part, known, firsts, (height, _SEED + first))

    for _ in in_threads(walk, range(0, len(records[1]), _TOGETHER), processors()):
        pass


@compiled_for_threads
def _continue(  # noqa: C901, PLR0912, PLR0915  calls for each step would double the time
    model: TransitionModel,
    records: Walking,
    known: IntArray,
    firsts: FloatArray,
    limits: tuple[int, int],
) -> None:
    """Continues some records; `limits` are the stops that count, and a seed of public chance.

    The first step of a record is none that the tree knows below its node, and not its end.
    """
    height, seed = limits
    paths, stops, turned, node = records
    turning, following, paired = model
    places = len(turning.inclined)
    here, below, end = -1, 0, 0
    leaving, chances = np.empty(TURNS), np.empty(TURNS)
    state = np.uint64(seed)
    for row in range(len(stops)):
        path, begun = paths[row], stops[row]
        if node[row] != here:
            # Records of a node stand together, and leave it by the same chances.
            here = node[row]
            below = first_at_least(known, here * places, 0, len(known))
            end = first_at_least(known, (here + 1) * places, below, len(known))
            if begun > 0:
                turn_chances(turning, path, begun, turned[row], leaving)
        while stops[row] < height:
            made = stops[row]
            if made == begun:
                for way in range(len(leaving)):
                    chances[way] = leaving[way]
            else:
                turn_chances(turning, path, made, turned[row], chances)
                state += _GOLDEN
                if chance(state) < chances[ENDS]:
                    break
            if made > 0 and chances[ENDS] >= 1:
                break
            context = context_of(paired, path, made) if made > 0 else -1
            turn, place = TO_NEW, -1
            for attempt in range(_ATTEMPTS):
                state += _GOLDEN
                if made == 0:
                    place = first_above(firsts, chance(state) * firsts[-1], 0, len(firsts))
                else:
                    if attempt == _PATIENCE:
                        context = int(path[made - 1])
                    turn = _turn(chances, chance(state))
                    if turn < TO_EARLIER:
                        place = place_back(path, made, turn)
                    else:
                        state += _GOLDEN
                        place = _place(following, (path, made), (turn, context), chance(state))
                if made == begun and place >= 0:
                    way = here * places + place
                    at = first_at_least(known, way, below, end)
                    if at < end and known[at] == way:
                        place = -1
                if place >= 0:
                    break
            if place < 0:
                break
            path[made], turned[row] = place, turn
            stops[row] = made + 1


@compiled
def _place(
    following: NewPlaceChances,
    walked: tuple[Int32Array, int],
    turn_at: tuple[int, int],
    number: float,
) -> int:
    """Returns an earlier or a new place by a public random number, or -1 if it found none."""
    path, made = walked
    turn, context = turn_at
    if turn == TO_EARLIER:
        earlier = np.empty(made, dtype=np.int32)
        places = earlier_places(path, made, earlier)
        return int(earlier[int(number * places)])
    place = _new_place(following, context, number)
    return -1 if place >= 0 and was_there(path, made, place) else place


@compiled
def chance(state: np.uint64) -> float:
    """Returns a public random number from 0 to 1; states follow each other by `_GOLDEN`."""
    mixed = (state ^ (state >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    mixed ^= mixed >> np.uint64(31)
    return float(mixed >> np.uint64(11)) * _UNIT


@compiled
def _turn(chances: FloatArray, number: float) -> int:
    """Returns a turn other than the end."""
    left = number * (1 - chances[ENDS])
    turn = STAYS
    while turn < TO_NEW and left >= chances[turn]:
        left -= chances[turn]
        turn += 1
    return turn


@compiled
def _new_place(following: NewPlaceChances, context: int, number: float) -> int:
    first, upto = following.start, following.upto
    begin, end = first[context], first[context + 1]
    if begin == end:
        return -1
    where = first_above(upto, number, begin, end)
    return int(following.place[min(where, end - 1)])
