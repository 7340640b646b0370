"""Checks that two things agree: two samples of one law, two tables, two rows of questions.

Two samples of one law fill the same bins alike. With every bin's total given, its split between the
samples is hypergeometric, which spreads no wider than a binomial; so the chi-square law describes
the sum of squares well even in its tail.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import chdtrc

from hushway.arrays import IntArray
from hushway.auditing.harness import Check, Finding, Sampler, World, enough
from hushway.privacy.bound import Bound
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss
from hushway.privacy.measured import Measured, MeasuredSparse
from hushway.privacy.query import AnyQuery, PartitionQuery, Query
from hushway.release.mechanism import Measurements

# Three powers of ten below the 1e-9 of other checks, for the tail of a law that is approximate.
_LEAST_CHANCE = 1e-12
# Outcomes in a bin, below which neighbouring values are put together.
_FEWEST = 100


@dataclass(frozen=True, kw_only=True)
class SameLaw(Check):
    """The claim that two ways to run give outcomes of one law, so that neither tells more."""

    epsilon: Fraction = Fraction(0)
    worlds: tuple[World, World]

    def examine(self, runs: int) -> Finding:
        """Compares the two samples by a chi-square test over all outcomes."""
        runs = enough(runs, self.effort)
        one, other = (world.sample(runs) for world in self.worlds)
        counts = _binned(one, other)
        distance = float(((counts[0] - counts[1]) ** 2 / counts.sum(axis=0)).sum())
        freedom = counts.shape[1] - 1
        chance = float(chdtrc(freedom, distance)) if freedom else 1.0
        return self.finding(
            runs,
            event=(
                f"{self.statistic}: {self.worlds[0].words} and {self.worlds[1].words} differ by a "
                f"chi-square of {distance:.4g}, with {freedom} degrees of freedom"
            ),
            passed=chance >= _LEAST_CHANCE,
            reason=f"Two samples of one law differ as much with probability {chance:.2g}.",
        )


@dataclass(frozen=True, kw_only=True)
class AlwaysSame(Check):
    """The claim that something can never differ.

    Attributes:
        sample: Returns how far each run's two answers are apart.
    """

    sample: Sampler

    def examine(self, runs: int) -> Finding:
        """Looks for a single difference."""
        runs = enough(runs, self.effort)
        differ = int(np.count_nonzero(self.sample(runs)))
        return self.finding(
            runs,
            event=f"{self.statistic}: {differ:,} of {runs:,} differ",
            passed=differ == 0,
            reason="None differ." if differ == 0 else f"{differ:,} differ; none may.",
        )


def _binned(one: IntArray, other: IntArray) -> IntArray:
    """Returns both samples' outcomes by bin; bins are chosen by the two together."""
    values, inverse = np.unique(np.concatenate([one, other]), return_inverse=True)
    counts = np.stack(
        [np.bincount(part, minlength=len(values)) for part in np.split(inverse, [len(one)])]
    )
    starts, held = [0], 0
    for place, number in enumerate(counts.sum(axis=0)[:-1]):
        held += number
        if held >= _FEWEST:
            starts.append(place + 1)
            held = 0
    sums: IntArray = np.add.reduceat(counts, starts, axis=1)
    return sums


Asked = tuple[Query | PartitionQuery, int | None, Loss]
"""A question: about which cells, from which threshold on, and at what price."""


class NoAnswerError(Exception):
    """More was asked than there are answers to repeat."""


class Replayed(Curator):
    """Gives the answers of another release, and keeps what it was asked.

    Whoever asks for more than noisy answers is told about the data at hand.
    """

    def __init__(self, inside: Curator, answers: Measurements) -> None:
        super().__init__(counter=_NOTHING, budget=_NOTHING, source=_NOTHING)
        self._inside = inside
        self._answers = answers
        self.asked: list[Asked] = []

    def __getattr__(self, name: str) -> Any:  # whatever a mutant looks for
        return getattr(self._inside, name)

    def bound(self, query: AnyQuery) -> Bound:
        """Returns the bound of the data at hand, a public number."""
        return self._inside.bound(query)

    def counts(self, query: Query | PartitionQuery, spend: Loss) -> Measured:
        """Returns the next answer of the other release.

        Raises:
            NoAnswerError: The other release was asked less.
        """
        answer = self._next((query, None, spend))
        assert isinstance(answer, Measured)  # noqa: S101  what the other release was asked
        return answer

    def counts_above(self, query: Query, threshold: int, spend: Loss) -> MeasuredSparse:
        """Returns the next answer of the other release.

        Raises:
            NoAnswerError: The other release was asked less.
        """
        answer = self._next((query, threshold, spend))
        assert isinstance(answer, MeasuredSparse)  # noqa: S101  what the other release was asked
        return answer

    def _next(self, asked: Asked) -> Measured | MeasuredSparse:
        self.asked.append(asked)
        if len(self.asked) > len(self._answers):
            raise NoAnswerError
        return self._answers[len(self.asked) - 1]


# A replayed curator never counts, spends or draws.
_NOTHING: Any = None
