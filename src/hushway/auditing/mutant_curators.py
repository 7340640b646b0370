"""Wrong curators that mutants are made with: each is the real one but for a single method."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from hushway.arrays import IntArray
from hushway.auditing.product import exact_values, sparse
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import counting_event, expected_above, noise_for, threshold_for
from hushway.privacy.curator import Curator
from hushway.privacy.events import Budget
from hushway.privacy.loss import Loss
from hushway.privacy.measured import Measured, MeasuredSparse
from hushway.privacy.noise.grouped import Grouping
from hushway.privacy.noise.lazy import LazyVector, ShownGroups
from hushway.privacy.query import AnyQuery, Counter, CutQuery, ExactCounts, PartitionQuery, Query
from hushway.privacy.randomness import BitSource


class Meddler(Curator):
    """A curator that keeps what only the real one should hold, and tells exact counts."""

    def __init__(self, counter: Counter, budget: Budget, source: BitSource) -> None:
        super().__init__(counter=counter, budget=budget, source=source)
        self._parts = counter, budget, source

    def exact(self, query: Query | PartitionQuery) -> ExactCounts:
        """Returns counts that nobody should see."""
        return sparse(self.exact_values(query))

    def exact_values(self, query: AnyQuery | CutQuery) -> IntArray:
        """Returns the same for all cells, 0 where there are none."""
        counter, _, _ = self._parts
        return exact_values(counter, query)

    def exactly(self, answer: Measured | MeasuredSparse) -> Measured:
        """Returns an answer without its noise."""
        values = self.exact_values(answer.query)
        return Measured(
            query=answer.query, values=values, variance=answer.variance, event=answer.event
        )


def exact(curator: Any, query: AnyQuery) -> ExactCounts:
    """Returns exact counts, for mechanisms that look at what only mutants tell."""
    told: ExactCounts = curator.exact(query)
    return told


def exactly(curator: Any, answer: Measured | MeasuredSparse) -> Measured:
    """Returns an answer without its noise, for the same."""
    told: Measured = curator.exactly(answer)
    return told


Change = Callable[[Query | PartitionQuery, IntArray, IntArray], IntArray]
"""Makes a wrong answer of a query, the noisy values and the exact ones."""


class WrongAnswers(Meddler):
    """Counts as the real curator does, and then changes the noisy answers."""

    def __init__(self, change: Change, counter: Counter, budget: Budget, source: BitSource) -> None:
        super().__init__(counter, budget, source)
        self._change = change

    def counts(self, query: Query | PartitionQuery, spend: Loss) -> Measured:
        """Returns noisy counts with the mistake in them."""
        answer = super().counts(query, spend)
        values = self._change(query, answer.values, self.exact_values(query))
        return replace(answer, values=values)


def _exact_total(query: Query | PartitionQuery, noisy: IntArray, exact: IntArray) -> IntArray:
    return noisy if query.cells.size > 1 else exact


def _seen_only(_query: Query | PartitionQuery, noisy: IntArray, exact: IntArray) -> IntArray:
    return np.where(exact != 0, noisy, 0)


def _seen_elements_only(
    query: Query | PartitionQuery, noisy: IntArray, exact: IntArray
) -> IntArray:
    return noisy if isinstance(query, Query) else _seen_only(query, noisy, exact)


def _pruned_exactly(_query: Query | PartitionQuery, noisy: IntArray, exact: IntArray) -> IntArray:
    return np.where(exact != 0, noisy, np.minimum(noisy, 0))


def _exact_answers(_query: Query | PartitionQuery, _noisy: IntArray, exact: IntArray) -> IntArray:
    return exact


EXACT_TOTAL = partial(WrongAnswers, _exact_total)
"""Adds no noise to a total, as if one number did not matter."""
SEEN_ONLY = partial(WrongAnswers, _seen_only)
"""Learns the universe from the rows: what nobody visited gets no noise."""
SEEN_ELEMENTS_ONLY = partial(WrongAnswers, _seen_elements_only)
"""Learns the elements of a feature from the rows: those without trips get no noise."""
PRUNED_EXACTLY = partial(WrongAnswers, _pruned_exactly)
"""Prunes by exact counts: what is empty is never measured above 0, so a tree drops it."""
EXACT_ANSWERS = partial(WrongAnswers, _exact_answers)
"""Publishes exact counts."""


class ThresholdForEmptyCells(Meddler):
    """Sets the threshold by how many cells are empty, for only these can show by mistake."""

    def counts_above(self, query: Query, threshold: int, spend: Loss) -> MeasuredSparse:
        """Returns noisy counts from a threshold on that follows from the rows."""
        counter, _, _ = self._parts
        law, size = noise_for(spend, counter.bound(query)), query.cells.size
        empty = max(size - len(self.exact(query).cells), 1)
        lower = threshold_for(law, empty, expected_above(law, size, threshold))
        return super().counts_above(query, lower, spend)


class FeatureSensitivityOfOne(Meddler):
    """Adds noise for m trips to the cells, and for one trip to features."""

    def counts(self, query: Query | PartitionQuery, spend: Loss) -> Measured:
        """Returns noisy counts; those of a feature have too little noise."""
        if isinstance(query, Query):
            return super().counts(query, spend)
        _, budget, source = self._parts
        bound = Bound(cells=1, each=1, total=1)
        law = noise_for(spend, bound)
        event = counting_event(query.name, query.cells.size, spend, bound)
        budget.charge(event)
        values = law.draw(source, query.cells.size) + self.exact_values(query)
        return Measured(query=query, values=values, variance=law.variance, event=event)


# A threshold that no cell reaches: nobody has looked yet.
_NOT_LOOKED = int(np.iinfo(np.int64).max)


class _Forgetful(LazyVector):
    """A lazy vector that draws its empty cells anew at every look."""

    def reveal_groups(self, thresholds: IntArray) -> ShownGroups:
        """Shows cells, and forgets that it did."""
        before = self._known, self._looked
        shown = super().reveal_groups(thresholds)
        self._known, self._looked = before
        return shown


class _Unconditional(LazyVector):
    """A lazy vector that forgets that hidden cells are known to be small."""

    def reveal_groups(self, thresholds: IntArray) -> ShownGroups:
        """Shows cells; those hidden until now are drawn as if nobody had looked."""
        self._looked = np.full_like(self._looked, _NOT_LOOKED)
        return super().reveal_groups(thresholds)


class _OccupiedOnly(LazyVector):
    """A lazy vector that never draws an empty cell."""

    def reveal_groups(self, thresholds: IntArray) -> ShownGroups:
        """Shows cells that hold a trip; of the others it says that they were looked at already."""
        self._looked = np.minimum(self._looked, thresholds)
        return super().reveal_groups(thresholds)


class WrongVector(Meddler):
    """Hands out a wrong lazy vector."""

    def __init__(
        self, vector: Callable[..., LazyVector], counter: Counter, budget: Budget, source: BitSource
    ) -> None:
        super().__init__(counter, budget, source)
        self._vector = vector

    def counts_above(self, query: Query, threshold: int, spend: Loss) -> MeasuredSparse:
        """Returns noisy counts that do not keep to their law."""
        return self._wrong(query, spend, threshold=threshold)

    def counts_lazily(self, query: Query, groups: Grouping, spend: Loss) -> MeasuredSparse:
        """Returns noisy counts that do not keep to their law."""
        return self._wrong(query, spend, groups=groups)

    def _wrong(
        self,
        query: Query,
        spend: Loss,
        *,
        threshold: int | None = None,
        groups: Grouping | None = None,
    ) -> MeasuredSparse:
        counter, budget, source = self._parts
        bound = counter.bound(query)
        law, exact = noise_for(spend, bound), counter.count(query)
        event = counting_event(query.name, query.cells.size, spend, bound)
        budget.charge(event)
        vector = self._vector(
            law=law,
            size=query.cells.size,
            cells=exact.cells,
            counts=exact.values,
            source=source,
            groups=groups,
        )
        return MeasuredSparse(
            query=query,
            threshold=threshold,
            groups=groups,
            variance=law.variance,
            event=event,
            vector=vector,
        )


def _of_seen_cells(*, size: int, cells: IntArray, **rest: Any) -> LazyVector:  # noqa: ARG001
    return LazyVector(size=len(cells), cells=cells, **rest)


SEEN_CELLS_ONLY = partial(WrongVector, _of_seen_cells)
"""Takes the universe from the data: a cell that nobody visited never shows."""
REDRAWN_CELLS = partial(WrongVector, _Forgetful)
"""Draws lazily measured cells anew at every look."""
UNCONDITIONAL_CELLS = partial(WrongVector, _Unconditional)
"""Draws lazily measured cells as if nobody had looked before."""
OCCUPIED_CELLS_ONLY = partial(WrongVector, _OccupiedOnly)
"""Takes sparsely measured cells from the data."""
