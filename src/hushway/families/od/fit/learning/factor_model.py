"""Prior means of a huge table as products: a factor of the origin, the destination and the block.

A block is a class of origins times a class of destinations, such as a pair of zones. Sums over
places and blocks follow from the factors, so nothing here is as long as the table: a doubly
constrained model fitted by IPF on its factors. Some cells can be left out of all sums: candidates,
which have estimates of their own, and pairs that have no cell.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, Int32Array, IntArray
from hushway.numerics.compiled import compiled_for_threads

# Sums of less than this are empty; a factor would only blow up what is left of rounding errors.
_NOTHING: Final = 1e-9
# Factors of places are told apart by this part of the grid's step.
_FINER: Final = 4


@dataclass(frozen=True, kw_only=True, eq=False)
class CellList:
    """Some cells of a table by period, origin and destination: arrays of one length."""

    period: IntArray
    origin: IntArray
    destination: IntArray

    def __len__(self) -> int:
        return len(self.period)

    def __getitem__(self, chosen: IntArray) -> "CellList":
        return CellList(
            period=self.period[chosen],
            origin=self.origin[chosen],
            destination=self.destination[chosen],
        )

    def joined(self, other: "CellList") -> "CellList":
        """Returns these cells and others."""
        return CellList(
            period=np.concatenate([self.period, other.period]),
            origin=np.concatenate([self.origin, other.origin]),
            destination=np.concatenate([self.destination, other.destination]),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Blocks:
    """Which block a pair of places lies in.

    Attributes:
        origin: The class of every place as an origin: the row of its blocks.
        destination: The class of every place as a destination: the column of its blocks.
    """

    origin: Int32Array
    destination: Int32Array
    rows: int
    columns: int


class Kind(Enum):
    """What the elements of some sums are made of, besides periods."""

    ORIGINS = auto()
    DESTINATIONS = auto()
    BLOCKS = auto()


@dataclass(frozen=True, kw_only=True, eq=False)
class Target:
    """Sums that a model is fitted to.

    Attributes:
        kind: What the elements are made of.
        element: The element of every period and origin, destination or block.
    """

    kind: Kind
    element: IntArray
    counts: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class FactorModel:
    """The factors of a prior; changed in place by `fit`.

    Attributes:
        origins: A factor for every period and origin.
        destinations: A factor for every period and destination.
        between: A factor for every period, row and column of blocks.
        highest: An upper bound of each factor, if any: where few cells are left in a sum, factors
            would grow beyond all measure.
    """

    blocks: Blocks
    origins: FloatArray
    destinations: FloatArray
    between: FloatArray
    highest: "FactorModel | None" = None

    @staticmethod
    def even(blocks: Blocks, periods: int) -> "FactorModel":
        """Returns 1 for every cell."""
        places = len(blocks.origin)
        return FactorModel(
            blocks=blocks,
            origins=np.ones((periods, places)),
            destinations=np.ones((periods, places)),
            between=np.ones((periods, blocks.rows, blocks.columns)),
        )

    def copy(self, most: float) -> "FactorModel":
        """Returns a copy; no factor of it may grow by more than `most` times."""
        return FactorModel(
            blocks=self.blocks,
            origins=self.origins.copy(),
            destinations=self.destinations.copy(),
            between=self.between.copy(),
            highest=FactorModel(
                blocks=self.blocks,
                origins=self.origins * most,
                destinations=self.destinations * most,
                between=self.between * most,
            ),
        )

    def at(self, cells: CellList) -> FloatArray:
        """Returns what is expected of some cells."""
        found = np.empty(len(cells))
        _expect(
            (cells.period, cells.origin, cells.destination),
            (self.blocks.origin, self.blocks.destination),
            (self.origins, self.destinations, self.between),
            found,
        )
        return found

    def fit(self, targets: Sequence[Target], without: CellList, sweeps: int) -> None:
        """Scales the model to one target after the other, in place (IPF).

        Args:
            targets: The sums; the last ones are met exactly.
            without: Cells that are no part of any sum.
            sweeps: How often to go through all targets.
        """
        for _ in range(sweeps):
            for target in targets:
                found = self.sums(target, without)
                change = np.where(found > _NOTHING, target.counts / np.maximum(found, _NOTHING), 0)
                self.multiply(target, change)

    def multiply(self, target: Target, change: FloatArray) -> None:
        """Multiplies what is expected of every element, in place."""
        factors = self.of(target.kind)
        factors *= change[target.element]
        if self.highest is not None:
            np.minimum(factors, self.highest.of(target.kind), out=factors)

    def of(self, kind: Kind) -> FloatArray:
        """Returns the factors of one kind."""
        return {
            Kind.ORIGINS: self.origins,
            Kind.DESTINATIONS: self.destinations,
            Kind.BLOCKS: self.between,
        }[kind]

    def sums(self, target: Target, without: CellList) -> FloatArray:
        """Returns what is expected of every element of a target."""
        of = {
            Kind.ORIGINS: self._by_origin,
            Kind.DESTINATIONS: self._by_destination,
            Kind.BLOCKS: self._by_block,
        }
        found = of[target.kind](without)
        size = len(target.counts)
        sums = np.bincount(target.element.ravel(), weights=found.ravel(), minlength=size)
        return sums.astype(np.float64)

    def ends(self, period: int, without: CellList) -> tuple[FloatArray, FloatArray]:
        """Returns the sums of a period by origin and column, and by destination and row."""
        blocks, between = self.blocks, self.between[period]
        starts = self._among(self.origins[period], blocks.origin, blocks.rows)
        stops = self._among(self.destinations[period], blocks.destination, blocks.columns)
        by_origin = self.origins[period][:, None] * (between * stops)[blocks.origin]
        by_destination = (
            self.destinations[period][:, None] * (between.T * starts)[blocks.destination]
        )
        row, column = self._block_of(without)
        out = self.at(without)
        _take_out(by_origin, without.origin, column, out)
        _take_out(by_destination, without.destination, row, out)
        return np.maximum(by_origin, 0.0), np.maximum(by_destination, 0.0)

    def _by_origin(self, without: CellList) -> FloatArray:
        ends = self._among(self.destinations, self.blocks.destination, self.blocks.columns)
        reached = np.einsum("pxy,py->px", self.between, ends)
        sums = self.origins * reached[:, self.blocks.origin]
        return self._less(sums, without, without.origin)

    def _by_destination(self, without: CellList) -> FloatArray:
        starts = self._among(self.origins, self.blocks.origin, self.blocks.rows)
        reached = np.einsum("pxy,px->py", self.between, starts)
        sums = self.destinations * reached[:, self.blocks.destination]
        return self._less(sums, without, without.destination)

    def _by_block(self, without: CellList) -> FloatArray:
        starts = self._among(self.origins, self.blocks.origin, self.blocks.rows)
        ends = self._among(self.destinations, self.blocks.destination, self.blocks.columns)
        sums = self.between * starts[:, :, None] * ends[:, None, :]
        row, column = self._block_of(without)
        less = self._less(sums.reshape(len(sums), -1), without, row * self.blocks.columns + column)
        return less.reshape(sums.shape)

    def _less(self, sums: FloatArray, without: CellList, column: IntArray) -> FloatArray:
        """Takes cells out of sums by period and something else; what is left is not negative."""
        _take_out(sums, without.period, column, self.at(without))
        return np.maximum(sums, 0.0, out=sums)

    def _block_of(self, cells: CellList) -> tuple[IntArray, IntArray]:
        return (
            self.blocks.origin[cells.origin].astype(np.int64),
            self.blocks.destination[cells.destination].astype(np.int64),
        )

    def _among(self, factors: FloatArray, classes: Int32Array, count: int) -> FloatArray:
        """Adds up factors of places over the classes of these, in every period."""
        member = np.zeros((len(classes), count))
        member[np.arange(len(classes)), classes] = 1.0
        return np.asarray(factors @ member)

    def largest(self, least: float, most: int) -> CellList:
        """Returns all cells with a prior of `least` or more; it is raised if they are too many."""
        while True:
            limits = list(self._limits(least))
            if sum(int(reached.sum()) for *_, reached in limits) <= most:
                break
            least *= 2
        found = [
            CellList(
                period=np.full(int(reached.sum()), period),
                origin=np.repeat(np.arange(len(reached)), reached),
                destination=order[_counting(reached)],
            )
            for period, order, reached in limits
        ]
        return CellList(
            period=np.concatenate([some.period for some in found]),
            origin=np.concatenate([some.origin for some in found]),
            destination=np.concatenate([some.destination for some in found]),
        )

    def _limits(self, least: float) -> Iterator[tuple[int, IntArray, IntArray]]:
        """Yields a period, destinations from the busiest down, and how many each origin reaches."""
        for column in range(self.blocks.columns):
            members = np.flatnonzero(self.blocks.destination == column)
            for period, factors in enumerate(self.destinations[:, members]):
                order = np.argsort(-factors, kind="stable")
                own = self.origins[period] * self.between[period, self.blocks.origin, column]
                wanted = least / np.maximum(own, 1e-300)
                yield period, members[order], np.searchsorted(-factors[order], -wanted, "right")

    def histogram(self, step: float, least: float, size: int) -> FloatArray:
        """Returns how many cells have about each prior mean, on a grid of logarithms.

        Args:
            step: The distance of two grid points, as a logarithm.
            least: The logarithm of the first one; smaller priors are counted there.
        """
        found = np.zeros(size)
        for period, between in enumerate(self.between):
            starts = _by_size(self.origins[period], self.blocks.origin, self.blocks.rows, step)
            ends = _by_size(
                self.destinations[period], self.blocks.destination, self.blocks.columns, step
            )
            for (row, column), factor in np.ndenumerate(between):
                if factor <= 0:
                    continue
                together = np.convolve(starts.counts[row], ends.counts[column])
                sizes = starts.smallest + ends.smallest + np.arange(len(together)) * step / _FINER
                place = np.rint((sizes + math.log(factor) - least) / step).astype(np.int64)
                found += np.bincount(np.clip(place, 0, size - 1), together, minlength=size)
        # Where a factor is 0 nothing is expected.
        found[0] += self.origins.size * self.origins.shape[1] - found.sum()
        return found


@dataclass(frozen=True, kw_only=True, eq=False)
class _Sizes:
    """How many places of each class have a factor of about some size, from the smallest on."""

    smallest: float
    counts: FloatArray


def _by_size(factors: FloatArray, classes: Int32Array, count: int, step: float) -> _Sizes:
    some = np.flatnonzero(factors > 0)
    if not len(some):
        return _Sizes(smallest=0.0, counts=np.zeros((count, 1)))
    logs = np.log(factors[some])
    place = np.rint((logs - logs.min()) * _FINER / step).astype(np.int64)
    width = int(place.max()) + 1
    seen = np.bincount(classes[some] * width + place, minlength=count * width)
    return _Sizes(smallest=float(logs.min()), counts=seen.reshape(count, width).astype(np.float64))


def _counting(lengths: IntArray) -> IntArray:
    """Returns 0, 1, 2, ... for each length, one after the other."""
    ends = np.cumsum(lengths)
    return np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - lengths, lengths)


@compiled_for_threads
def _expect(
    cells: tuple[IntArray, IntArray, IntArray],
    classes: tuple[Int32Array, Int32Array],
    factors: tuple[FloatArray, FloatArray, FloatArray],
    found: FloatArray,
) -> None:
    for cell in range(len(found)):
        period, origin, destination = cells[0][cell], cells[1][cell], cells[2][cell]
        between = factors[2][period, classes[0][origin], classes[1][destination]]
        found[cell] = factors[0][period, origin] * factors[1][period, destination] * between


@compiled_for_threads
def _take_out(sums: FloatArray, row: IntArray, column: IntArray, out: FloatArray) -> None:
    for cell in range(len(out)):
        sums[row[cell], column[cell]] -= out[cell]
