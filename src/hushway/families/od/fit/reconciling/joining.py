"""Cells and sums brought together: each gives way as much as it is uncertain.

Minimises half the squared distance from the estimates of the cells, each over its own variance,
plus half the squared distance of all sums from what was measured, over the variance of its noise;
no cell becomes negative. The dual of this has one unknown for every sum of the finest families and
is solved by Newton's method, its systems by conjugate gradients, so margins may cross as they like.
How far the result is from the exact minimum is known from the gap between both problems.
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
from hushway.families.od.fit.reconciling.motions import Motions, motions_of
from hushway.families.od.fit.reconciling.moving import Moving, moving_cells
from hushway.families.od.fit.reconciling.nesting import ROUNDING, Tower, towers_of
from hushway.families.od.fit.reconciling.passes import Layout
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
        tolerance: The largest distance from the exact minimum, as a share of all trips
            of the result.

    Raises:
        OutOfReachError: The tolerance could not be reached.
    """
    mean, variance = np.ascontiguousarray(mean), np.ascontiguousarray(variance)
    problem = _Problem.of(mean, variance, sums)
    point = problem.at(np.zeros(problem.layout.size))
    for step in range(_MOST_STEPS):
        enough = tolerance * max(1.0, point.total)
        if point.distance <= enough:
            return Joined(
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
    """Where the dual was looked at.

    Attributes:
        multipliers: For every sum of a finest family, what the cells see of it and all around it.
        sums: The sums of the cells that follow.
        active: The variance of all positive cells in each sum.
        missing: By how much the sums miss what the multipliers ask for: the gradient.
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
    """Everything that does not change: cells, sums and where they lie.

    Attributes:
        mean: The estimates of the cells.
        variance: Their variances.
        families: Number of families of sums.
        towers: The finest families of sums, each with the coarser ones inside it.
        places: Where the sums of each are.
        layout: Where the cells of each are.
        motions: What moves together although it hardly moves a cell.
        moving: The variance of every positive cell at the last point, 0 for all others.
        errors: By which share of itself rounding may move a sum of each.
        largest: The largest variance of a cell.
        all_variance: The sum of all variances.
        all_estimates: The sum of the sizes of all estimates.
    """

    mean: FloatArray
    variance: FloatArray
    families: int
    towers: Sequence[Tower]
    places: Sequence[slice]
    layout: Layout
    motions: Motions | None
    moving: FloatArray
    errors: Sequence[float]
    largest: float
    all_variance: float
    all_estimates: float

    @staticmethod
    def of(mean: FloatArray, variance: FloatArray, sums: Sequence[MeasuredSums]) -> "_Problem":
        towers = towers_of(
            [each.partition for each in sums],
            [each.counts for each in sums],
            [max(each.variance, _LEAST_VARIANCE) for each in sums],
        )
        finest = [sums[tower.members[0]].partition for tower in towers]
        ends = np.cumsum([0, *(each.size for each in finest)])
        return _Problem(
            mean=mean,
            variance=variance,
            families=len(sums),
            towers=towers,
            places=[slice(int(first), int(last)) for first, last in pairwise(ends)],
            layout=Layout.of(finest),
            motions=motions_of(finest),
            moving=np.empty_like(mean),
            errors=[ROUNDING * (each.most_cells + 16) for each in finest],
            largest=float(variance.max(initial=0.0)),
            all_variance=float(variance.sum()),
            all_estimates=float(np.abs(mean).sum()),
        )

    def at(self, multipliers: FloatArray) -> _Point:
        """Looks at the dual."""
        sums, active = self.layout.look(self.mean, self.variance, multipliers, self.moving)
        missing = np.empty_like(sums)
        gap = 0.0
        for tower, place, error in zip(self.towers, self.places, self.errors, strict=True):
            missing[place], worst = tower.missed(multipliers[place], sums[place], error)
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
        """Returns how far rounding puts the minimum off, over the deviations of the cells.

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
        for tower, place in zip(self.towers, self.places, strict=True):
            finest, *coarser = tower.members
            fine = point.sums[place]
            found[finest] = fine
            parts = np.split(tower.sums(fine), tower.starts[1:-1])
            for each, part in zip(coarser, parts, strict=False):
                found[each] = part
        return tuple(found)

    def better(self, point: _Point, enough: float) -> _Point:
        """Takes a Newton step, shortened until it leads upwards; none where it would be 0."""
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
        moving, first_guess = moving_cells(self.layout, self.moving), self._first_guess(point)
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
        """Returns what solves a system roughly: by the diagonal, and by the motions."""
        least = np.empty_like(point.missing)
        for tower, place in zip(self.towers, self.places, strict=True):
            least[place] = tower.variance
        scale = 1 / (least + point.active)
        motions = self.motions
        if motions is None:
            return lambda left: scale * left
        factor = motions.factor(least, point.active)
        return lambda left: scale * left + motions.moved(factor, left)

    def _image(self, moving: Moving, along: FloatArray) -> FloatArray:
        image = moving.follow(along)
        for tower, place in zip(self.towers, self.places, strict=True):
            image[place] += tower.resistance(along[place])
        return image

    def _gap(self, missing: FloatArray) -> float:
        """Returns twice the gap that a gradient leaves."""
        return sum(
            tower.gap(missing[place]) for tower, place in zip(self.towers, self.places, strict=True)
        )
