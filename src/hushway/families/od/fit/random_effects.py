"""What errors of counts of one origin, destination, period or pair of places have in common."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, Int32Array, IntArray, unique_below
from hushway.families.od.public.cells import ODCells

_NOTHING: Final = 1e-12


@dataclass(frozen=True, kw_only=True)
class RandomEffects:
    """What errors of counts have in common beyond their own variances.

    A random effect moves all counts of a group, each by its variance times the effect. The variance
    of a count has that already; two different counts get a covariance by it. Each number says by
    how much sums over such groups vary more than their counts do, on average over all groups.

    Attributes:
        origin: That of sums over an origin and all periods.
        destination: That of sums over a destination and all periods.
        origin_by_period: That of sums over an origin in a period.
        destination_by_period: That of sums over a destination in a period.
        period: That of sums over a period.
        pair: That of sums over a pair of places and all periods.
        unlisted: The variance of all cells without a row, over that of the rows.
    """

    origin: float
    destination: float
    origin_by_period: float
    destination_by_period: float
    period: float
    pair: float
    unlisted: float = 0.0

    def of_groups(
        self, universe: ODCells, cells: IntArray, own: FloatArray
    ) -> Iterator[tuple[IntArray, FloatArray]]:
        """Yields the group of each cell that an effect moves, and the variance of each effect."""
        period, origin, destination = universe.decode(cells)
        places = len(universe.locations)
        for group, effect in (
            (period, self.period),
            (origin, self.origin),
            (destination, self.destination),
            (period * places + origin, self.origin_by_period),
            (period * places + destination, self.destination_by_period),
        ):
            every = np.bincount(group, weights=own).astype(np.float64)
            yield group, effect * shared_growth(every) / np.maximum(every, _NOTHING) ** 2
        _, pair = unique_below(cells % universe.pairs, universe.pairs)
        yield pair, self.pair / np.maximum(np.bincount(pair, weights=own), _NOTHING)

    def variances_of_rows(
        self, universe: ODCells, cells: IntArray, errors: FloatArray, sums: IntArray, size: int
    ) -> FloatArray:
        """Returns the variance of sums of rows, given the standard error of each."""
        return self.variances(universe, cells, (1 + self.unlisted) * errors**2, sums, size)

    def variances(
        self, universe: ODCells, cells: IntArray, own: FloatArray, sums: IntArray, size: int
    ) -> FloatArray:
        """Returns the variance of sums, given the variance of each cell and the sum it is in."""
        return self.shared(universe, cells, own).variances(sums, size)

    def shared(self, universe: ODCells, cells: IntArray, own: FloatArray) -> "SharedErrors":
        """Returns what tells the variance of any sum, given the variance of each cell."""
        groups = self.of_groups(universe, cells, own)
        effects = tuple((group.astype(np.int32), np.sqrt(effect)) for group, effect in groups)
        return SharedErrors(own=own, effects=effects)


@dataclass(frozen=True, kw_only=True, eq=False)
class SharedErrors:
    """Errors of some cells, and what they have in common.

    Attributes:
        own: The variance of each cell.
        effects: The group of each cell that an effect moves, and the root of the variance of that
            effect in each group.
    """

    own: FloatArray
    effects: tuple[tuple[Int32Array, FloatArray], ...]

    def variances(self, sums: IntArray, size: int) -> FloatArray:
        """Returns the variance of sums, given the sum that each cell is in."""
        # Plans name mechanisms, and a slip in a plan is told before anything is compiled.
        from hushway.families.od.fit.shared_products import by_sum, products

        found = np.bincount(sums, weights=self.own, minlength=size).astype(np.float64)
        order, starts = by_sum(sums.astype(np.int64), size)
        for group, roots in self.effects:
            found += products(order, starts, group, self.own, roots)
        return found


def shared_growth(every: FloatArray) -> FloatArray:
    """Returns what an effect of 1 adds to the variances of sums over whole groups.

    Large groups are off by more than small ones, but by less than in proportion to their variance:
    what noise leaves open about a place depends on its number of cells. So half is shared evenly.
    """
    some = every > 0
    even = float(every.sum()) / max(1, int(np.count_nonzero(some)))
    return np.where(some, (every + even) / 2, 0.0)


def are_effects(variances: object) -> bool:
    """Says whether something has all that `RandomEffects` has, and nothing else."""
    names = [each.name for each in fields(RandomEffects)]
    return (
        isinstance(variances, dict)
        and sorted(variances) == sorted(names)
        and all(isinstance(each, float) and 0 <= each < math.inf for each in variances.values())
    )
