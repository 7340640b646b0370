"""Records brought together with everything that was measured.

Records are believed in, each with a weight and an uncertainty; every answer says what some sums of
weights should be. Going through the answers again and again, each sum is moved towards what was
measured as far as its own uncertainty and that of its records say, and the change is shared among
the records by their uncertainty. For one answer whose sums share no record that is the best
estimate; for all of them it comes close within a few rounds.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, Int32Array, IntArray
from hushway.families.sequences.fit.beginnings import Beginnings
from hushway.families.sequences.fit.contexts import NewPairs
from hushway.families.sequences.public.questions import FIRST_NEW, TURNS, Asked, Turn
from hushway.families.sequences.public.turns import turns_of
from hushway.numerics.compiled import compiled

_ROUNDS: Final = 3
_TINY: Final = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class Believed:
    """Records with weights.

    Attributes:
        node: The longest known prefix of each record.
        start: Where each record begins; one entry more than records.
        stops: The places of all records in a row.
        weight: How many records each one stands for.
        variance: The uncertainty of that.
    """

    node: IntArray
    start: IntArray
    stops: Int32Array
    weight: FloatArray
    variance: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class _Sums:
    """Sums of weights that were measured.

    Attributes:
        cell: The sum that each part of a record goes into.
        owner: The record of each part.
        wanted: What each sum is believed to be.
        variance: How uncertain that is.
    """

    cell: IntArray
    owner: IntArray
    wanted: FloatArray
    variance: FloatArray


def settle(records: Believed, known: Beginnings, pairs: NewPairs) -> FloatArray:
    """Returns the weights of records that agree with what was measured as far as it is sure."""
    weight = records.weight.copy()
    sums = _sums_measured(records, known, pairs)
    parts = [np.maximum(np.bincount(one.owner, minlength=len(weight)), 1) for one in sums]
    free = [
        np.bincount(one.cell, weights=records.variance[one.owner], minlength=len(one.wanted))
        for one in sums
    ]
    for _ in range(_ROUNDS):
        for one, each, spread in zip(sums, parts, free, strict=True):
            now = _added(one.cell, one.owner, weight, len(one.wanted))
            pull = (one.wanted - now) / np.maximum(spread + one.variance, _TINY)
            moved = _added(one.owner, one.cell, pull, len(weight))
            weight = np.maximum(weight + records.variance * moved / each, 0.0)
    return weight


@compiled
def _added(into: IntArray, place: IntArray, values: FloatArray, size: int) -> FloatArray:
    """Adds up values by where they go, without copies of them."""
    sums = np.zeros(size)
    for part in range(len(into)):
        sums[into[part]] += values[place[part]]
    return sums


def _sums_measured(records: Believed, known: Beginnings, pairs: NewPairs) -> tuple[_Sums, ...]:
    places, start = known.places, records.start
    stops = records.stops.astype(np.int64)
    length = np.diff(start)
    everyone = np.arange(len(length))
    owner = np.repeat(everyone, length)
    position = np.arange(len(stops)) - start[owner]
    turned = turns_of(start, records.stops).astype(np.int64)
    first, last = start[:-1], start[1:] - 1
    new = np.flatnonzero((turned == Turn.TO_NEW) & (position >= FIRST_NEW))
    # Turns after each stop: to the next one, or the end of a record that is not cut.
    later = np.flatnonzero(position > 0)
    ended = np.flatnonzero(length < known.height)
    before = np.concatenate([later - 1, last[ended]])
    turn = np.concatenate([turned[later], np.full(len(ended), Turn.ENDS)])
    turning = np.concatenate([owner[later], ended])
    second = np.where(length > 1, stops[np.minimum(first + 1, last)], places)
    two = stops[first] * (places + 1) + second

    def noisy(asked: Asked, cell: IntArray, whose: IntArray) -> _Sums:
        answer = known.answers[asked]
        wanted = answer.values.ravel()
        spread = np.full(len(wanted), answer.noise.variance)
        return _Sums(cell=cell, owner=whose, wanted=wanted, variance=spread)

    def believed(table: FloatArray, spread: FloatArray, cell: IntArray, whose: IntArray) -> _Sums:
        return _Sums(cell=cell, owner=whose, wanted=table.ravel(), variance=spread.ravel())

    return (
        believed(
            pairs.believed.mean,
            pairs.believed.variance,
            stops[new - 1] * places + stops[new],
            owner[new],
        ),
        noisy(Asked.TURNS_BY_PLACE, stops[before] * TURNS + turn, turning),
        noisy(Asked.TURNS, (position[before] * TURNS + turned[before]) * TURNS + turn, turning),
        believed(known.two.mean, known.two.variance, two, everyone),
        noisy(Asked.LASTS, stops[last], everyone),
        noisy(Asked.FIRSTS, stops[first], everyone),
        replace(noisy(Asked.LENGTHS, length - 1, everyone), wanted=known.lengths),
    )
