"""How a record may go on after the stops it has made, as machine code.

A transition is first a turn, then a place. Turns back lead to places of the record itself; a turn
to something new leads to a place that the record has not been to, by the chances of its context.
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


class TurnChances(NamedTuple):
    """Which turns records make.

    Attributes:
        turns: Chance of each turn, by number of the stop and turn to it.
        inclined: How much likelier each turn is at each place than usual.
        odds: By how much the odds of ending are to be multiplied after each number of stops.
    """

    turns: FloatArray
    inclined: FloatArray
    odds: FloatArray


class NewPlaceChances(NamedTuple):
    """Where records go that go somewhere new, one context after the other.

    Attributes:
        start: Where each context begins; one entry more than contexts.
        chance: How likely each is, given that something new follows.
        upto: Chances summed up within the context.
    """

    start: IntArray
    place: IntArray
    chance: FloatArray
    upto: FloatArray


class PairContexts(NamedTuple):
    """The pairs of places that are contexts, ascending, and where each first place begins."""

    pairs: IntArray
    start: IntArray


class TransitionModel(NamedTuple):
    """The transition chances as plain arrays.

    A compiled function counts the users of every array that it is given, whether it reads it or
    not, and that took most of the time. So each is given only the part that it reads.
    """

    turning: TurnChances
    following: NewPlaceChances
    paired: PairContexts


@compiled
def turn_chances(
    turning: TurnChances, path: Int32Array, stops: int, turned: int, chances: FloatArray
) -> None:
    """Fills in the chance of every turn after `stops` stops, the last reached by `turned`."""
    usual, inclined, odds = turning.turns, turning.inclined, turning.odds[stops]
    last, possible = path[stops - 1], _possible(path, stops)
    total = 0.0
    for turn in range(TURNS):
        chance = usual[stops - 1, turned, turn] * inclined[last, turn]
        if not possible >> turn & 1:
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
def _possible(path: Int32Array, stops: int) -> int:
    """Returns the turns that a record can make, one bit for each.

    All are told at once: calls for each would take longer than the answers.
    """
    turns = 1 << ENDS | 1 << STAYS | 1 << TO_NEW
    if stops < BACK:
        return turns
    last, second = path[stops - 1], path[stops - BACK]
    if second != last:
        turns |= 1 << BACK
    if stops < BACK_TWO:
        return turns
    third = path[stops - BACK_TWO]
    if third not in (last, second):
        turns |= 1 << BACK_TWO
    if stops == BACK_TWO:
        return turns
    first = path[0]
    if first not in (last, second, third):
        turns |= 1 << TO_FIRST
    # A place that no other turn leads to.
    for at in range(1, stops - BACK_TWO):
        if path[at] not in (first, last, second, third):
            turns |= 1 << TO_EARLIER
    return turns


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
def context_of(paired: PairContexts, path: Int32Array, stops: int) -> int:
    """Returns the number of the context that a record with at least one stop is in."""
    pairs, first = paired.pairs, paired.start
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
def ending_chances(
    turning: TurnChances, paths: Int32Array, stops: int, turned: Int8Array
) -> FloatArray:
    """Returns how likely each of some records with so many stops ends there."""
    chances = np.empty(TURNS)
    ending = np.empty(len(paths))
    for row in range(len(paths)):
        turn_chances(turning, paths[row], stops, turned[row], chances)
        ending[row] = chances[ENDS]
    return ending
