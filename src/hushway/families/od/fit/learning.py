"""Counts learnt from noisy values and an expectation: what all values have in common is free.

Two levels. A line (a pair of places, say, over all periods) has a factor of its own, and each of
its cells has another one. The laws of both kinds of factors are mixtures of `spread_laws`, learnt
from all noisy values together by the method of maximum likelihood (EM), separately for small and
for large expectations. Then every count has a posterior, computed under the exact law of the noise.

Privacy:
    Everything here is computed from noisy values and public expectations: post-processing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, Int32Array, IntArray
from hushway.families.od.fit.likelihood import (
    Likelihood,
    ValueClasses,
    likelihood_of,
    value_classes,
)
from hushway.families.od.fit.spread import COLUMNS, REACH, UNCHANGED, factors, spread_laws
from hushway.numerics.compiled import compiled_for_threads
from hushway.numerics.threads import in_threads, processors
from hushway.privacy.noise.inversion import NoiseLaw

# How often lines and cells take turns, and how often each law is improved in its turn.
_ROUNDS: Final = 3
_STEPS_OF_CELLS: Final = 30
_STEPS_OF_LINES: Final = 20
# A law of few counts leans on the law of all, as if that many counts more had been seen.
_SHARED: Final = 20.0
# So much of that is all laws alike, so that none is ever ruled out.
_OPEN: Final = 0.1
# Lines of one thread's turn: a fixed number, so that the number of threads never shows.
_TURN: Final = 1 << 14
# What a line's factor is surely not need not be looked at.
_NEGLIGIBLE: Final = 1e-7


@dataclass(frozen=True, kw_only=True, eq=False)
class Posterior:
    """What is known of every count.

    Attributes:
        mean: Its posterior mean.
        variance: Its posterior variance.
        line_factor: The posterior mean of every line's factor.
        prior_variance: The sum of all variances before the cells' own values were looked at.
    """

    mean: FloatArray
    variance: FloatArray
    line_factor: FloatArray
    prior_variance: float


def learn(values: IntArray, expected: FloatArray, law: NoiseLaw) -> Posterior:
    """Returns what noisy values and an expectation say about the counts behind them.

    Args:
        values: Noisy values, one line a column.
        expected: What is expected of each count, in the same shape.
        law: The noise of every value.
    """
    classes = value_classes(values, math.sqrt(law.variance))
    tables = likelihood_of(law, classes, float(expected.max(initial=1.0)))
    lines = _Lines(
        value=classes.of(values).astype(np.int32),
        expectation=tables.nearest(expected).astype(np.int32),
        classes=len(classes.centres),
        grid=tables.size,
    )
    laws = spread_laws()
    cell_laws = _CellLaws.start(tables, laws)
    cell_laws.improve(lines.histogram())
    line_laws = _LineLaws.start(expected.sum(axis=0), laws)
    for _ in range(_ROUNDS):
        weights = line_laws.improve(lines.likelihood(cell_laws.logarithms()))
        cell_laws.improve(lines.histogram(weights))
    weights = line_laws.weights(lines.likelihood(cell_laws.logarithms()))
    mean, variance = lines.posterior(weights, cell_laws, classes, values)
    return Posterior(
        mean=mean,
        variance=variance,
        line_factor=weights @ factors(),
        prior_variance=cell_laws.prior_variance(lines.histogram(weights)),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _CellLaws:
    """The spread of cells, for each expectation of the grid.

    Attributes:
        tables: The likelihood of noisy values.
        reached: For each law and expectation, where its factors lead to on the grid.
        seen: For each law and expectation, the probability of each class of values.
        shares: For each expectation, the share of each law; changed in place.
    """

    tables: Likelihood
    reached: FloatArray
    seen: FloatArray
    shares: FloatArray

    @staticmethod
    def start(tables: Likelihood, laws: FloatArray) -> "_CellLaws":
        """Returns all laws alike, for every expectation."""
        size = tables.size
        reached = np.zeros((len(laws), size, size))
        rows = np.arange(size)
        for column in range(1, COLUMNS):
            reached[:, rows, tables.steps[:, column - 1]] += laws[:, None, column]
        reached[:, :, 0] += laws[:, None, 0]
        return _CellLaws(
            tables=tables,
            reached=reached,
            seen=(reached.reshape(-1, size) @ tables.probability).reshape(len(laws), size, -1),
            shares=np.full((size, len(laws)), 1 / len(laws)),
        )

    def improve(self, seen: FloatArray) -> None:
        """Makes the shares more likely, given how often each class of values was seen."""
        rows = np.flatnonzero(seen.sum(axis=1) > 0)
        often, laws = seen[rows], self.seen[:, rows].transpose(1, 0, 2)
        shares = self.shares[rows]
        for _ in range(_STEPS_OF_CELLS):
            mixed = np.einsum("bj,bjy->by", shares, laws, optimize=True)
            ratio = (often / mixed)[:, :, None]
            shares = _leaning_on_all(shares * (laws @ ratio)[:, :, 0])
        self.shares[:] = shares.mean(axis=0)
        self.shares[rows] = shares

    @property
    def mixed(self) -> FloatArray:
        """For each expectation, where the learnt factors lead to on the grid."""
        return np.asarray(np.einsum("bj,jbk->bk", self.shares, self.reached, optimize=True))

    def logarithms(self) -> FloatArray:
        """Returns the log likelihood of each class of values, ready for all steps of a line."""
        return _for_lines(np.log(self.mixed @ self.tables.probability))

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Returns mean and mean square of a count, given its class, for all steps of a line."""
        mixed = self.mixed
        probability = mixed @ self.tables.probability
        return (
            _for_lines(mixed @ self.tables.first / probability),
            _for_lines(mixed @ self.tables.second / probability),
        )

    def prior_variance(self, seen: FloatArray) -> float:
        """Returns the sum of the variances of all counts, as far as expectations tell."""
        grid = self.tables.expectations
        mixed = self.mixed
        mean = mixed @ grid
        return float(seen.sum(axis=1) @ (mean + mixed @ grid**2 - mean**2))


@dataclass(frozen=True, kw_only=True, eq=False)
class _LineLaws:
    """The spread of lines, for lines of about the same expectation.

    Attributes:
        kind: Which lines expect about the same.
        laws: The laws.
        shares: For each kind, the share of each law; changed in place.
    """

    kind: IntArray
    laws: FloatArray
    shares: FloatArray

    @staticmethod
    def start(expected: FloatArray, laws: FloatArray) -> "_LineLaws":
        """Returns all laws alike, for lines that expect within a factor of e of each other."""
        logs = np.rint(np.log(np.maximum(expected, 1e-12))).astype(np.int64)
        _, kind = np.unique(logs, return_inverse=True)
        shares = np.full((int(kind.max(initial=0)) + 1, len(laws)), 1 / len(laws))
        return _LineLaws(kind=kind, laws=laws, shares=shares)

    def improve(self, likelihood: FloatArray) -> FloatArray:
        """Makes the shares more likely, and returns how probable each factor of a line is."""
        by_law = likelihood @ self.laws.T

        def work(turn: tuple[int, int]) -> FloatArray:
            return _counted(by_law, self.kind, self.shares, turn)

        for _ in range(_STEPS_OF_LINES):
            counts = sum(in_threads(work, _turns(len(by_law)), processors()), start=np.zeros(()))
            self.shares[:] = _leaning_on_all(counts)
        return self.weights(likelihood)

    def weights(self, likelihood: FloatArray) -> FloatArray:
        """Returns how probable each factor of each line is."""
        joint = (self.shares @ self.laws)[self.kind] * likelihood
        return np.asarray(joint / joint.sum(axis=1, keepdims=True))


def _turns(lines: int) -> Sequence[tuple[int, int]]:
    return [(first, min(first + _TURN, lines)) for first in range(0, lines, _TURN)]


def _leaning_on_all(counts: FloatArray) -> FloatArray:
    """Turns counts of laws into shares; what was seen seldom leans on what was seen everywhere."""
    everywhere = counts.sum(axis=0)
    everywhere /= everywhere.sum()
    leaning = counts + _SHARED * ((1 - _OPEN) * everywhere + _OPEN / counts.shape[1])
    return np.asarray(leaning / leaning.sum(axis=1, keepdims=True))


def _for_lines(table: FloatArray) -> FloatArray:
    """Returns a table by class and expectation, with room for all steps at both ends."""
    wide = np.pad(table, ((REACH, REACH), (0, 0)), mode="edge")
    return np.ascontiguousarray(wide.T)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Lines:
    """All cells as classes, one line a column.

    Attributes:
        value: The class of each noisy value.
        expectation: The place of each expectation on the grid.
        classes: Number of classes of values.
        grid: Number of expectations.
    """

    value: Int32Array
    expectation: Int32Array
    classes: int
    grid: int

    @property
    def _turns(self) -> Sequence[tuple[int, int]]:
        return _turns(self.value.shape[1])

    def histogram(self, weights: FloatArray | None = None) -> FloatArray:
        """Returns how often each class was seen at each expectation.

        Args:
            weights: How probable each factor of each line is; none has one unless given.
        """
        if weights is None:
            weights = np.zeros((self.value.shape[1], COLUMNS))
            weights[:, UNCHANGED] = 1.0

        def work(turn: tuple[int, int]) -> FloatArray:
            return _seen(
                self.value, self.expectation, weights, turn, self.classes, self.grid + 2 * REACH
            )

        seen = sum(in_threads(work, self._turns, processors()), start=np.zeros(()))
        core = seen[:, REACH : REACH + self.grid].T.copy()
        core[0] += seen[:, :REACH].sum(axis=1)
        core[-1] += seen[:, REACH + self.grid :].sum(axis=1)
        return core

    def likelihood(self, logarithms: FloatArray) -> FloatArray:
        """Returns how likely the values of each line are under each factor, the largest being 1."""
        found = np.empty((self.value.shape[1], COLUMNS))

        def work(turn: tuple[int, int]) -> None:
            _add_logarithms(self.value, self.expectation, logarithms, turn, found)

        in_threads(work, self._turns, processors())
        found -= found.max(axis=1, keepdims=True)
        return np.exp(found, out=found)

    def posterior(
        self, weights: FloatArray, laws: _CellLaws, classes: ValueClasses, values: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Returns posterior mean and variance of every count."""
        first, second = laws.moments()
        mean, variance = np.empty(values.shape), np.empty(values.shape)

        def work(turn: tuple[int, int]) -> None:
            _posterior(
                self.value, self.expectation, weights, (first, second), turn, (mean, variance)
            )

        in_threads(work, self._turns, processors())
        # Within a wide class a count moves with its value.
        moving = classes.exact[self.value] == 0
        offset = values[moving] - classes.centres[self.value[moving]]
        mean[moving] = np.maximum(mean[moving] + offset, 0.0)
        return mean, variance


@compiled_for_threads
def _counted(
    by_law: FloatArray, kind: IntArray, shares: FloatArray, turn: tuple[int, int]
) -> FloatArray:
    """Returns how many lines of each kind follow each law, as probable as each is."""
    counts = np.zeros_like(shares)
    joint = np.empty(shares.shape[1])
    for line in range(turn[0], turn[1]):
        mine, likely, own = shares[kind[line]], by_law[line], counts[kind[line]]
        total = 0.0
        for law in range(len(joint)):
            joint[law] = mine[law] * likely[law]
            total += joint[law]
        for law in range(len(joint)):
            own[law] += joint[law] / total
    return counts


@compiled_for_threads
def _add_logarithms(
    value: Int32Array,
    expectation: Int32Array,
    logarithms: FloatArray,
    turn: tuple[int, int],
    found: FloatArray,
) -> None:
    for line in range(turn[0], turn[1]):
        for column in range(COLUMNS):
            found[line, column] = 0.0
    for row in range(value.shape[0]):
        for line in range(turn[0], turn[1]):
            here, place = logarithms[value[row, line]], expectation[row, line]
            found[line, 0] += here[REACH]
            for column in range(COLUMNS - 1):
                found[line, column + 1] += here[place + column]


@compiled_for_threads
def _span(weights: FloatArray) -> tuple[int, int]:
    """Returns the columns, without that of the factor 0, that are not negligible."""
    first, last = 1, COLUMNS
    while first < last and weights[first] < _NEGLIGIBLE:
        first += 1
    while last > first and weights[last - 1] < _NEGLIGIBLE:
        last -= 1
    return first, last


@compiled_for_threads
def _seen(  # noqa: PLR0917  compiled code takes plain arrays
    value: Int32Array,
    expectation: Int32Array,
    weights: FloatArray,
    turn: tuple[int, int],
    classes: int,
    width: int,
) -> FloatArray:
    seen = np.zeros((classes, width))
    for line in range(turn[0], turn[1]):
        first, last = _span(weights[line])
        for row in range(value.shape[0]):
            here, place = seen[value[row, line]], expectation[row, line]
            here[REACH] += weights[line, 0]
            for column in range(first, last):
                here[place + column - 1] += weights[line, column]
    return seen


@compiled_for_threads
def _posterior(  # noqa: PLR0917  compiled code takes plain arrays
    value: Int32Array,
    expectation: Int32Array,
    weights: FloatArray,
    moments: tuple[FloatArray, FloatArray],
    turn: tuple[int, int],
    found: tuple[FloatArray, FloatArray],
) -> None:
    for line in range(turn[0], turn[1]):
        first, last = _span(weights[line])
        for row in range(value.shape[0]):
            seen, place = value[row, line], expectation[row, line] - 1
            mean = weights[line, 0] * moments[0][seen, REACH]
            square = weights[line, 0] * moments[1][seen, REACH]
            for column in range(first, last):
                mean += weights[line, column] * moments[0][seen, place + column]
                square += weights[line, column] * moments[1][seen, place + column]
            found[0][row, line] = mean
            found[1][row, line] = max(square - mean * mean, 0.0)
