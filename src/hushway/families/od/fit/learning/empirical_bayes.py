"""Counts estimated from noisy values and prior means by empirical Bayes, on two levels.

A line (a pair of places, say, over all periods) has a random factor, and each of its cells has
another one. The laws of both are mixtures of `mixture_components`, whose weights are estimated
from all noisy values together by maximum likelihood (EM), separately for small and for large
priors. Then every count has a posterior, computed under the exact law of the noise.

Privacy:
    Everything here is computed from noisy values and public prior means: post-processing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, Int32Array, IntArray
from hushway.families.od.fit.learning.likelihood import (
    COLUMNS,
    REACH,
    UNCHANGED,
    Likelihood,
    factors,
    likelihood_of,
    mixture_components,
    value_classes,
)
from hushway.numerics.compiled import compiled_for_threads
from hushway.numerics.threads import in_threads, processors
from hushway.privacy.noise.inversion import NoiseLaw

# How often lines and cells take turns, and how often each law is improved in its turn.
ROUNDS: Final = 3
_STEPS_OF_CELLS: Final = 30
_STEPS_OF_LINES: Final = 20
# A law of few counts leans on the law of all, as if that many counts more had been seen.
_SHARED: Final = 20.0
# So much of that is all laws alike, so that none is ever ruled out.
_OPEN: Final = 0.1
# Lines of one thread's turn: a fixed number, so that the number of threads never shows.
_TURN: Final = 1 << 14
# Lines of about the same prior that the law of their factors is learnt from.
_ENOUGH: Final = 1 << 12
# What a line's factor is surely not need not be looked at.
_NEGLIGIBLE: Final = 1e-7


@dataclass(frozen=True, kw_only=True, eq=False)
class Posterior:
    """Posterior mean and variance of every count; the mean factor of every line.

    Counts of a line share its factor, so the variance of their sum is more than that of its counts.
    """

    mean: FloatArray
    variance: FloatArray
    line_factor: FloatArray
    line_variance: FloatArray


def empirical_bayes(values: IntArray, expected: FloatArray, law: NoiseLaw) -> Posterior:
    """Returns the posterior of every count, given noisy values.

    Args:
        values: Noisy values, one line a column.
        expected: The prior mean of each count, in the same shape.
    """
    classes = value_classes(values, math.sqrt(law.variance))
    tables = likelihood_of(law, classes, float(expected.max(initial=1.0)))
    rows, columns = values.shape
    seen, place = classes.of(values).astype(np.int32), tables.nearest(expected).astype(np.int32)
    laws = mixture_components()
    line_laws = LineMixture.start(expected.sum(axis=0), laws)
    sample, some_laws = line_laws.sample()
    some = Lines.of(seen[:, sample], place[:, sample], tables)
    cell_laws = CellMixture.start(tables, laws)
    unchanged = np.arange(COLUMNS) == UNCHANGED
    cell_laws.run_em(some.histogram(some_laws.often[:, None] * unchanged))
    for _ in range(ROUNDS):
        weights = some_laws.run_em(some.likelihood(cell_laws.logarithms()))
        cell_laws.run_em(some.histogram(some_laws.often[:, None] * weights))
    lines = Lines.of(seen, place, tables)
    weights = line_laws.weights(lines.likelihood(cell_laws.logarithms()))
    mean, variance, line_variance = lines.posterior(weights, cell_laws)
    mean = mean.reshape(columns, rows).T.copy()
    classes.follow(mean, values)
    return Posterior(
        mean=mean,
        variance=variance.reshape(columns, rows).T.copy(),
        line_factor=weights @ factors(),
        line_variance=line_variance,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class CellMixture:
    """The law of the factors of cells, for each prior of the grid.

    Attributes:
        reached: For each component and prior, where its factors lead to on the grid.
        seen: For each component and prior, the probability of each class of values.
        shares: For each prior, the weight of each component; changed in place.
    """

    tables: Likelihood
    reached: FloatArray
    seen: FloatArray
    shares: FloatArray

    @staticmethod
    def start(tables: Likelihood, laws: FloatArray) -> "CellMixture":
        """Returns equal weights for every prior."""
        size = tables.size
        reached = np.zeros((len(laws), size, size))
        rows = np.arange(size)
        steps = tables.steps((laws.shape[1] - 2) // 2)
        for column in range(1, laws.shape[1]):
            reached[:, rows, steps[:, column - 1]] += laws[:, None, column]
        reached[:, :, 0] += laws[:, None, 0]
        return CellMixture(
            tables=tables,
            reached=reached,
            seen=(reached.reshape(-1, size) @ tables.probability).reshape(len(laws), size, -1),
            shares=np.full((size, len(laws)), 1 / len(laws)),
        )

    def run_em(self, seen: FloatArray) -> None:
        """Runs EM steps on the weights, given how often each class of values was seen."""
        rows = np.flatnonzero(seen.sum(axis=1) > 0)
        often, laws = seen[rows], self.seen[:, rows].transpose(1, 0, 2)
        shares = self.shares[rows]
        for _ in range(_STEPS_OF_CELLS):
            mixed = (shares[:, None, :] @ laws)[:, 0]
            ratio = (often / mixed)[:, :, None]
            shares = _smoothed_shares(shares * (laws @ ratio)[:, :, 0])
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

    def censored(self) -> tuple[FloatArray, FloatArray]:
        """Returns mean and variance of a count of the last class, for each prior."""
        mixed = self.mixed
        probability = mixed @ self.tables.probability[:, -1]
        mean = mixed @ self.tables.first[:, -1] / probability
        square = mixed @ self.tables.second[:, -1] / probability
        return mean, np.maximum(square - mean**2, 0.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class LineMixture:
    """The law of the factors of lines, for lines of about the same prior.

    Attributes:
        kind: Which lines have about the same prior.
        often: How many lines each one stands for.
        shares: For each kind, the weight of each component; changed in place.
    """

    kind: IntArray
    often: FloatArray
    laws: FloatArray
    shares: FloatArray

    @staticmethod
    def start(expected: FloatArray, laws: FloatArray) -> "LineMixture":
        """Returns equal weights, for lines whose priors are within a factor of e."""
        logs = np.rint(np.log(np.maximum(expected, 1e-12))).astype(np.int64)
        _, kind = np.unique(logs, return_inverse=True)
        shares = np.full((int(kind.max(initial=0)) + 1, len(laws)), 1 / len(laws))
        return LineMixture(kind=kind, often=np.ones(len(kind)), laws=laws, shares=shares)

    def sample(self) -> tuple[IntArray, "LineMixture"]:
        """Returns lines to learn from, and their mixture, which shares the weights with this one.

        Of a kind with many lines some of them, evenly chosen, tell as much as all.
        """
        order = np.argsort(self.kind, kind="stable")
        count = np.bincount(self.kind)
        taken = np.minimum(count, _ENOUGH)
        place = np.arange(len(order)) - np.repeat(np.cumsum(count) - count, count)
        each, of = np.repeat(taken, count), np.repeat(count, count)
        chosen = np.sort(order[(place + 1) * each // of > place * each // of])
        kind = self.kind[chosen]
        return chosen, replace(self, kind=kind, often=(count / taken)[kind])

    def run_em(self, likelihood: FloatArray) -> FloatArray:
        """Runs EM steps on the weights, and returns how probable each factor of a line is."""
        by_law = likelihood @ self.laws.T

        def work(turn: tuple[int, int]) -> FloatArray:
            counts = np.zeros_like(self.shares)
            _count_laws(by_law, (self.kind, self.often), self.shares, turn, counts)
            return counts

        for _ in range(_STEPS_OF_LINES):
            counts = sum(in_threads(work, _turns(len(by_law)), processors()), start=np.zeros(()))
            self.shares[:] = _smoothed_shares(counts)
        return self.weights(likelihood)

    def weights(self, likelihood: FloatArray) -> FloatArray:
        """Returns how probable each factor of each line is."""
        joint = (self.shares @ self.laws)[self.kind] * likelihood
        return np.asarray(joint / joint.sum(axis=1, keepdims=True))


def _smoothed_shares(counts: FloatArray) -> FloatArray:
    """Turns expected counts into weights; rare kinds are smoothed towards the mean of all."""
    everywhere = counts.sum(axis=0)
    everywhere /= everywhere.sum()
    leaning = counts + _SHARED * ((1 - _OPEN) * everywhere + _OPEN / counts.shape[1])
    return np.asarray(leaning / leaning.sum(axis=1, keepdims=True))


def _for_lines(table: FloatArray) -> FloatArray:
    """Returns a table by class and prior, padded for all steps at both ends."""
    wide = np.pad(table, ((REACH, REACH), (0, 0)), mode="edge")
    return np.ascontiguousarray(wide.T)


@dataclass(frozen=True, kw_only=True, eq=False)
class CensoredCells:
    """How many censored cells each line has, and the grid place of the prior of one."""

    count: FloatArray
    expectation: Int32Array


@dataclass(frozen=True, kw_only=True, eq=False)
class Lines:
    """Cells as classes, one line after the other.

    Attributes:
        value: The class of each noisy value.
        expectation: The place of each prior on the grid.
        start: Where each line begins; one entry more than lines, the last is the length.
        censored: Further cells of the lines; their values are of the last class.
    """

    value: Int32Array
    expectation: Int32Array
    start: IntArray
    classes: int
    grid: int
    censored: CensoredCells | None = None

    @staticmethod
    def of(value: Int32Array, expectation: Int32Array, tables: Likelihood) -> "Lines":
        """Returns one line for every column of a table."""
        rows, columns = value.shape
        return Lines(
            value=value.T.ravel(),
            expectation=expectation.T.ravel(),
            start=rows * np.arange(columns + 1),
            classes=tables.probability.shape[1],
            grid=tables.size,
        )

    def histogram(self, weights: FloatArray | None = None) -> FloatArray:
        """Returns how often each class was seen at each prior, given weights of line factors."""
        if weights is None:
            weights = np.zeros((len(self.start) - 1, COLUMNS))
            weights[:, UNCHANGED] = 1.0

        def work(turn: tuple[int, int]) -> FloatArray:
            seen = np.zeros((self.classes, self.grid + 2 * REACH))
            _see(self.value, self.expectation, self.start, weights, turn, seen)
            return seen

        seen = sum(in_threads(work, _turns(len(self.start) - 1), processors()), start=np.zeros(()))
        core = seen[:, REACH : REACH + self.grid].T.copy()
        core[0] += seen[:, :REACH].sum(axis=1)
        core[-1] += seen[:, REACH + self.grid :].sum(axis=1)
        return core

    def likelihood(self, logarithms: FloatArray) -> FloatArray:
        """Returns how likely the values of each line are under each factor, the largest being 1."""
        found = np.zeros((len(self.start) - 1, COLUMNS))

        def work(turn: tuple[int, int]) -> None:
            _add_logarithms(self.value, self.expectation, self.start, logarithms, turn, found)
            if self.censored is not None:
                chosen = slice(*turn)
                place = self.censored.expectation[chosen, None] + np.arange(COLUMNS - 1)
                count = self.censored.count[chosen, None]
                found[chosen, 1:] += count * logarithms[-1][place]
                found[chosen, :1] += count * logarithms[-1, REACH]

        in_threads(work, _turns(len(self.start) - 1), processors())
        found -= found.max(axis=1, keepdims=True)
        return np.exp(found, out=found)

    def posterior(
        self, weights: FloatArray, laws: CellMixture
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Returns posterior mean and variance of every count, and the variance of every line."""
        moments = laws.moments()
        mean, variance = np.empty(len(self.value)), np.empty(len(self.value))
        of_lines = np.empty(len(self.start) - 1)

        def work(turn: tuple[int, int]) -> None:
            _posterior(
                self.value,
                self.expectation,
                self.start,
                weights,
                moments,
                turn,
                (mean, variance, of_lines),
            )

        in_threads(work, _turns(len(self.start) - 1), processors())
        return mean, variance, of_lines


def _turns(lines: int) -> Sequence[tuple[int, int]]:
    return [(first, min(first + _TURN, lines)) for first in range(0, lines, _TURN)]


@compiled_for_threads
def _count_laws(
    by_law: FloatArray,
    lines: tuple[IntArray, FloatArray],
    shares: FloatArray,
    turn: tuple[int, int],
    counts: FloatArray,
) -> None:
    """Adds up how probable each law is for every line, by the kind of the line."""
    (kind, often), laws = lines, shares.shape[1]
    for line in range(turn[0], turn[1]):
        seen, share, count = by_law[line], shares[kind[line]], counts[kind[line]]
        # Two sums at a time: each addition waits for the one before it.
        even, odd = 0.0, 0.0
        for law in range(0, laws - 1, 2):
            even += share[law] * seen[law]
            odd += share[law + 1] * seen[law + 1]
        if laws % 2:
            even += share[laws - 1] * seen[laws - 1]
        scale = often[line] / (even + odd)
        for law in range(laws):
            count[law] += seen[law] * scale
    counts *= shares


@compiled_for_threads
def _add_logarithms(  # noqa: PLR0917  compiled code takes plain arrays
    value: Int32Array,
    expectation: Int32Array,
    start: IntArray,
    logarithms: FloatArray,
    turn: tuple[int, int],
    found: FloatArray,
) -> None:
    for line in range(turn[0], turn[1]):
        total = found[line]
        for cell in range(start[line], start[line + 1]):
            here = logarithms[value[cell]]
            total[0] += here[REACH]
            # Slices: places within them cannot be negative, so compiled code need not ask.
            steps, reached = total[1:], here[expectation[cell] :]
            for column in range(COLUMNS - 1):
                steps[column] += reached[column]


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
def _see(  # noqa: PLR0917  compiled code takes plain arrays
    value: Int32Array,
    expectation: Int32Array,
    start: IntArray,
    weights: FloatArray,
    turn: tuple[int, int],
    seen: FloatArray,
) -> None:
    for line in range(turn[0], turn[1]):
        first, last = _span(weights[line])
        likely = weights[line, first:last]
        for cell in range(start[line], start[line + 1]):
            here = seen[value[cell]]
            here[REACH] += weights[line, 0]
            reached = here[expectation[cell] + first - 1 :]
            for column in range(last - first):
                reached[column] += likely[column]


@compiled_for_threads
def _posterior(  # noqa: PLR0917  compiled code takes plain arrays
    value: Int32Array,
    expectation: Int32Array,
    start: IntArray,
    weights: FloatArray,
    moments: tuple[FloatArray, FloatArray],
    turn: tuple[int, int],
    found: tuple[FloatArray, FloatArray, FloatArray],
) -> None:
    for line in range(turn[0], turn[1]):
        first, last = _span(weights[line])
        # The sum of the line's means under each factor, and what its counts vary beside them.
        sums, within, likely = np.zeros(COLUMNS), 0.0, weights[line, first:last]
        later = sums[first:]
        for cell in range(start[line], start[line + 1]):
            seen, place = value[cell], expectation[cell] + first - 1
            means, squares = moments[0][seen], moments[1][seen]
            sums[0] += means[REACH]
            mean = weights[line, 0] * means[REACH]
            square = weights[line, 0] * squares[REACH]
            between = weights[line, 0] * means[REACH] ** 2
            reached, reached_squares = means[place:], squares[place:]
            for column in range(last - first):
                here = reached[column]
                later[column] += here
                mean += likely[column] * here
                between += likely[column] * here * here
                square += likely[column] * reached_squares[column]
            found[0][cell] = mean
            found[1][cell] = max(square - mean * mean, 0.0)
            within += max(square - between, 0.0)
        centre = np.sum(weights[line] * sums)
        found[2][line] = within + np.sum(weights[line] * (sums - centre) ** 2)
