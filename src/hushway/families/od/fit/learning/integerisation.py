"""Candidates and all other cells of a huge table: reconciled with sums, and made whole trips.

Reconciling is the problem of `fit.reconciliation`: each cell gives way as much as it is uncertain,
and none becomes negative. Here one family of sums is met after the other, several times over: one
block of the dual variables at a time. All other cells give way by factors.

Whole trips of cells that are no candidates come from a factor model (integerisation). Each of them
expects next to nothing, all together something. Trips keep the sums of every origin, destination
and block, up or down by less than 1: both ends of a block's trips are rounded, and then starts and
ends are paired evenly, as a product law has it.

Privacy:
    Computed without randomness from learnt priors and public places: post-processing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.families.od.fit.learning.factor_model import CellList, FactorModel, Target
from hushway.families.od.fit.rounding.controlled import round_totals

# Ends are exchanged this often so that no trip stands where none may.
_EXCHANGES: Final = 40
_GOLDEN: Final = 0.6180339887498949
_NOTHING: Final = 1e-9


def integerise(expected: FactorModel, without: CellList) -> CellList:
    """Returns one cell for every whole trip; cells of `without` get none, if possible."""
    order = np.argsort(without.period, kind="stable")
    ends = np.searchsorted(without.period[order], np.arange(len(expected.origins) + 1))
    found = [
        _of_period(expected, period, without[order[ends[period] : ends[period + 1]]])
        for period in range(len(expected.origins))
    ]
    return CellList(
        period=np.repeat(np.arange(len(found)), [len(origin) for origin, _ in found]),
        origin=np.concatenate([origin for origin, _ in found]),
        destination=np.concatenate([destination for _, destination in found]),
    )


def _of_period(expected: FactorModel, period: int, without: CellList) -> tuple[IntArray, IntArray]:
    """Returns origin and destination of every trip of a period."""
    blocks = expected.blocks
    starts, stops = expected.ends(period, without)
    row, column = np.arange(blocks.rows), np.arange(blocks.columns)
    start_block = blocks.origin[:, None] * blocks.columns + column
    stop_block = blocks.destination[:, None] + row * blocks.columns
    totals = _totals(starts, start_block, stops, stop_block)
    origin = _whole(starts, start_block, totals)
    destination = _whole(stops, stop_block, totals)[_evenly(totals)]
    trips = _Trips(origin=origin, destination=destination, totals=totals, places=len(starts))
    trips.exchange(without)
    return trips.origin, trips.destination


def _totals(
    starts: FloatArray, start_block: IntArray, stops: FloatArray, stop_block: IntArray
) -> IntArray:
    """Returns the whole trips of every block; they add up to those of the period."""
    size = int(start_block.max()) + 1
    both = [
        np.bincount(block.ravel(), weights=ends.ravel(), minlength=size)
        for ends, block in ((starts, start_block), (stops, stop_block))
    ]
    fewer = np.minimum(*both)
    return round_totals(
        np.where(fewer > _NOTHING, fewer, 0.0), [np.zeros(size, dtype=np.int64)]
    ).totals


def _whole(ends: FloatArray, block: IntArray, totals: IntArray) -> IntArray:
    """Returns the place of one end of every trip, block by block."""
    sums = np.bincount(block.ravel(), weights=ends.ravel(), minlength=len(totals))
    scaled = ends * (totals / np.maximum(sums, _NOTHING))[block]
    place = np.repeat(np.arange(len(ends)), ends.shape[1])
    whole = round_totals(scaled.ravel(), [place, block.ravel()]).totals
    order = np.argsort(block.ravel(), kind="stable")
    return np.repeat(place[order], whole[order])


def _evenly(totals: IntArray) -> IntArray:
    """Returns a permutation of the ends within every block that is unrelated to that of starts."""
    steps = np.maximum(1, np.rint(totals * _GOLDEN).astype(np.int64))
    while np.any(shared := np.gcd(steps, np.maximum(totals, 1)) > 1):
        steps += shared
    first = np.repeat(np.cumsum(totals) - totals, totals)
    number = np.arange(len(first)) - first
    each = np.repeat(totals, totals)
    return np.asarray(first + number * np.repeat(steps, totals) % each)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Trips:
    """The trips of a period, block by block; destinations are exchanged in place."""

    origin: IntArray
    destination: IntArray
    totals: IntArray
    places: int

    def exchange(self, without: CellList) -> None:
        """Exchanges destinations within a block until few trips are in banned cells."""
        banned = np.sort(without.origin * self.places + without.destination)
        first = np.repeat(np.cumsum(self.totals) - self.totals, self.totals)
        each = np.repeat(self.totals, self.totals)
        left = np.flatnonzero(_among(self._pairs(), banned))
        for turn in range(1, _EXCHANGES + 1):
            if not len(left):
                return
            wrong = left
            other = first[wrong] + (wrong - first[wrong] + turn * turn) % each[wrong]
            # Nobody takes part in two exchanges at once.
            other, chosen = np.unique(other, return_index=True)
            wrong = wrong[chosen]
            apart = ~np.isin(other, wrong)
            wrong, other = wrong[apart], other[apart]
            good = ~_among(self._pairs(wrong, other), banned)
            good &= ~_among(self._pairs(other, wrong), banned)
            wrong, other = wrong[good], other[good]
            self.destination[wrong], self.destination[other] = (
                self.destination[other],
                self.destination[wrong],
            )
            left = np.setdiff1d(left, wrong, assume_unique=True)

    def _pairs(
        self, origin: IntArray | None = None, destination: IntArray | None = None
    ) -> IntArray:
        if origin is None:
            return self.origin * self.places + self.destination
        return self.origin[origin] * self.places + self.destination[destination]


def _among(pairs: IntArray, banned: IntArray) -> BoolArray:
    if not len(banned):
        return np.zeros(len(pairs), dtype=np.bool_)
    place = np.minimum(np.searchsorted(banned, pairs), len(banned) - 1)
    return np.asarray(banned[place] == pairs)


_SWEEPS: Final = 12
# The rest of an element never loses more than this share of what it has at once.
_LEAST_FACTOR: Final = 0.2


@dataclass(frozen=True, kw_only=True, eq=False)
class SumTarget:
    """A family of measured sums.

    Attributes:
        shape: What is summed of the other cells.
        element: The element that each candidate lies in.
        counts: What was measured.
    """

    shape: Target
    element: IntArray
    counts: IntArray
    variance: float


@dataclass(frozen=True, kw_only=True, eq=False)
class OtherCells:
    """All cells that are no candidates.

    Attributes:
        expected: Their factor model; changed in place.
        without: The candidates as cells, and pairs that have no cell.
        spread: The variance of a count over its mean.
    """

    expected: FactorModel
    without: CellList
    spread: float


def ascend_dual(
    mean: FloatArray, variance: FloatArray, rest: OtherCells, sums: Sequence[SumTarget]
) -> FloatArray:
    """Returns reconciled candidates; other cells change in place. The surest sums come last."""
    asked = mean.copy()
    pulled = [np.zeros(len(each.counts)) for each in sums]
    for _ in range(_SWEEPS):
        for number, each in enumerate(sums):
            size = len(each.counts)
            gives = np.where(asked > 0, variance, 0.0)
            trips = np.bincount(each.element, weights=np.maximum(asked, 0.0), minlength=size)
            others = rest.expected.sums(each.shape, rest.without)
            missing = each.counts - trips - others - each.variance * pulled[number]
            change = missing / (
                each.variance
                + np.bincount(each.element, weights=gives, minlength=size)
                + rest.spread * others
            )
            pulled[number] += change
            asked += variance * change[each.element]
            factors = np.maximum(1 + rest.spread * change, _LEAST_FACTOR)
            rest.expected.multiply(each.shape, factors)
    return np.maximum(asked, 0.0)
