"""Newton directions: solutions of H d = -r, where H grows with the number of active cells.

H = diag(1 / weights) + the sum over groups of its active cells times the outer product of its
elements. Nested margins, and crossing ones of a few thousand elements, are factored again and again
in one pattern. Where that would fill in, conjugate gradients take over.
"""

from typing import Protocol

import numpy as np

from hushway.arrays import FloatArray
from hushway.families.od.fit.crossing import CrossingDirections
from hushway.families.od.fit.ldl import Factor, Pattern, factor_of, pattern_of
from hushway.families.od.fit.system import System

# Multiplications in one factorisation: about a third of a second.
_MOST_WORK = 3e8
# Group-by-pair entries in a pattern: about half a gigabyte.
_MOST_ENTRIES = 1 << 27


class Directions(Protocol):
    """Solves for Newton directions of one system."""

    def solve(self, counts: FloatArray, residual: FloatArray, accuracy: float) -> FloatArray:
        """Returns the direction, given the number of active cells in each group.

        Args:
            counts: Active cells of each group.
            residual: The gradient.
            accuracy: How large an error may remain, relative to the gradient.
        """
        ...


def directions_of(system: System) -> Directions:
    """Returns the way to solve that suits a system."""
    groups, margins = system.elements.shape
    if groups * margins * (margins - 1) // 2 <= _MOST_ENTRIES:
        pattern = pattern_of(system, most_work=_MOST_WORK)
        if pattern is not None:
            return FixedPattern(system, pattern)
    return CrossingDirections(system)


class FixedPattern:
    """Factors directly; a factor is kept for as long as no cell joins or leaves."""

    def __init__(self, system: System, pattern: Pattern) -> None:
        self._elements = system.elements
        self._least = 1 / system.weights
        self._pattern = pattern
        self._factored: tuple[FloatArray, Factor] | None = None

    def solve(self, counts: FloatArray, residual: FloatArray, accuracy: float) -> FloatArray:
        """Returns the direction; a factorisation has the accuracy it has."""
        del accuracy
        if self._factored is None or not np.array_equal(self._factored[0], counts):
            factor = factor_of(self._pattern, self._elements, counts, self._least)
            self._factored = counts, factor
        return self._factored[1].solve(-residual)
