"""How a record may go on after the stops it has made, as machine code.

A way on is first a turn, then a place. Turns back lead to places of the record itself; a turn to
something new leads to a place that the record has not been to, by the chances of its context.
"""

from typing import NamedTuple

import numpy as np

from hushway.arrays import FloatArray, Int8Array, Int32Array, IntArray
from hushway.families.sequences.public.questions import TURNS, Turn
from hushway.numerics.compiled import compiled
from hushway.numerics.search import first_at_least

ENDS, STAYS, BACK, BACK_TWO = (
    int(turn) for turn in (Turn.ENDS, Turn.STAYS, Turn.BACK, Turn.BACK_TWO)
)
TO_FIRST, TO_EARLIER, TO_NEW = (int(turn) for turn in (Turn.TO_FIRST, Turn.TO_EARLIER, Turn.TO_NEW))


class Habits(NamedTuple):
    """What is known of how records go on, as plain arrays.

    Attributes:
        turns: Chance of each turn, by number of the stop and turn to it.
        inclined: How much likelier each turn is at each place than usual.
        odds: By how much the odds of ending are to be multiplied after each number of stops.
        start: Where each context begins.
        place: The places that may follow in each context.
        chance: How likely each is.
        upto: Chances summed up within each context.
        pairs: The pairs of places that are contexts of their own.
        pairs_start: Where those begin that have each place first; one entry more than places.
    """

    turns: FloatArray
    inclined: FloatArray
    odds: FloatArray
    start: IntArray
    place: IntArray
    chance: FloatArray
    upto: FloatArray
    pairs: IntArray
    pairs_start: IntArray


@compiled
def turn_chances(
    habits: Habits, path: Int32Array, stops: int, turned: int, chances: FloatArray
) -> None:
    """Fills in the chance of every turn that a record can make, those that it cannot being 0.

    Args:
        habits: What is known of how records go on.
        path: The places of the record.
        stops: How many stops it has made, at least 1.
        turned: The turn to the last of them.
        chances: One entry for each turn, to be filled in.
    """
    # Each time that an array is taken out of habits, its users are counted: so but once.
    usual, inclined, odds = habits.turns, habits.inclined, habits.odds[stops]
    last = path[stops - 1]
    total = 0.0
    for turn in range(TURNS):
        chance = usual[stops - 1, turned, turn] * inclined[last, turn]
        if chance > 0 and not _is_possible(path, stops, turn):
            chance = 0.0
        chances[turn] = chance
        total += chance
    if total <= 0:
        chances[ENDS], total = 1.0, 1.0
    for turn in range(TURNS):
        chances[turn] /= total
    # The odds of ending are those that give the lengths that were measured.
    ends = chances[ENDS]
    if 0 < ends < 1:
        changed = odds * ends / (1 - ends + odds * ends)
        for turn in range(TURNS):
            chances[turn] *= (1 - changed) / (1 - ends)
        chances[ENDS] = changed


@compiled
def _is_possible(path: Int32Array, stops: int, turn: int) -> bool:
    if BACK <= turn <= BACK_TWO:
        return stops >= turn and _is_fresh(path, stops, path[stops - turn], turn - 1)
    if turn == TO_FIRST:
        return stops > BACK_TWO and _is_fresh(path, stops, path[0], BACK_TWO)
    if turn == TO_EARLIER:
        return _has_earlier(path, stops)
    return True


@compiled
def _has_earlier(path: Int32Array, stops: int) -> bool:
    """Whether there is a place that only the turn to an earlier one leads to."""
    found = False
    for at in range(1, stops - BACK_TWO):
        found = found or (path[at] != path[0] and _is_fresh(path, stops, path[at], BACK_TWO))
    return found


@compiled
def _is_fresh(path: Int32Array, stops: int, place: int, back: int) -> bool:
    """Whether a place is none of the last so many."""
    fresh = True
    for step in range(1, back + 1):
        fresh = fresh and path[stops - step] != place
    return fresh


@compiled
def earlier_places(path: Int32Array, stops: int, found: Int32Array) -> int:
    """Fills in the places that only the turn to an earlier one leads to; returns their number."""
    number = 0
    for at in range(1, stops - BACK_TWO):
        place = path[at]
        if place == path[0] or not _is_fresh(path, stops, place, BACK_TWO):
            continue
        again = False
        for other in range(number):
            again = again or found[other] == place
        if not again:
            found[number] = place
            number += 1
    return number


@compiled
def was_there(path: Int32Array, stops: int, place: int) -> bool:
    """Whether a record has been to a place."""
    there = False
    for at in range(stops):
        there = there or path[at] == place
    return there


@compiled
def context_of(habits: Habits, path: Int32Array, stops: int) -> int:
    """Returns the number of the context that a record is in.

    Args:
        habits: What is known of how records go on.
        path: The places of the record.
        stops: How many stops it has made, at least 1.
    """
    pairs, first = habits.pairs, habits.pairs_start
    places = len(first) - 1
    here = int(path[stops - 1])
    if stops == 1:
        return places + here
    before = path[stops - 2]
    pair, end = before * places + here, first[before + 1]
    where = first_at_least(pairs, pair, first[before], end)
    if where < end and pairs[where] == pair:
        return int(2 * places + where)
    return here


@compiled
def place_back(path: Int32Array, stops: int, turn: int) -> int:
    """Returns the place that a turn back leads to, other than the turn to an earlier one."""
    return int(path[0] if turn == TO_FIRST else path[stops - turn])


@compiled
def ending_chances(habits: Habits, paths: Int32Array, stops: int, turned: Int8Array) -> FloatArray:
    """Returns how likely each of some records with so many stops ends there."""
    chances = np.empty(TURNS)
    ending = np.empty(len(paths))
    for row in range(len(paths)):
        turn_chances(habits, paths[row], stops, turned[row], chances)
        ending[row] = chances[ENDS]
    return ending
