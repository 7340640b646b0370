"""Cells and sums brought together: each gives way as much as it is uncertain.

Minimises half the squared distance from the estimates of the cells, each over its own variance,
plus half the squared distance of all sums from what was measured, over the variance of its noise;
no cell becomes negative. The dual of this has one unknown for every measured sum and is solved by
Newton's method, its systems by conjugate gradients, so margins may cross as they like. How far the
result is from the exact minimum is known from the gap between both problems.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, Int32Array, IntArray
from hushway.errors import ReleaseError
from hushway.families.od.fit.partitions import Partition, stretches, threads_for
from hushway.numerics.compiled import compiled_for_threads
from hushway.numerics.threads import in_threads

_MOST_STEPS: Final = 60
_MOST_DIRECTIONS: Final = 400
# A Newton step need only be as exact as the next one can tell.
_ROUGH: Final = 1e-2
_HALVINGS: Final = 20


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredSums:
    """Sums that cells are brought together with.

    Attributes:
        partition: What is summed.
        counts: What was measured.
        variance: The variance of its noise.
    """

    partition: Partition
    counts: IntArray
    variance: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Joined:
    """A table that agrees with its sums as well as noise allows.

    Attributes:
        values: The cells, none negative.
        totals: Their sums over each partition.
        bound: Euclidean distance over all cells from the exact minimum is at most this.
        steps: Newton steps taken.
    """

    values: FloatArray
    totals: tuple[FloatArray, ...]
    bound: float
    steps: int


def join(
    mean: FloatArray,
    variance: FloatArray,
    sums: Sequence[MeasuredSums],
    *,
    tolerance: float = 1e-6,
) -> Joined:
    """Returns the closest non-negative table to estimates of cells and measured sums.

    Args:
        mean: The estimate of every cell, one period a row.
        variance: The variance of each.
        sums: The measured sums.
        tolerance: The largest distance from the exact minimum, as a share of all trips.

    Raises:
        ReleaseError: The tolerance could not be reached.
    """
    problem = _Problem.of(mean, variance, sums)
    point = problem.at(np.zeros(len(problem.counts)))
    enough = tolerance * max(1.0, float(np.maximum(mean, 0.0).sum()))
    for step in range(_MOST_STEPS):
        if point.distance <= enough:
            values = problem.cells(point.multipliers)
            ends = np.cumsum([each.partition.size for each in sums])[:-1]
            return Joined(
                values=values,
                totals=tuple(np.split(point.sums, ends)),
                bound=point.distance,
                steps=step,
            )
        point = problem.better(point)
    raise ReleaseError(
        f"The fit came within {point.distance:.1e} trips of the exact one; "
        f"{enough:.1e} was asked for.",
        advice="Measure fewer sums, or bring their shares of the budget closer together.",
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Point:
    """Where the dual was looked at.

    Attributes:
        multipliers: One number for every sum.
        sums: The sums of the cells that follow.
        active: The variance of all positive cells in each sum.
        missing: By how much the sums miss what the multipliers ask for: the gradient.
        height: The value of the dual, which is to be as large as possible.
        distance: Largest possible distance of the cells from the exact minimum.
    """

    multipliers: FloatArray
    sums: FloatArray
    active: FloatArray
    missing: FloatArray
    height: float
    distance: float


@dataclass(frozen=True, kw_only=True, eq=False)
class _Problem:
    """Everything that does not change: cells, sums and where they lie.

    Attributes:
        mean: The estimates of the cells.
        variance: Their variances.
        rows: For every sum's family and period, the number of its first element there.
        columns: For every family and pair, the class of the pair.
        counts: What was measured, all families one after the other.
        noise: The variance of each count.
        largest: The largest variance of a cell.
    """

    mean: FloatArray
    variance: FloatArray
    rows: IntArray
    columns: Int32Array
    counts: FloatArray
    noise: FloatArray
    largest: float

    @staticmethod
    def of(mean: FloatArray, variance: FloatArray, sums: Sequence[MeasuredSums]) -> "_Problem":
        sizes = [each.partition.size for each in sums]
        first = np.cumsum([0, *sizes[:-1]])
        return _Problem(
            mean=mean,
            variance=variance,
            rows=np.array(
                [
                    start + each.partition.period_class.astype(np.int64) * each.partition.classes
                    for start, each in zip(first, sums, strict=True)
                ]
            ),
            columns=np.ascontiguousarray([each.partition.pair_class for each in sums]),
            counts=np.concatenate([each.counts for each in sums]).astype(np.float64),
            noise=np.repeat([max(each.variance, 1e-12) for each in sums], sizes),
            largest=float(variance.max(initial=0.0)),
        )

    def cells(self, multipliers: FloatArray) -> FloatArray:
        """Returns the cells that follow from multipliers."""
        found = np.empty_like(self.mean)
        in_threads(
            lambda rows: _cells(
                self.mean[rows],
                self.variance[rows],
                self.rows[:, rows],
                self.columns,
                multipliers,
                found[rows],
            ),
            stretches(len(self.mean)),
            threads_for(self.mean.size),
        )
        return found

    def at(self, multipliers: FloatArray) -> _Point:
        """Looks at the dual."""
        parts = in_threads(
            lambda rows: _look(
                self.mean[rows],
                self.variance[rows],
                self.rows[:, rows],
                self.columns,
                multipliers,
            ),
            stretches(len(self.mean)),
            threads_for(self.mean.size),
        )
        sums = np.sum([part[0] for part in parts], axis=0)
        active = np.sum([part[1] for part in parts], axis=0)
        energy = math.fsum(part[2] for part in parts)
        missing = self.counts - self.noise * multipliers - sums
        height = float(multipliers @ (self.counts - self.noise * multipliers / 2)) - energy
        gap = float(np.sum(missing**2 / self.noise)) / 2
        return _Point(
            multipliers=multipliers,
            sums=sums,
            active=active,
            missing=missing,
            height=height,
            distance=math.sqrt(2 * gap * self.largest),
        )

    def better(self, point: _Point) -> _Point:
        """Takes a Newton step, shortened until it leads upwards."""
        direction = self._direction(point)
        length = 1.0
        for _ in range(_HALVINGS):
            ahead = self.at(point.multipliers + length * direction)
            if ahead.height > point.height or ahead.distance < point.distance:
                return ahead
            length /= 2
        return point

    def _direction(self, point: _Point) -> FloatArray:
        """Solves for the Newton direction by conjugate gradients, scaled by the diagonal."""
        scale = 1 / (self.noise + point.active)
        direction = np.zeros_like(point.missing)
        left = point.missing.copy()
        scaled = scale * left
        along = scaled.copy()
        size = float(left @ scaled)
        enough = _ROUGH**2 * size
        for _ in range(_MOST_DIRECTIONS):
            if size <= enough or size == 0.0:
                break
            image = self._image(point.multipliers, along)
            step = size / float(along @ image)
            direction += step * along
            left -= step * image
            scaled = scale * left
            before, size = size, float(left @ scaled)
            along = scaled + size / before * along
        return direction

    def _image(self, multipliers: FloatArray, along: FloatArray) -> FloatArray:
        parts = in_threads(
            lambda rows: _curve(
                self.mean[rows],
                self.variance[rows],
                self.rows[:, rows],
                self.columns,
                multipliers,
                along,
            ),
            stretches(len(self.mean)),
            threads_for(self.mean.size),
        )
        return np.asarray(self.noise * along + np.sum(parts, axis=0))


@compiled_for_threads
def _cells(  # noqa: PLR0917  compiled code takes plain arrays
    mean: FloatArray,
    variance: FloatArray,
    rows: IntArray,
    columns: Int32Array,
    multipliers: FloatArray,
    found: FloatArray,
) -> None:
    for row in range(mean.shape[0]):
        for column in range(mean.shape[1]):
            shift = 0.0
            for family in range(len(rows)):
                shift += multipliers[rows[family, row] + columns[family, column]]
            found[row, column] = max(mean[row, column] + variance[row, column] * shift, 0.0)


@compiled_for_threads
def _look(
    mean: FloatArray,
    variance: FloatArray,
    rows: IntArray,
    columns: Int32Array,
    multipliers: FloatArray,
) -> tuple[FloatArray, FloatArray, float]:
    """Returns the sums of the cells, the variance of the positive ones, and what they cost."""
    sums, active = np.zeros(len(multipliers)), np.zeros(len(multipliers))
    energy = 0.0
    for row in range(mean.shape[0]):
        own = 0.0
        for column in range(mean.shape[1]):
            shift = 0.0
            for family in range(len(rows)):
                shift += multipliers[rows[family, row] + columns[family, column]]
            there, spread = mean[row, column], variance[row, column]
            value = there + spread * shift
            if value > 0:
                own += (there + spread * shift / 2) * shift
                for family in range(len(rows)):
                    place = rows[family, row] + columns[family, column]
                    sums[place] += value
                    active[place] += spread
            elif spread > 0:
                own -= there * there / (2 * spread)
        energy += own
    return sums, active, energy


@compiled_for_threads
def _curve(  # noqa: PLR0917  compiled code takes plain arrays
    mean: FloatArray,
    variance: FloatArray,
    rows: IntArray,
    columns: Int32Array,
    multipliers: FloatArray,
    along: FloatArray,
) -> FloatArray:
    """Returns how the sums change along a direction."""
    change = np.zeros(len(multipliers))
    for row in range(mean.shape[0]):
        for column in range(mean.shape[1]):
            shift, move = 0.0, 0.0
            for family in range(len(rows)):
                place = rows[family, row] + columns[family, column]
                shift += multipliers[place]
                move += along[place]
            if mean[row, column] + variance[row, column] * shift > 0:
                moved = variance[row, column] * move
                for family in range(len(rows)):
                    change[rows[family, row] + columns[family, column]] += moved
    return change
