"""Weights of records reconciled with everything that was measured, by cyclic least squares.

Every answer says what some sums of weights should be. Going through the answers again and again,
each sum is moved towards what was measured as far as its own variance and that of its records say,
and the change is shared among the records by their variance. For one answer whose sums share no
record that is the best linear estimate; for all of them it comes close within a few rounds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from hushway.arrays import BoolArray, FloatArray, Int8Array, Int32Array, IntArray
from hushway.families.sequences.fit.ngrams import NewPairs
from hushway.families.sequences.fit.posterior import Posterior
from hushway.families.sequences.fit.record_model import RecordModel
from hushway.families.sequences.public.questions import FIRST_NEW, TURNS, Asked, Turn, turns_of
from hushway.numerics.compiled import compiled
from hushway.privacy.measured import Measured
from hushway.release.contribution.completion import Completion, LeftOutSums, added_up, completion_of
from hushway.release.contribution.crowd import Crowd
from hushway.release.contribution.limits import Limits

_ROUNDS: Final = 3
_SWEEPS: Final = 8
# Sums over records are published within so many standard errors of what was measured.
_NEAR: Final = 1.5
# From here on, measured sums are of records, each of which is in one of them.
_OF_RECORDS: Final = 4
_TINY: Final = 1e-9
_ENDS, _TO_NEW = int(Turn.ENDS), int(Turn.TO_NEW)


@dataclass(frozen=True, kw_only=True, eq=False)
class WeightedRecords:
    """Records with weights.

    Attributes:
        node: The longest known prefix of each record.
        start: Where each record begins; one entry more than records.
        stops: The places of all records in a row.
        weight: How many records each one stands for.
        variance: The variance of that.
        drawn: Whether each was continued by chance, and stands for others that were not drawn.
    """

    node: IntArray
    start: IntArray
    stops: Int32Array
    weight: FloatArray
    variance: FloatArray
    drawn: BoolArray


@dataclass(frozen=True, kw_only=True, eq=False)
class _Sums:
    """Measured sums: parts of records (cell, owner), what each sum should be, and its variance."""

    cell: Int32Array
    owner: Int32Array
    wanted: FloatArray
    variance: FloatArray


def reconcile(records: WeightedRecords, known: RecordModel, pairs: NewPairs) -> FloatArray:
    """Returns the weights of records that agree with what was measured as far as it is sure."""
    weight = records.weight.copy()
    sums = _sums_measured(records, known, pairs)
    parts = [_parts(one.owner, len(weight)) for one in sums]
    free = [_added(one.cell, one.owner, records.variance, len(one.wanted)) for one in sums]
    for _ in range(_ROUNDS):
        for one, each, spread in zip(sums, parts, free, strict=True):
            now = _added(one.cell, one.owner, weight, len(one.wanted))
            pull = (one.wanted - now) / np.maximum(spread + one.variance, _TINY)
            moved = _added(one.owner, one.cell, pull, len(weight))
            _move(weight, records.variance, moved, each)
    *of_records, lengths = sums[_OF_RECORDS:]
    # Lengths are met exactly, and with them the number of records.
    exact = replace(lengths, variance=np.zeros_like(lengths.variance))
    return _met(weight, records.variance, (*of_records, exact), known.records)


def _met(
    weight: FloatArray, variance: FloatArray, sums: Sequence[_Sums], records: float
) -> FloatArray:
    """Moves weights until sums over records are near what was measured, and their number is it."""
    for _ in range(_SWEEPS):
        for one in sums:
            now = _added(one.cell, one.owner, weight, len(one.wanted))
            error = _NEAR * np.sqrt(one.variance)
            missing = np.clip(now, one.wanted - error, one.wanted + error) - now
            spread = _added(one.cell, one.owner, variance, len(one.wanted))
            pull = missing / np.maximum(spread, _TINY)
            weight = np.maximum(weight + variance * pull[one.cell], 0.0)
    scaled: FloatArray = weight * (records / max(float(weight.sum()), _TINY))
    return scaled


@compiled
def _parts(owner: Int32Array, records: int) -> Int32Array:
    """Returns how many parts of each record there are, and 1 where there are none."""
    parts = np.zeros(records, dtype=np.int32)
    for one in owner:
        parts[one] += 1
    return np.maximum(parts, 1)


@compiled
def _move(weight: FloatArray, variance: FloatArray, moved: FloatArray, parts: Int32Array) -> None:
    """Moves weights, but none below 0, without temporary arrays."""
    for one in range(len(weight)):
        weight[one] = max(weight[one] + variance[one] * moved[one] / parts[one], 0.0)


@compiled
def _added(into: Int32Array, place: Int32Array, values: FloatArray, size: int) -> FloatArray:
    """Adds up values by where they go, without copies of them."""
    sums = np.zeros(size)
    for part in range(len(into)):
        sums[into[part]] += values[place[part]]
    return sums


def _sums_measured(
    records: WeightedRecords, known: RecordModel, pairs: NewPairs
) -> tuple[_Sums, ...]:
    places, start, stops = known.places, records.start, records.stops
    length = np.diff(start).astype(np.int32)
    everyone = np.arange(len(length), dtype=np.int32)
    first, last = start[:-1], start[1:] - 1
    turned = turns_of(start, stops)
    new, newcomer = _new_pairs(start, stops, turned, places)
    by_place, by_number, turning = _turns(start, stops, turned, known.height)
    second = np.where(length > 1, stops[np.minimum(first + 1, last)], np.int32(places))
    two = stops[first] * np.int32(places + 1) + second

    def noisy(asked: Asked, cell: Int32Array, whose: Int32Array) -> _Sums:
        answer = known.answers[asked]
        found = answer.flat
        return _Sums(cell=cell, owner=whose, wanted=found.values, variance=found.variance)

    def believed(table: Posterior, cell: Int32Array, whose: Int32Array) -> _Sums:
        wanted = _stood_for(table.mean.ravel(), records, cell, whose)
        return _Sums(cell=cell, owner=whose, wanted=wanted, variance=table.variance.ravel())

    return (
        believed(pairs.believed, new, newcomer),
        noisy(Asked.TURNS_BY_PLACE, by_place, turning),
        noisy(Asked.TURNS, by_number, turning),
        believed(known.two, two, everyone),
        noisy(Asked.LASTS, stops[last], everyone),
        noisy(Asked.FIRSTS, stops[first], everyone),
        replace(noisy(Asked.LENGTHS, length - 1, everyone), wanted=known.lengths),
    )


def _stood_for(
    wanted: FloatArray, records: WeightedRecords, cell: Int32Array, owner: Int32Array
) -> FloatArray:
    """Shares out among drawn records what is wanted of sums that no record is in.

    Of many sums that are all small, chance draws some. If each of these were moved towards what is
    wanted of it alone, all that the others come to would be lost.
    """
    size = len(wanted)
    lacking = float(wanted[np.bincount(cell, minlength=size) == 0].sum())
    held = _added(cell, owner, np.where(records.drawn, records.weight, 0.0), size)
    shared: FloatArray = wanted + held * (lacking / max(float(held.sum()), _TINY))
    return shared


@compiled
def _new_pairs(
    start: IntArray, stops: Int32Array, turned: Int8Array, places: int
) -> tuple[Int32Array, Int32Array]:
    """Returns new stops after the second, each with the place before it, and whose they are."""
    cell = np.empty(len(stops), dtype=np.int32)
    owner = np.empty(len(stops), dtype=np.int32)
    number = 0
    for record in range(len(start) - 1):
        for at in range(start[record] + FIRST_NEW, start[record + 1]):
            if turned[at] == _TO_NEW:
                cell[number], owner[number] = stops[at - 1] * places + stops[at], record
                number += 1
    return cell[:number].copy(), owner[:number].copy()


@compiled
def _turns(
    start: IntArray, stops: Int32Array, turned: Int8Array, height: int
) -> tuple[Int32Array, Int32Array, Int32Array]:
    """Returns turns by place and by number of the stop, and whose they are.

    First come those to a next stop, then the ends of records that are not cut.
    """
    records = len(start) - 1
    going = len(stops) - records
    cells = np.empty((2, len(stops)), dtype=np.int32)
    owner = np.empty(len(stops), dtype=np.int32)
    number, ends = 0, going
    for record in range(records):
        first, end = start[record], start[record + 1]
        for at in range(first, end):
            if at + 1 < end:
                part, turn = number, turned[at + 1]
                number += 1
            elif end - first < height:
                part, turn = ends, _ENDS
                ends += 1
            else:
                continue
            cells[0, part] = stops[at] * TURNS + turn
            cells[1, part] = ((at - first) * TURNS + turned[at]) * TURNS + turn
            owner[part] = record
    return cells[0, :ends], cells[1, :ends], owner[:ends]


# Records that a limit on records of a person has left out, added to those that were counted.
#
# Privacy:
#     Everything here is computed from noisy values: post-processing.


@dataclass(frozen=True, kw_only=True, eq=False)
class LeftOut:
    """What a limit on records has left out, as far as it was measured.

    Attributes:
        limits: How many of a person count.
        lengths: Noisy numbers of records beyond the limit, by number of stops.
        firsts: The same by first stop.
    """

    crowd: Crowd
    limits: Limits
    lengths: Measured | None
    firsts: Measured | None

    def completion(self, records: WeightedRecords, weight: FloatArray) -> Completion:
        """Returns what is missing from records that were learnt, each with a weight."""
        length, first = np.diff(records.start) - 1, records.stops[records.start[:-1]]
        sums = [
            LeftOutSums(
                element=element.astype(np.int64),
                values=answer.values.astype(np.float64),
                variance=float(answer.variance),
            )
            for element, answer in ((length, self.lengths), (first, self.firsts))
            if answer is not None
        ]
        return completion_of(weight, sums, self.crowd, self.limits)


def prefix_variance(
    completion: Completion, parent: IntArray, depth: IntArray, node: IntArray
) -> FloatArray:
    """Returns the variance that completion adds to the number of records below each node.

    What is left out of a prefix differs from what its groups say for the prefix as a whole, and not
    for each of its records by itself.

    Args:
        parent: The node above each node, which stands before it.
    """
    variance, at = np.zeros(len(parent)), node.copy()
    for level in range(int(depth.max()), 0, -1):
        inside = depth[at] == level
        below = np.where(inside, at, 0)
        found = completion.sum_variance(below, len(parent))
        found += completion.differ * added_up(below, completion.added, len(parent)) ** 2
        here = depth == level
        variance[here] = found[here]
        at[inside] = parent[at[inside]]
    return variance
