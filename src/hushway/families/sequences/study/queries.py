"""Count queries on sequences: how many records visit all of some locations, in any order.

The queries and their error are those of Chen, Fung, Desai and Sossou (KDD 2012), definition 3.4 and
section 5.1.
"""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import IntArray, WordArray
from hushway.errors import PlanError
from hushway.families.sequences.study.data import WeightedSequences, check_ragged, distinct
from hushway.numerics.compiled import compiled

QUERY_SETS = 4
QUERIES_EACH = 10_000
# Share of all records below which a true answer is taken to be this share.
SANITY_SHARE = 0.001

_WORD_BITS = 64
_ONE = np.uint64(1)


@dataclass(frozen=True, kw_only=True, eq=False)
class CountQueries:
    """Queries, each a set of locations.

    Attributes:
        start: Where each query begins; one entry more than queries.
        locations: The location indices of all queries in a row.
    """

    start: IntArray
    locations: IntArray

    def __post_init__(self) -> None:
        check_ragged(self.start, self.locations)

    def __len__(self) -> int:
        return len(self.start) - 1


def paper_queries(
    locations: int, *, height: int, seed: int, each: int = QUERIES_EACH
) -> tuple[CountQueries, ...]:
    """Returns the paper's four sets of random queries.

    The i-th set has lengths that are uniform on 1 to i * height / 4. The locations of a query are a
    uniform choice without repetition: a query is a set, and its length is its size.

    Args:
        height: Height h of the prefix tree, a multiple of 4 in the paper; rounded down otherwise.

    Raises:
        PlanError: There is no length, or too few locations for it.
    """
    if height < QUERY_SETS or height > locations:
        raise PlanError(
            f"No four sets of queries fit a height of {height}.",
            advice=f"Give a height from {QUERY_SETS} to the number of places.",
        )
    rng = np.random.Generator(np.random.PCG64([seed, height]))
    return tuple(
        _random_queries(rng, locations, longest=number * height // QUERY_SETS, count=each)
        for number in range(1, QUERY_SETS + 1)
    )


def count_queries(data: WeightedSequences, queries: CountQueries) -> IntArray:
    """Returns how many records visit all locations of each query. An empty query counts all."""
    # The distinct sets of locations that sequences visit, as ascending lists.
    sets = distinct(*_sorted_sets(data.start, data.stops), data.weights)
    places = 1 + int(max(sets.stops.max(initial=0), queries.locations.max(initial=0)))
    members = _bits(sets.start, sets.stops, -(-places // _WORD_BITS))
    holders = _rows_of_places(sets, places)
    return _answers((queries.start, queries.locations), holders, members, sets.weights)


def sanity_bound(truth: WeightedSequences) -> float:
    """Returns the paper's sanity bound: a thousandth of all records."""
    return SANITY_SHARE * truth.records


def _random_queries(
    rng: np.random.Generator, locations: int, *, longest: int, count: int
) -> CountQueries:
    length = 1 + (rng.random(count) * longest).astype(np.int64)
    chosen = np.empty((count, longest), dtype=np.int64)
    for column in range(longest):
        # A place among those not chosen yet becomes its number by stepping over the chosen ones.
        pick = (rng.random(count) * (locations - column)).astype(np.int64)
        for taken in np.sort(chosen[:, :column], axis=1).T:
            pick += pick >= taken
        chosen[:, column] = pick
    start = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(length)])
    return CountQueries(start=start, locations=chosen[np.arange(longest) < length[:, None]])


def _rows_of_places(sets: WeightedSequences, places: int) -> tuple[IntArray, IntArray]:
    """Returns which sets hold each place, as a ragged array over places."""
    owner = np.repeat(np.arange(len(sets)), np.diff(sets.start))
    order = np.argsort(sets.stops, kind="stable")
    each = np.bincount(sets.stops, minlength=places)
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(each)]), owner[order]


@compiled
def _sorted_sets(start: IntArray, stops: IntArray) -> tuple[IntArray, IntArray]:
    """Returns the places of each sequence once, ascending, by insertion: sequences are short."""
    begin = np.zeros_like(start)
    places = np.empty_like(stops)
    end = 0
    for row in range(len(start) - 1):
        for at in range(start[row], start[row + 1]):
            place = stops[at]
            slot = end
            while slot > begin[row] and places[slot - 1] > place:
                slot -= 1
            if slot > begin[row] and places[slot - 1] == place:
                continue
            for moved in range(end, slot, -1):
                places[moved] = places[moved - 1]
            places[slot] = place
            end += 1
        begin[row + 1] = end
    return begin, places[:end].copy()


@compiled
def _bits(start: IntArray, stops: IntArray, words: int) -> WordArray:
    """Returns the sets as rows of bits, one for each place."""
    members = np.zeros((len(start) - 1, words), dtype=np.uint64)
    for row in range(len(start) - 1):
        for at in range(start[row], start[row + 1]):
            place = stops[at]
            members[row, place // _WORD_BITS] |= _ONE << np.uint64(place % _WORD_BITS)
    return members


@compiled
def _answers(
    queries: tuple[IntArray, IntArray],
    holders: tuple[IntArray, IntArray],
    members: WordArray,
    weights: IntArray,
) -> IntArray:
    """Answers each query by looking at the sets that hold its rarest place."""
    query_start, asked = queries
    row_start, rows = holders
    answers = np.zeros(len(query_start) - 1, dtype=np.int64)
    for query in range(len(answers)):
        places = asked[query_start[query] : query_start[query + 1]]
        if len(places) == 0:
            answers[query] = weights.sum()
            continue
        rarest = places[0]
        for place in places:
            if row_start[place + 1] - row_start[place] < row_start[rarest + 1] - row_start[rarest]:
                rarest = place
        for at in range(row_start[rarest], row_start[rarest + 1]):
            row = rows[at]
            holds = True
            for place in places:
                bit = members[row, place // _WORD_BITS] >> np.uint64(place % _WORD_BITS)
                if bit & _ONE == 0:
                    holds = False
                    break
            if holds:
                answers[query] += weights[row]
    return answers
