"""What errors of counts of one origin, destination, period or pair of places have in common."""

import math
from dataclasses import dataclass, fields
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray, unique_below
from hushway.families.od.public.cells import ODCells

_NOTHING: Final = 1e-12


@dataclass(frozen=True, kw_only=True)
class RandomEffects:
    """What errors of counts have in common beyond their own variances.

    A random effect moves all counts that have it, each by its variance times the effect. The
    variance of a count has that already; two different counts get a covariance by it.

    Attributes:
        origin: The variance of the effect of an origin.
        destination: The variance of the effect of a destination.
        period: The variance of the effect of a period.
        pair: The variance of the effect of a pair of places, times the variance of all its counts:
            by how much the sum over all periods varies more than its counts do.
        unlisted: The variance of all cells without a row, over that of the rows.
    """

    origin: float
    destination: float
    period: float
    pair: float
    unlisted: float = 0.0

    def variances_of_rows(
        self, universe: ODCells, cells: IntArray, errors: FloatArray, sums: IntArray, size: int
    ) -> FloatArray:
        """Returns the variance of sums of rows, given the standard error of each."""
        return self.variances(universe, cells, (1 + self.unlisted) * errors**2, sums, size)

    def variances(
        self, universe: ODCells, cells: IntArray, own: FloatArray, sums: IntArray, size: int
    ) -> FloatArray:
        """Returns the variance of sums, given the variance of each cell and the sum it is in."""
        parts = universe.decode(cells)
        _, pair = unique_below(cells % universe.pairs, universe.pairs)
        every = np.bincount(pair, weights=own)
        found = np.bincount(sums, weights=own, minlength=size).astype(np.float64)
        for part, effect in zip(parts, (self.period, self.origin, self.destination), strict=True):
            found += effect * _products(sums, part, own, size)
        shares = own / np.sqrt(np.maximum(every, _NOTHING))[pair]
        return found + self.pair * _products(sums, pair, shares, size)


def _products(sums: IntArray, group: IntArray, own: FloatArray, size: int) -> FloatArray:
    """Adds up products of all two different cells that are in the same sum and group."""
    groups = int(group.max(initial=0)) + 1
    parts, part = unique_below(sums.astype(np.int64) * groups + group, size * groups)
    squares = np.bincount(part, weights=own, minlength=len(parts)) ** 2
    found = np.bincount(parts // groups, weights=squares, minlength=size)
    return np.asarray(found - np.bincount(sums, weights=own**2, minlength=size))


def are_effects(variances: object) -> bool:
    """Says whether something has all that `RandomEffects` has, and nothing else."""
    names = [each.name for each in fields(RandomEffects)]
    return (
        isinstance(variances, dict)
        and sorted(variances) == sorted(names)
        and all(isinstance(each, float) and 0 <= each < math.inf for each in variances.values())
    )
