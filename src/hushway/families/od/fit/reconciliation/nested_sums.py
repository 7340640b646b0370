"""Nested families of sums: the coarser ones cost nothing more.

Where every element of a family lies inside one element of another, the sums of the coarser follow
from those of the finer, and so do the multipliers that the cells see: what they see of a total and
its periods is one number for every period. So the multipliers of coarser families are eliminated
exactly, and only the finest families remain as unknowns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, Int32Array, IntArray
from hushway.families.od.fit.partitions import Partition
from hushway.families.od.fit.reconciliation.preconditioner import Envelope, factored
from hushway.numerics.compiled import compiled
from hushway.numerics.double_double import dot, exact_sum

# More coarse elements than this are not solved for at once.
_MOST_INSIDE: Final = 1024
# Half the distance of 1 to the next double.
ROUNDING: Final = 2.0**-53


@dataclass(frozen=True, kw_only=True, eq=False)
class NestedSums:
    """A finest family of sums, and the coarser ones that it refines.

    Attributes:
        members: Which families these are, the finest first.
        counts: What was measured of the finest.
        variance: The variance of its noise.
        above: For each coarser family, the coarse element around every element of the finest.
        coarse_counts: What was measured of the coarser ones.
        coarse_variance: The variance of each.
        starts: Where each coarser family begins, and one entry more.
        factor: The matrix that the multipliers of coarser families are found with.
    """

    members: tuple[int, ...]
    counts: FloatArray
    variance: float
    above: tuple[IntArray, ...]
    coarse_counts: FloatArray
    coarse_variance: FloatArray
    starts: IntArray
    factor: Envelope

    @staticmethod
    def of(
        members: Sequence[int],
        partitions: Sequence[Partition],
        counts: Sequence[IntArray],
        variances: Sequence[float],
    ) -> "NestedSums":
        """Returns the nest of some families, of which the first refines all others."""
        finest, *coarser = members
        starts = np.cumsum([0, *(partitions[each].size for each in coarser)])
        above = tuple(
            _around(partitions[finest], partitions[each]) + first
            for each, first in zip(coarser, starts[:-1], strict=True)
        )
        coarse_variance = np.repeat(
            [variances[each] for each in coarser], [partitions[each].size for each in coarser]
        )
        every = np.full(partitions[finest].size, variances[finest])
        return NestedSums(
            members=tuple(members),
            counts=counts[finest].astype(np.float64),
            variance=variances[finest],
            above=above,
            coarse_counts=np.concatenate([np.empty(0), *(counts[each] for each in coarser)]),
            coarse_variance=coarse_variance,
            starts=starts,
            factor=factored(coarse_variance, above, every),
        )

    def sums(self, fine: FloatArray) -> FloatArray:
        """Adds up over all coarser families."""
        found = np.zeros(len(self.coarse_counts))
        for above in self.above:
            _add_up(found, above, fine)
        return found

    def spread(self, coarse: FloatArray) -> FloatArray:
        """Returns what the coarser families have around every element of the finest."""
        found = np.zeros(len(self.counts))
        for above in self.above:
            found += coarse[above]
        return found

    def missed(
        self, multipliers: FloatArray, sums: FloatArray, error: float
    ) -> tuple[FloatArray, float]:
        """Returns the gradient, and at most twice the duality gap.

        Where the multipliers of coarser families are best, a coarse sum misses what its parts miss.

        Args:
            multipliers: For every element of the finest family, what its cells see.
            sums: The sums of the cells.
            error: By which share of itself each sum may be off.
        """
        coarse_sums = self.sums(sums)
        coarse = self.factor.solve(
            self.coarse_counts - self.sums(self.counts - self.variance * multipliers)
        )
        missing, above = self._miss(multipliers, sums, coarse, coarse_sums)
        # Large multipliers leave rounding behind; what is missing is small, and is not.
        coarse = coarse + self.factor.solve(above - self.sums(missing))
        missing, above = self._miss(multipliers, sums, coarse, coarse_sums)
        around = self.spread(np.abs(coarse))
        hidden = error * sums + (4 + len(self.above)) * ROUNDING * (
            sums + np.abs(self.counts) + self.variance * (np.abs(multipliers) + around)
        )
        above_hidden = error * coarse_sums + 8 * ROUNDING * (
            coarse_sums + np.abs(self.coarse_counts) + self.coarse_variance * np.abs(coarse)
        )
        fine_gap = float(np.sum((np.abs(missing) + hidden) ** 2)) / self.variance
        gap = float(np.sum((np.abs(above) + above_hidden) ** 2 / self.coarse_variance))
        return missing, fine_gap + gap

    def _miss(
        self, multipliers: FloatArray, sums: FloatArray, coarse: FloatArray, coarse_sums: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Returns what the sums miss, the finest and the coarser ones."""
        own = self.variance * (multipliers - self.spread(coarse))
        above = self.coarse_counts - self.coarse_variance * coarse - coarse_sums
        return self.counts - own - sums, above

    def gap(self, missing: FloatArray) -> float:
        """Returns twice the gap that a gradient leaves, up to rounding."""
        coarse = self.sums(missing)
        return dot(missing, missing) / self.variance + float(
            np.sum(coarse**2 / self.coarse_variance)
        )

    def resistance(self, direction: FloatArray) -> FloatArray:
        """Returns the product of the noise part of the Hessian with a direction."""
        own = self.variance * direction
        if not self.above:
            return own
        return np.asarray(own - self.variance * self.spread(self.factor.solve(self.sums(own))))


def nested_sums(
    partitions: Sequence[Partition], counts: Sequence[IntArray], variances: Sequence[float]
) -> list[NestedSums]:
    """Puts every family inside the first one that refines it, finest first."""
    stacks: list[list[int]] = []
    order = sorted(range(len(partitions)), key=lambda each: -partitions[each].size)
    for each in order:
        home = next(
            (
                stack
                for stack in stacks
                if _refines(partitions[stack[0]], partitions[each])
                and sum(partitions[i].size for i in [*stack[1:], each]) <= _MOST_INSIDE
            ),
            None,
        )
        if home is None:
            stacks.append([each])
        else:
            home.append(each)
    return [NestedSums.of(stack, partitions, counts, variances) for stack in stacks]


def _refines(finer: Partition, coarser: Partition) -> bool:
    return _inside(finer.period_class, finer.periods, coarser.period_class) and _inside(
        finer.pair_class, finer.classes, coarser.pair_class
    )


def _inside(fine: Int32Array, classes: int, coarse: Int32Array) -> bool:
    return np.array_equal(_class_around(fine, classes, coarse)[fine], coarse)


def _class_around(fine: Int32Array, classes: int, coarse: Int32Array) -> IntArray:
    # A class that nothing lies in has no sum to pass on, so it may be anywhere.
    around = np.zeros(classes, dtype=np.int64)
    around[fine] = coarse
    return around


def _around(finer: Partition, coarser: Partition) -> IntArray:
    """Returns the coarse element around every fine one."""
    period = _class_around(finer.period_class, finer.periods, coarser.period_class)
    pair = _class_around(finer.pair_class, finer.classes, coarser.pair_class)
    return (period[:, None] * coarser.classes + pair[None, :]).ravel()


@compiled
def _add_up(sums: FloatArray, element: IntArray, values: FloatArray) -> None:
    """Adds values to sums with compensation for rounding."""
    lost = np.zeros(len(sums))
    for place in range(len(values)):
        sums[element[place]], rest = exact_sum(sums[element[place]], values[place])
        lost[element[place]] += rest
    for place in range(len(sums)):
        sums[place] += lost[place]
