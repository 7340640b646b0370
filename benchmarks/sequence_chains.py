"""Chains that write records stop by stop, each in a state that says what comes next."""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, Int32Array, IntArray
from hushway.families.sequences.rows.record_bounding import Records
from hushway.families.sequences.study.data import WeightedSequences, distinct


@dataclass(frozen=True, kw_only=True, eq=False)
class Chain:
    """What comes next in every state.

    Attributes:
        shares: The share of each place and, last, of the end, a row for each state.
        after: The state after each place, a row for each state.
        first: The state in which records set out.
        records: How many records there are.
    """

    shares: FloatArray
    after: Int32Array
    first: int
    records: int


def written(chain: Chain, height: int, rng: np.random.Generator) -> WeightedSequences:
    """Draws the records of a chain. Whoever has no next stop ends, and so does the height."""
    end = chain.shares.shape[1] - 1
    state = np.full(chain.records, chain.first, dtype=np.int64)
    stops = np.full((chain.records, height), end, dtype=np.int64)
    going = np.arange(chain.records)
    for position in range(height):
        chosen = _next(chain, state[going], rng)
        going, chosen = going[chosen < end], chosen[chosen < end]
        stops[going, position] = chosen
        state[going] = chain.after[state[going], chosen]
    length = (stops < end).sum(axis=1)
    start = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    return distinct(start, stops[stops < end])


def _next(chain: Chain, state: IntArray, rng: np.random.Generator) -> IntArray:
    order = np.argsort(state, kind="stable")
    chosen = np.empty(len(state), dtype=np.int64)
    states, begin = np.unique(state[order], return_index=True)
    for one, rows in zip(states, np.split(order, begin[1:]), strict=True):
        reached = np.cumsum(chain.shares[one])
        if reached[-1] <= 0:
            chosen[rows] = len(reached) - 1
        else:
            chosen[rows] = np.searchsorted(reached, rng.random(len(rows)) * reached[-1], "right")
    return chosen


def symbols_of(records: Records, height: int, places: int) -> tuple[IntArray, IntArray]:
    """Returns records as symbols in a row, and how many symbols are left in each record.

    A record is a start (places + 1), its stops, and an end (places) if it has fewer stops than the
    height: where records are cut, all end. So it has at most height + 1 symbols.
    """
    length = records.lengths
    ends = length < height
    size = length + 1 + ends
    begin = np.cumsum(size) - size
    symbols = np.full(int(size.sum()), places, dtype=np.int64)
    symbols[begin] = places + 1
    where = np.repeat(begin + 1 - records.start[:-1], length) + np.arange(len(records.stops))
    symbols[where] = records.stops
    left = np.repeat(begin + size, size) - np.arange(len(symbols))
    return symbols, left


def with_sums(rows: FloatArray, sums: FloatArray) -> FloatArray:
    """Returns the nearest rows without negative numbers that have the given sums.

    The same amount is taken off all numbers of a row, and what falls below zero becomes zero.
    """
    falling = -np.sort(-rows, axis=1)
    taken = (np.cumsum(falling, axis=1) - sums[:, None]) / np.arange(1, rows.shape[1] + 1)
    last = np.maximum((falling > taken).sum(axis=1) - 1, 0)
    found: FloatArray = np.maximum(rows - taken[np.arange(len(rows)), last][:, None], 0)
    return found
