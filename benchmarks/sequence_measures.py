"""What print judges published sequences by, put together: one release, all judges.

Count queries with a sanity bound and frequent patterns are those of Chen, Fung, Desai and Sossou
(KDD 2012); lengths, ends and diameters those of Gursoy et al. (CCS 2018) and its followers. Queries
and patterns are asked of the true records as they are. All other judges see true records cut to the
height, as nothing beyond it is published. Judges with counts see a wrong number of records;
judges with shares do not, but a release without records gets their worst mark.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.sequences.study.data import WeightedSequences, distinct
from hushway.families.sequences.study.patterns import Pattern, compare_patterns, top_patterns
from hushway.families.sequences.study.queries import (
    CountQueries,
    count_queries,
    paper_queries,
    sanity_bound,
)
from sequence_scenes import JudgedScene

QUERIES, LONGEST_QUERY = 10_000, 3
TOP = 300
BUCKETS = 20
_SEED = 2012

JUDGES = {
    "queries": "relative error of random sets of 1 to 3 places",
    "queries of records": "relative error of sets of 1 to 3 places that a record holds",
    "patterns F1": "of the 300 most frequent patterns; more is better",
    "pairs": "L1 of consecutive pairs, as a share of all pairs",
    "lengths": "TVD",
    "ends": "TVD of (first, last)",
    "visits": "L1 of visits by place, as a share of all visits",
    "diameters": "JSD of the largest distance within a record, in 20 buckets",
}
"""Every judge and what it says; less is better unless said otherwise."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Sums:
    """What one pass over sequences adds up, by pair, length, ends, place and bucket."""

    pairs: FloatArray
    lengths: FloatArray
    ends: FloatArray
    visits: FloatArray
    diameters: FloatArray | None


@dataclass(frozen=True, eq=False)
class Truth:
    """The true records of a scene, and what they answer to every judge."""

    scene: JudgedScene

    @cached_property
    def records(self) -> WeightedSequences:
        """The distinct records, not cut."""
        return distinct(self.scene.start, self.scene.stops)

    @cached_property
    def asked(self) -> dict[str, tuple[CountQueries, IntArray]]:
        """Both sets of queries with their true answers."""
        random, *_ = paper_queries(
            self.scene.places, height=4 * LONGEST_QUERY, seed=_SEED, each=QUERIES
        )
        held = queries_of_records(self.scene.start, self.scene.stops, _SEED)
        sets = {"queries": random, "queries of records": held}
        return {
            name: (queries, count_queries(self.records, queries)) for name, queries in sets.items()
        }

    @cached_property
    def patterns(self) -> tuple[Pattern, ...]:
        """The most frequent patterns."""
        return top_patterns(self.records, TOP)

    @cached_property
    def sums(self) -> Sums:
        """What records cut to the height add up to."""
        return sums_of(self.scene, self.records)


def judge(truth: Truth, released: WeightedSequences) -> dict[str, float]:
    """Returns what every judge says of a release; diameters only where places are somewhere."""
    found: dict[str, float] = {}
    sanity = sanity_bound(truth.records)
    for name, (queries, exact) in truth.asked.items():
        off = np.abs(count_queries(released, queries) - exact)
        found[name] = float(np.mean(off / np.maximum(exact, sanity)))
    found["patterns F1"] = _f1(truth.patterns, top_patterns(released, TOP))
    true, own = truth.sums, sums_of(truth.scene, released)
    found["pairs"] = _relative_l1(true.pairs, own.pairs)
    found["lengths"] = _tvd(true.lengths, own.lengths)
    found["ends"] = _tvd(true.ends, own.ends)
    found["visits"] = _relative_l1(true.visits, own.visits)
    if true.diameters is not None and own.diameters is not None:
        found["diameters"] = _jsd(true.diameters, own.diameters)
    return found


def queries_of_records(start: IntArray, stops: IntArray, seed: int) -> CountQueries:
    """Returns sets of 1 to 3 places, each from a record: fewer if it does not visit so many."""
    rng = np.random.default_rng(seed)
    chosen = []
    for record in rng.integers(0, len(start) - 1, QUERIES):
        visited = np.unique(stops[start[record] : start[record + 1]])
        size = min(len(visited), int(rng.integers(1, LONGEST_QUERY + 1)))
        chosen.append(rng.choice(visited, size, replace=False))
    ends = np.cumsum([len(places) for places in chosen])
    return CountQueries(
        start=np.concatenate([[0], ends]).astype(np.int64),
        locations=np.concatenate(chosen).astype(np.int64),
    )


def sums_of(scene: JudgedScene, sequences: WeightedSequences) -> Sums:
    """Adds up sequences, each cut to the height. Sequences without stops are not records."""
    stops, length, weight = as_table(sequences, scene.height)
    places = scene.places
    first = stops[:, 0]
    last = stops[np.arange(len(stops)), length - 1]
    pairs, visits = np.zeros(places * places), np.zeros(places)
    for position in range(scene.height):
        some = length > position
        here = stops[some, position]
        visits += _added(here, weight[some], places)
        if position:
            pair = stops[some, position - 1] * places + here
            pairs += _added(pair, weight[some], places * places)
    diameters = None
    if scene.distance_km is not None:
        widest = _diameters(stops, scene.distance_km) / scene.distance_km.max()
        bucket = np.minimum((widest * BUCKETS).astype(np.int64), BUCKETS - 1)
        diameters = _added(bucket, weight, BUCKETS)
    return Sums(
        pairs=pairs,
        lengths=_added(length, weight, scene.height + 1),
        ends=_added(first * places + last, weight, places * places),
        visits=visits,
        diameters=diameters,
    )


def _added(cell: IntArray, weight: FloatArray, cells: int) -> FloatArray:
    return np.bincount(cell, weights=weight, minlength=cells).astype(np.float64)


def as_table(sequences: WeightedSequences, height: int) -> tuple[IntArray, IntArray, FloatArray]:
    """Returns stops with one row for each sequence, their numbers and the weights.

    Behind its last stop a row goes on with its first one, which changes no diameter.
    """
    some = np.diff(sequences.start) > 0
    begin = sequences.start[:-1][some]
    length = np.minimum(np.diff(sequences.start)[some], height)
    weight = sequences.weights[some].astype(np.float64)
    column = np.arange(height)
    inside = np.where(column < length[:, None], column, 0)
    return sequences.stops[begin[:, None] + inside], length, weight


def _diameters(stops: IntArray, distance: FloatArray) -> FloatArray:
    """Returns the largest distance between two stops of each row."""
    widest = np.zeros(len(stops))
    for one in range(stops.shape[1]):
        for other in range(one):
            np.maximum(widest, distance[stops[:, one], stops[:, other]], out=widest)
    return widest


def _f1(truth: tuple[Pattern, ...], released: tuple[Pattern, ...]) -> float:
    match = compare_patterns(truth, released).value
    wrong = match.false_positives + match.false_drops
    return 2 * match.true_positives / max(2 * match.true_positives + wrong, 1)


def _relative_l1(true: FloatArray, own: FloatArray) -> float:
    return float(np.abs(own - true).sum() / true.sum())


def _tvd(true: FloatArray, own: FloatArray) -> float:
    if not own.any():
        return 1.0
    return float(np.abs(_shares(own) - _shares(true)).sum() / 2)


def _jsd(true: FloatArray, own: FloatArray) -> float:
    """Returns the divergence of Jensen and Shannon in nats: at most log 2."""
    if not own.any():
        return math.log(2)
    one, other = _shares(true), _shares(own)
    middle = (one + other) / 2

    def apart(shares: FloatArray) -> float:
        some = shares > 0
        return float((shares[some] * np.log(shares[some] / middle[some])).sum())

    return (apart(one) + apart(other)) / 2


def _shares(counts: FloatArray) -> FloatArray:
    shares: FloatArray = counts / counts.sum()
    return shares
