"""Cells and sums reconciled by generalised least squares: each moves as far as it is uncertain.

Minimises half the squared distance from the estimates of the cells, each over its own variance,
plus half the squared distance of all sums from what was measured, over the variance of its noise;
no cell becomes negative. The dual has one unknown for every sum of the finest families and is
solved by Newton's method on the active set, its systems by preconditioned conjugate gradients, so
margins may cross freely. The duality gap bounds the distance from the exact minimum.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import ReleaseError
from hushway.families.od.fit.partitions import Partition
from hushway.families.od.fit.reconciliation.cell_passes import Layout
from hushway.families.od.fit.reconciliation.hessian import Hessian, active_hessian
from hushway.families.od.fit.reconciliation.nested_sums import ROUNDING, NestedSums, nested_sums
from hushway.families.od.fit.reconciliation.preconditioner import Aggregates, aggregates_of
from hushway.numerics.double_double import dot

_MOST_STEPS: Final = 200
_MOST_DIRECTIONS: Final = 400
# A Newton step need only be as exact as the next one can tell.
_ROUGH: Final = 1e-2
# The last one is as exact as is asked for, and a little more.
_ENOUGH: Final = 0.3
# A step is taken if it turns the slope around by no more than this share.
_TOO_FAR: Final = 0.5
_SHORTENINGS: Final = 30
_INSIDE: Final = 0.05
# Room for the rounding of bounds themselves.
_UPWARDS: Final = 1 + 1e-9
_LEAST_VARIANCE: Final = 1e-12


class OutOfReachError(ReleaseError):
    """Doubles are not fine enough, or steps too many, to come as near as was asked for."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredSums:
    """Sums that cells are reconciled with: a partition, noisy counts and their variance."""

    partition: Partition
    counts: IntArray
    variance: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Reconciled:
    """A non-negative table that agrees with its sums as well as noise allows.

    Attributes:
        totals: Their sums over each partition.
        bound: Euclidean distance over all cells from the exact minimum is at most this.
    """

    values: FloatArray
    totals: tuple[FloatArray, ...]
    bound: float
    steps: int


def reconcile(
    mean: FloatArray, variance: FloatArray, sums: Sequence[MeasuredSums], *, tolerance: float = 1e-6
) -> Reconciled:
    """Returns the closest non-negative table to estimates of cells and measured sums.

    Args:
        mean: The estimate of every cell, one period a row.
        tolerance: The largest distance from the exact minimum, as a share of all trips.
    """
    mean, variance = np.ascontiguousarray(mean), np.ascontiguousarray(variance)
    problem = _Problem.of(mean, variance, sums)
    point = problem.at(np.zeros(problem.layout.size))
    for step in range(_MOST_STEPS):
        enough = tolerance * max(1.0, point.total)
        if point.distance <= enough:
            return Reconciled(
                values=problem.layout.cells(mean, variance, point.multipliers),
                totals=problem.totals(point),
                bound=point.distance,
                steps=step,
            )
        before, point = point, problem.better(point, enough)
        if point is before:
            break
    raise OutOfReachError(
        f"The fit came within {point.distance:.1e} trips of the exact one; "
        f"{enough:.1e} was asked for.",
        advice="Measure fewer sums, or bring their shares of the budget closer together.",
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Point:
    """A point of the dual.

    Attributes:
        multipliers: For every sum of a finest family, what the cells see of it and all around it.
        sums: The sums of the cells that follow.
        active: The variance of all positive cells in each sum.
        missing: The gradient: by how much the sums miss what the multipliers ask for.
        distance: Largest possible distance of the cells from the exact minimum.
        total: The sum of all cells.
    """

    multipliers: FloatArray
    sums: FloatArray
    active: FloatArray
    missing: FloatArray
    distance: float
    total: float


@dataclass(frozen=True, kw_only=True, eq=False)
class _Problem:
    """Everything that does not change.

    Attributes:
        nests: The finest families of sums, each with the coarser ones inside it.
        places: Where the sums of each are.
        layout: Where the cells of each are.
        aggregates: The coarse level of the preconditioner.
        moving: The variance of every positive cell at the last point, 0 for all others.
        errors: By which share of itself rounding may move a sum of each.
        all_variance: The sum of all variances.
        all_estimates: The sum of the sizes of all estimates.
    """

    mean: FloatArray
    variance: FloatArray
    families: int
    nests: Sequence[NestedSums]
    places: Sequence[slice]
    layout: Layout
    aggregates: Aggregates | None
    moving: FloatArray
    errors: Sequence[float]
    largest: float
    all_variance: float
    all_estimates: float

    @staticmethod
    def of(mean: FloatArray, variance: FloatArray, sums: Sequence[MeasuredSums]) -> "_Problem":
        nests = nested_sums(
            [each.partition for each in sums],
            [each.counts for each in sums],
            [max(each.variance, _LEAST_VARIANCE) for each in sums],
        )
        finest = [sums[nest.members[0]].partition for nest in nests]
        ends = np.cumsum([0, *(each.size for each in finest)])
        return _Problem(
            mean=mean,
            variance=variance,
            families=len(sums),
            nests=nests,
            places=[slice(int(first), int(last)) for first, last in pairwise(ends)],
            layout=Layout.of(finest),
            aggregates=aggregates_of(finest),
            moving=np.empty_like(mean),
            errors=[ROUNDING * (each.most_cells + 16) for each in finest],
            largest=float(variance.max(initial=0.0)),
            all_variance=float(variance.sum()),
            all_estimates=float(np.abs(mean).sum()),
        )

    def at(self, multipliers: FloatArray) -> _Point:
        """Evaluates the dual."""
        sums, active = self.layout.evaluate(self.mean, self.variance, multipliers, self.moving)
        missing = np.empty_like(sums)
        gap = 0.0
        for nest, place, error in zip(self.nests, self.places, self.errors, strict=True):
            missing[place], worst = nest.missed(multipliers[place], sums[place], error)
            gap += worst
        total = float(sums[self.places[0]].sum())
        off = self._rounding(multipliers, total)
        return _Point(
            multipliers=multipliers,
            sums=sums,
            active=active,
            missing=missing,
            distance=(math.sqrt(self.largest) * (math.sqrt(gap) + off) + 2 * ROUNDING * total)
            * _UPWARDS,
            total=total,
        )

    def _rounding(self, multipliers: FloatArray, total: float) -> float:
        """Returns how far rounding moves the minimum, over the deviations of the cells.

        A cell is its estimate plus its variance times what it sees. Rounding of the latter is the
        same as another estimate, and no minimum moves further than its estimates. A cell far below
        0 stays there; of any other, what is added is no more than the cell and its estimate.
        """
        seen = sum(float(np.abs(multipliers[place]).max(initial=0.0)) for place in self.places)
        most = min(seen * self.all_variance, total + self.all_estimates)
        return 8 * ROUNDING * math.sqrt(seen * most)

    def totals(self, point: _Point) -> tuple[FloatArray, ...]:
        """Returns the sums over each family as given."""
        found = [np.empty(0)] * self.families
        for nest, place in zip(self.nests, self.places, strict=True):
            finest, *coarser = nest.members
            fine = point.sums[place]
            found[finest] = fine
            parts = np.split(nest.sums(fine), nest.starts[1:-1])
            for each, part in zip(coarser, parts, strict=False):
                found[each] = part
        return tuple(found)

    def better(self, point: _Point, enough: float) -> _Point:
        """Takes a Newton step with a line search; none where it would be 0."""
        direction = self._direction(point, enough)
        if not direction.any():
            return point
        slope = dot(direction, point.missing)
        short, short_slope, far, far_slope = 0.0, slope, math.inf, 0.0
        length = 1.0
        for _ in range(_SHORTENINGS):
            ahead = self.at(point.multipliers + length * direction)
            reached = dot(direction, ahead.missing)
            if reached >= -_TOO_FAR * slope and (reached <= _TOO_FAR * slope or length >= 1.0):
                return ahead
            if reached < 0:
                far, far_slope = length, reached
            else:
                short, short_slope = length, reached
            share = short_slope / (short_slope - far_slope)
            length = short + min(max(share, _INSIDE), 1 - _INSIDE) * (far - short)
        return ahead

    def _direction(self, point: _Point, enough: float) -> FloatArray:
        """Solves for the Newton direction by conjugate gradients."""
        moving, first_guess = active_hessian(self.layout, self.moving), self._first_guess(point)
        direction = np.zeros_like(point.missing)
        left = point.missing.copy()
        scaled = first_guess(left)
        along = scaled.copy()
        size = dot(left, scaled)
        rough = _ROUGH**2 * size
        fine = (_ENOUGH * enough) ** 2 / max(self.largest, 1e-300)
        for _ in range(_MOST_DIRECTIONS):
            if size <= rough or self._gap(left) <= fine:
                break
            image = self._image(moving, along)
            step = size / dot(along, image)
            direction += step * along
            left -= step * image
            scaled = first_guess(left)
            before, size = size, dot(left, scaled)
            along = scaled + size / before * along
        return direction

    def _first_guess(self, point: _Point) -> Callable[[FloatArray], FloatArray]:
        """Returns the preconditioner: the diagonal, and the aggregates."""
        least = np.empty_like(point.missing)
        for nest, place in zip(self.nests, self.places, strict=True):
            least[place] = nest.variance
        scale = 1 / (least + point.active)
        aggregates = self.aggregates
        if aggregates is None:
            return lambda left: scale * left
        factor = aggregates.factor(least, point.active)
        return lambda left: scale * left + aggregates.moved(factor, left)

    def _image(self, moving: Hessian, along: FloatArray) -> FloatArray:
        image = moving.times(along)
        for nest, place in zip(self.nests, self.places, strict=True):
            image[place] += nest.resistance(along[place])
        return image

    def _gap(self, missing: FloatArray) -> float:
        """Returns twice the gap that a gradient leaves."""
        return sum(
            nest.gap(missing[place]) for nest, place in zip(self.nests, self.places, strict=True)
        )


_EXACT = 1 << 53


@dataclass(frozen=True, kw_only=True, eq=False)
class WeightedSums:
    """Noisy counts of one partition, and the weight of a squared error relative to a cell's."""

    partition: Partition
    counts: IntArray
    weight: float


def project_crossing(
    values: IntArray, sums: Sequence[WeightedSums], *, tolerance: float
) -> Reconciled:
    """Returns the closest non-negative table, where margins cross finely.

    `projection` sorts the cells of every group and factors the matrix of all margins. Where origins
    and destinations are measured by period, every cell is a group and the matrix fills in: seconds
    to minutes. Reconciling only ever passes over the cells. With one variance V for all cells, and
    V / weight for a family, it minimises the same function over V, and V does not matter for
    distances. It is the largest weight here, so that no variance is below 1.

    Privacy:
        Everything here is computed from noisy values: post-processing, which costs nothing.

    Raises:
        OutOfReachError: The tolerance, relative to the fitted total, could not be reached: sums
            that weigh much contradict each other by much. `projection.project`, in double-double,
            does.
        ReleaseError: A number is too large to be exact.
    """
    for each in (values, *(one.counts for one in sums)):
        if each.size and max(-int(each.min()), int(each.max())) >= _EXACT:
            raise ReleaseError(
                "A noisy count is too large to be fitted exactly.",
                advice="Keep noisy counts below 2^53.",
            )
    largest = max([1.0, *(each.weight for each in sums)])
    return reconcile(
        values.astype(np.float64),
        np.full(values.shape, largest),
        [
            MeasuredSums(
                partition=each.partition, counts=each.counts, variance=largest / each.weight
            )
            for each in sums
        ],
        tolerance=tolerance,
    )


def relative_bound(joined: Reconciled) -> float:
    """Returns the bound as a share of the fitted total, or of 1 if that is less."""
    return joined.bound / max(1.0, float(joined.values.sum()))
