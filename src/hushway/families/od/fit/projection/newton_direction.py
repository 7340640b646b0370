"""Newton directions: solutions of H d = -r, where H grows with the number of active cells.

H = diag(1 / weights) + the sum over groups of its active cells times the outer product of its
elements. Nested margins, and crossing ones of a few thousand elements, are factored (LDL^T) in one
sparsity pattern. Where that would fill in, preconditioned conjugate gradients take over.
"""

from typing import Protocol

import numpy as np

from hushway.arrays import FloatArray, Int32Array
from hushway.families.od.fit.projection.ldl import Factor, Pattern, factor_of, pattern_of
from hushway.families.od.fit.projection.problem import DualProblem
from hushway.numerics.compiled import compiled
from hushway.numerics.double_double import dot

# Multiplications in one factorisation: about a third of a second.
_MOST_WORK = 3e8
# Group-by-pair entries in a pattern: about half a gigabyte.
_MOST_ENTRIES = 1 << 27


class NewtonSolver(Protocol):
    """Solves for Newton directions of one system."""

    def solve(self, counts: FloatArray, residual: FloatArray, accuracy: float) -> FloatArray:
        """Returns the direction, to an accuracy relative to the gradient."""
        ...


def newton_solver(system: DualProblem) -> NewtonSolver:
    """Returns the solver that suits a problem."""
    groups, margins = system.elements.shape
    if groups * margins * (margins - 1) // 2 <= _MOST_ENTRIES:
        pattern = pattern_of(system, most_work=_MOST_WORK)
        if pattern is not None:
            return DirectSolver(system, pattern)
    return ConjugateGradients(system)


class DirectSolver:
    """Factors directly; a factor is kept for as long as no cell joins or leaves."""

    def __init__(self, system: DualProblem, pattern: Pattern) -> None:
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


# Newton directions for crossing margins of many elements, by conjugate gradients.
#
# A factorisation would fill in, so the matrix is only ever applied, and only for groups that have
# an active cell. What makes it slow is that margins know of each other: raising a total and
# lowering its parts by as much changes no shift, and only the small 1 / weight stands against it.
# These aggregates are known in advance, one for each part of a coarser margin, so they are solved
# for exactly in every iteration; the diagonal takes care of the rest.

# Aggregates that are solved for exactly; more would cost more than they save.
_MOST_AGGREGATES = 600
_MOST_ITERATIONS = 20_000


class ConjugateGradients:
    """Conjugate gradients with a two-level preconditioner: diagonal and aggregates."""

    def __init__(self, system: DualProblem) -> None:
        self._elements = system.elements
        self._least = 1 / system.weights
        self._motion, self._aggregates = _aggregates(system)

    def solve(self, counts: FloatArray, residual: FloatArray, accuracy: float) -> FloatArray:
        """Returns the direction."""
        active = np.flatnonzero(counts)
        elements = self._elements[active]
        coarse = _coarse(elements, counts[active], self._least, self._motion, self._aggregates)
        return _conjugate_gradients(
            elements,
            counts[active],
            self._least,
            self._motion,
            _cholesky(coarse),
            -residual,
            accuracy,
        )


def _aggregates(system: DualProblem) -> tuple[Int32Array, int]:
    """Returns the aggregate that each element belongs to, and their number.

    A margin is aggregated to the finest margin that it refines and that is not too fine.
    """
    sizes = sorted(((place.start, place.stop) for place in system.places), key=lambda one: one[0])
    allowed = _MOST_AGGREGATES // max(1, len(sizes))
    aggregate = np.zeros(len(system.counts), dtype=np.int32)
    aggregates = 0
    for column, (first, end) in enumerate(sizes):
        parts, count = np.zeros(end - first, dtype=np.int32), 1
        for coarser in range(column, len(sizes)):
            width = sizes[coarser][1] - sizes[coarser][0]
            if width > allowed:
                continue
            found, refines = _parts(system.elements, column, coarser, first, end - first)
            if refines:
                parts, count = found - np.int32(sizes[coarser][0]), width
                break
        aggregate[first:end] = aggregates + parts
        aggregates += count
    return aggregate, aggregates


@compiled
def _parts(
    elements: Int32Array, fine: int, coarse: int, first: int, size: int
) -> tuple[Int32Array, bool]:
    """Returns the coarse element around each fine one, and whether there is only ever one."""
    around = np.full(size, -1, dtype=np.int32)
    for g in range(elements.shape[0]):
        e = elements[g, fine] - first
        if around[e] == -1:
            around[e] = elements[g, coarse]
        elif around[e] != elements[g, coarse]:
            return around, False
    some = elements[0, coarse] if elements.shape[0] else 0
    for e in range(size):
        if around[e] == -1:
            around[e] = some
    return around, True


@compiled
def _coarse(
    elements: Int32Array,
    counts: FloatArray,
    least: FloatArray,
    aggregate: Int32Array,
    aggregates: int,
) -> FloatArray:
    """Returns the matrix among the aggregates."""
    groups, margins = elements.shape
    matrix = np.zeros((aggregates, aggregates))
    for e in range(len(least)):
        matrix[aggregate[e], aggregate[e]] += least[e]
    for g in range(groups):
        for i in range(margins):
            for j in range(margins):
                matrix[aggregate[elements[g, i]], aggregate[elements[g, j]]] += counts[g]
    return matrix


@compiled
def _cholesky(matrix: FloatArray) -> FloatArray:
    """Factors a small positive definite matrix in place, on this thread."""
    for i in range(len(matrix)):
        for j in range(i):
            matrix[i, j] = (matrix[i, j] - dot(matrix[i, :j], matrix[j, :j])) / matrix[j, j]
        # Rounding may leave nothing of a pivot; then that aggregate is left to the diagonal.
        rest = matrix[i, i] - dot(matrix[i, :i], matrix[i, :i])
        matrix[i, i] = np.sqrt(rest) if rest > 0.0 else np.inf
    return matrix


@compiled
def _scaled(
    rest: FloatArray, diagonal: FloatArray, aggregate: Int32Array, factor: FloatArray
) -> FloatArray:
    """Applies the preconditioner: by the diagonal, and by the aggregates."""
    size = len(factor)
    moved = np.zeros(size)
    for e in range(len(rest)):
        moved[aggregate[e]] += rest[e]
    for i in range(size):
        for j in range(i):
            moved[i] -= factor[i, j] * moved[j]
        moved[i] /= factor[i, i]
    for i in range(size - 1, -1, -1):
        moved[i] /= factor[i, i]
        for j in range(i):
            moved[j] -= factor[i, j] * moved[i]
    found = np.empty_like(rest)
    for e in range(len(rest)):
        found[e] = rest[e] / diagonal[e] + moved[aggregate[e]]
    return found


@compiled
def _conjugate_gradients(  # noqa: PLR0917 - compiled code takes arrays, not objects
    elements: Int32Array,
    counts: FloatArray,
    least: FloatArray,
    aggregate: Int32Array,
    factor: FloatArray,
    right: FloatArray,
    accuracy: float,
) -> FloatArray:
    groups, margins = elements.shape
    diagonal = least.copy()
    for g in range(groups):
        for i in range(margins):
            diagonal[elements[g, i]] += counts[g]
    found = np.zeros_like(right)
    rest = right.copy()
    scaled = _scaled(rest, diagonal, aggregate, factor)
    way = scaled.copy()
    slope = dot(rest, scaled)
    enough = accuracy * accuracy * slope
    for _ in range(_MOST_ITERATIONS):
        if slope <= enough:
            break
        product = least * way
        for g in range(groups):
            total = 0.0
            for i in range(margins):
                total += way[elements[g, i]]
            total *= counts[g]
            for i in range(margins):
                product[elements[g, i]] += total
        step = slope / dot(way, product)
        found += step * way
        rest -= step * product
        scaled = _scaled(rest, diagonal, aggregate, factor)
        steeper = dot(rest, scaled)
        way = scaled + (steeper / slope) * way
        slope = steeper
    return found
