"""From the last question about known prefixes to whole records, and errors of prefixes."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import BoolArray, FloatArray, Int32Array, IntArray
from hushway.families.sequences.fit.answers import Answer
from hushway.families.sequences.fit.distinct import grouped
from hushway.families.sequences.fit.errors import (
    SURE,
    PublishedPrefixes,
    once_chosen,
    standard_errors,
)
from hushway.families.sequences.fit.ngrams import NewPairs
from hushway.families.sequences.fit.posterior import posterior
from hushway.families.sequences.fit.prediction import Prediction
from hushway.families.sequences.fit.reconciliation import (
    LeftOut,
    WeightedRecords,
    prefix_variance,
    reconcile,
)
from hushway.families.sequences.fit.record_model import RecordModel
from hushway.families.sequences.fit.rounding import whole_records
from hushway.families.sequences.fit.walks import continue_records

# A prefix is published from this many records on. Of smaller ones mostly those would be published
# that noise has made larger.
FEWEST: Final = 6
# The last look alone must show a prefix by this many standard errors of its own.
_SEEN: Final = 1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Learnt:
    """What is published of records, as in `RecordTable`; `prefixes` are nodes of the prediction."""

    start: IntArray
    stops: Int32Array
    counts: IntArray
    prefixes: IntArray
    prefix_counts: IntArray
    prefix_errors: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class _Looked:
    """Posterior means and variances of records that end at each node, or leave the tree there."""

    ending: FloatArray
    leaving: FloatArray
    ending_variance: FloatArray
    leaving_variance: FloatArray


def learn_records(
    known: RecordModel, pairs: NewPairs, tree: Prediction, look: Answer, left: LeftOut | None = None
) -> Learnt:
    """Returns records that agree with all answers, and the prefixes that are sure.

    Args:
        pairs: How they go to new places.
        look: What that showed.
        left: What a limit has left out, which is added; None if nothing is.
    """
    found = _believe(tree, look, known.height)
    records = _records(known, tree, found)
    weight = reconcile(records, known, pairs)
    rounding = _rounding(known, tree, records)
    counts, through = _made_whole(tree, records, weight, rounding)
    held = _held(tree, look, found, through, known.height)
    steady = _steady(held, _begun_with(tree, records, records.weight))
    error = standard_errors(held, steady)
    if left is not None:
        completion = left.completion(records, weight)
        within = np.maximum(through, 1.0)
        counts, through = _made_whole(tree, records, weight + completion.added, rounding)
        variance = prefix_variance(completion, tree.parent, tree.depth, records.node)
        error = np.sqrt((error * np.maximum(through / within, 1.0)) ** 2 + variance)
    sure = _sure(tree, np.where(steady, through, 0.0), error)
    start, stops, each = _distinct(records, counts)
    return Learnt(
        start=start,
        stops=stops,
        counts=each,
        prefixes=sure,
        prefix_counts=through[sure].astype(np.int64),
        prefix_errors=once_chosen(through[sure], error[sure]),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Rounding:
    """The order of records by prefix, and their lengths and last stops in that order."""

    order: IntArray
    sums: tuple[IntArray, IntArray]
    sizes: tuple[int, int]


def _rounding(known: RecordModel, tree: Prediction, records: WeightedRecords) -> _Rounding:
    order = np.argsort(_first_to_last(tree)[records.node], kind="stable")
    length = np.diff(records.start) - 1
    last = records.stops[records.start[1:] - 1].astype(np.int64)
    return _Rounding(
        order=order, sums=(length[order], last[order]), sizes=(known.height, known.places)
    )


def _made_whole(
    tree: Prediction, records: WeightedRecords, weight: FloatArray, rounding: _Rounding
) -> tuple[IntArray, FloatArray]:
    """Returns whole numbers of records, and how many begin with each prefix."""
    counts = np.empty(len(weight), dtype=np.int64)
    order = rounding.order
    counts[order] = whole_records(weight[order], rounding.sums, rounding.sizes)
    return counts, _begun_with(tree, records, counts)


def _begun_with(
    tree: Prediction, records: WeightedRecords, weight: FloatArray | IntArray
) -> FloatArray:
    at_node = np.bincount(records.node, weights=weight, minlength=len(tree.parent))
    return _sums_below(tree, at_node.astype(np.float64))


def _believe(tree: Prediction, look: Answer, height: int) -> _Looked:
    ends, leaves = look.values.reshape(-1, 2).T
    can_end, can_leave = tree.depth > 0, tree.depth < height
    parts = []
    for values, expected, can in ((ends, tree.ending, can_end), (leaves, tree.leaving, can_leave)):
        mean, variance = np.zeros(len(can)), np.zeros(len(can))
        believed = posterior(values[can], expected[can], look.noise)
        mean[can], variance[can] = believed.mean, believed.variance
        parts += [mean, variance]
    return _Looked(
        ending=parts[0], ending_variance=parts[1], leaving=parts[2], leaving_variance=parts[3]
    )


def _records(known: RecordModel, tree: Prediction, found: _Looked) -> WeightedRecords:
    """Returns the records that end at known prefixes, and others continued beyond them."""
    leaving = _whole(found.leaving)
    node = np.repeat(np.arange(len(leaving)), leaving)
    each = np.maximum(leaving, 1)
    paths = _paths(tree, node, known.height)
    stops = tree.depth[node].copy()
    places = known.places
    ways = np.sort(tree.parent[1:] * places + tree.place[1:])
    walking = paths, stops, tree.turned[node], node
    continue_records(tree.model, walking, ways, np.cumsum(known.firsts), known.height)
    at = np.flatnonzero(found.ending > 0)
    begun = np.flatnonzero(stops > 0)
    lengths = np.concatenate([tree.depth[at], stops[begun]])
    weight = np.concatenate([found.ending[at], (found.leaving / each)[node[begun]]])
    inside = np.arange(known.height) < stops[begun, None]
    weight *= known.records / max(float(weight.sum()), 1e-9)
    return WeightedRecords(
        node=np.concatenate([at, node[begun]]),
        start=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        stops=np.concatenate([_stops_of(tree, at), paths[begun][inside]]),
        weight=weight,
        variance=np.concatenate(
            [found.ending_variance[at], (found.leaving_variance / each)[node[begun]]]
        ),
        drawn=np.arange(len(lengths)) >= len(at),
    )


def _paths(tree: Prediction, nodes: IntArray, height: int) -> Int32Array:
    """Returns the places on the way to each of some nodes, and -1 after them."""
    paths = np.full((len(nodes), height), -1, dtype=np.int32)
    at, row = nodes, np.arange(len(nodes))
    while len(at):
        inside = at > 0
        at, row = at[inside], row[inside]
        paths[row, tree.depth[at] - 1] = tree.place[at]
        at = tree.parent[at]
    return paths


def _stops_of(tree: Prediction, nodes: IntArray) -> Int32Array:
    """Returns the places on the way to each of some nodes, all in a row."""
    depth = tree.depth[nodes]
    first = np.cumsum(depth) - depth
    stops = np.empty(int(depth.sum()), dtype=np.int32)
    at, begin = nodes, first
    while len(at):
        inside = at > 0
        at, begin = at[inside], begin[inside]
        stops[begin + tree.depth[at] - 1] = tree.place[at]
        at = tree.parent[at]
    return stops


def _whole(values: FloatArray) -> IntArray:
    """Returns whole numbers whose running sums are those of the values, rounded."""
    running = np.floor(np.cumsum(values) + 0.5)
    return np.diff(running, prepend=0.0).astype(np.int64)


def _first_to_last(tree: Prediction) -> IntArray:
    """Returns the place of each node if prefixes stand in order, each before those it begins."""
    size = _sums_below(tree, np.ones(len(tree.parent))).astype(np.int64)
    rank = np.zeros(len(size), dtype=np.int64)
    # Children of a node stand next to each other, and levels one after the other.
    for depth in range(1, int(tree.depth.max()) + 1):
        at = np.flatnonzero(tree.depth == depth)
        above = tree.parent[at]
        before = np.cumsum(size[at]) - size[at]
        fresh = np.concatenate([[True], above[1:] != above[:-1]])
        begun = before[fresh][np.cumsum(fresh) - 1]
        rank[at] = rank[above] + 1 + before - begun
    return rank


def _sums_below(tree: Prediction, values: FloatArray) -> FloatArray:
    """Returns for each node the sum of its value and of all below it."""
    sums = values.astype(np.float64)
    for depth in range(int(tree.depth.max()), 0, -1):
        at = np.flatnonzero(tree.depth == depth)
        sums += np.bincount(tree.parent[at], weights=sums[at], minlength=len(sums))
    return sums


def _held(
    tree: Prediction, look: Answer, found: _Looked, through: FloatArray, height: int
) -> PublishedPrefixes:
    """Returns what is published of each prefix beside the last answer's sum over its subtree."""
    ends, leaves = look.values.reshape(-1, 2).T
    can_end, can_leave = tree.depth > 0, tree.depth < height
    cells = _sums_below(tree, can_end.astype(np.float64) + can_leave)
    return PublishedPrefixes(
        through=through,
        depth=tree.depth,
        measured=_sums_below(tree, np.where(can_end, ends, 0.0) + np.where(can_leave, leaves, 0.0)),
        noise=cells * look.noise.variance,
        own=_sums_below(tree, found.ending_variance + found.leaving_variance),
    )


def _steady(held: PublishedPrefixes, before: FloatArray) -> BoolArray:
    """Returns which prefixes the last look has seen, and others have not made what they are.

    Args:
        before: The same number before it was reconciled with other answers.
    """
    seen = held.measured >= _SEEN * np.sqrt(held.noise)
    steady: BoolArray = seen & (SURE * np.abs(held.through - before) <= held.through)
    return steady


def _sure(tree: Prediction, through: FloatArray, error: FloatArray) -> IntArray:
    """Returns the prefixes whose count is sure, and that of all that they continue."""
    sure = (through >= SURE * error) & (through >= FEWEST)
    sure[0] = True
    for depth in range(1, int(tree.depth.max()) + 1):
        at = np.flatnonzero(tree.depth == depth)
        sure[at] &= sure[tree.parent[at]]
    return np.flatnonzero(sure[1:]) + 1


def _distinct(records: WeightedRecords, counts: IntArray) -> tuple[IntArray, Int32Array, IntArray]:
    """Returns the distinct sequences, the most frequent first, and their counts."""
    kept = np.flatnonzero(counts > 0)
    length = np.diff(records.start)[kept]
    start = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    begin = records.start[kept]
    stops = records.stops[np.arange(start[-1]) + np.repeat(begin - start[:-1], length)]
    first, sums = grouped(start, stops.astype(np.int64), counts[kept])
    order = np.argsort(-sums, kind="stable")
    length = length[first[order]]
    ends = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    where = np.arange(ends[-1]) + np.repeat(start[first[order]] - ends[:-1], length)
    return ends, stops[where], sums[order]
