"""Wrong curators that mutants are made with: each is the real one but for a single verb."""

from dataclasses import replace

import numpy as np

from hushway.arrays import IntArray
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import counting_event, noise_for
from hushway.privacy.curator import Curator
from hushway.privacy.events import Budget
from hushway.privacy.loss import Loss
from hushway.privacy.measured import Measured, MeasuredSparse
from hushway.privacy.noise.forecast import expected_above, threshold_for
from hushway.privacy.noise.grouped import Grouping
from hushway.privacy.noise.lazy import LazyVector, ShownGroups
from hushway.privacy.query import Counter, ExactCounts, PartitionQuery, Query
from hushway.privacy.randomness import BitSource


class Meddler(Curator):
    """A curator that keeps what only the real one should hold."""

    def __init__(self, counter: Counter, budget: Budget, source: BitSource) -> None:
        super().__init__(counter=counter, budget=budget, source=source)
        self._parts = counter, budget, source

    def _exact(self, query: Query | PartitionQuery) -> ExactCounts:
        counter, _, _ = self._parts
        if isinstance(query, PartitionQuery):
            return query.apply(counter.count(query.base))
        return counter.count(query)

    def _exact_values(self, query: Query | PartitionQuery) -> IntArray:
        return dense(self._exact(query), query)


class WrongAnswers(Meddler):
    """Counts as the real curator does, and then changes the noisy answers."""

    def counts(self, query: Query | PartitionQuery, spend: Loss) -> Measured:
        """Returns noisy counts with the mistake in them."""
        answer = super().counts(query, spend)
        return replace(answer, values=self._changed(query, answer.values))

    def _changed(self, query: Query | PartitionQuery, values: IntArray) -> IntArray:
        raise NotImplementedError


class SeenCellsOnly(Meddler):
    """Takes the universe from the data: a cell that nobody visited never shows."""

    def counts_above(self, query: Query, threshold: int, spend: Loss) -> MeasuredSparse:
        """Returns noisy counts of the cells that hold a trip."""
        counter, budget, source = self._parts
        bound = counter.bound(query)
        event = counting_event(query.name, query.cells.size, spend, bound)
        budget.charge(event)
        law, exact = noise_for(spend, bound), counter.count(query)
        seen = LazyVector(
            law=law, size=len(exact.cells), cells=exact.cells, counts=exact.values, source=source
        )
        return MeasuredSparse(
            query=query, threshold=threshold, variance=law.variance, event=event, vector=seen
        )


class ThresholdForEmptyCells(Meddler):
    """Sets the threshold by how many cells are empty, for only these can show by mistake."""

    def counts_above(self, query: Query, threshold: int, spend: Loss) -> MeasuredSparse:
        """Returns noisy counts from a threshold on that follows from the rows."""
        counter, _, _ = self._parts
        law, size = noise_for(spend, counter.bound(query)), query.cells.size
        empty = max(size - len(self._exact(query).cells), 1)
        lower = threshold_for(law, empty, expected_above(law, size, threshold))
        return super().counts_above(query, lower, spend)


class ExactTotal(WrongAnswers):
    """Adds no noise to a total: it is only one number."""

    def _changed(self, query: Query | PartitionQuery, values: IntArray) -> IntArray:
        return values if query.cells.size > 1 else self._exact_values(query)


class Peeping(Meddler):
    """A curator that tells exact counts."""

    def exact(self, query: Query | PartitionQuery) -> ExactCounts:
        """Returns counts that nobody should see."""
        return self._exact(query)

    def exactly(self, answer: Measured | MeasuredSparse) -> Measured:
        """Returns an answer without its noise."""
        query = answer.query
        assert isinstance(query, Query | PartitionQuery)  # noqa: S101  what mutants peep at
        return Measured(
            query=query,
            values=self._exact_values(query),
            variance=answer.variance,
            event=answer.event,
        )


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
        values, exact = law.draw(source, query.cells.size), self._exact(query)
        values[exact.cells] += exact.values
        return Measured(query=query, values=values, variance=law.variance, event=event)


class SeenOnly(WrongAnswers):
    """Learns the universe from the rows: what nobody visited gets no noise."""

    def _changed(self, query: Query | PartitionQuery, values: IntArray) -> IntArray:
        return np.where(self._exact_values(query) != 0, values, 0)


class SeenElementsOnly(SeenOnly):
    """Learns the elements of a feature from the rows: those without trips get no noise."""

    def _changed(self, query: Query | PartitionQuery, values: IntArray) -> IntArray:
        return values if isinstance(query, Query) else super()._changed(query, values)


class PrunedExactly(WrongAnswers):
    """Prunes by exact counts: what is empty is never measured above 0, so a tree drops it."""

    def _changed(self, query: Query | PartitionQuery, values: IntArray) -> IntArray:
        return np.where(self._exact_values(query) != 0, values, np.minimum(values, 0))


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

    vector: type[LazyVector]

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
        vector = self.vector(
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


class RedrawnCells(WrongVector):
    """Draws lazily measured cells anew at every look."""

    vector = _Forgetful


class UnconditionalCells(WrongVector):
    """Draws lazily measured cells as if nobody had looked before."""

    vector = _Unconditional


class OccupiedCellsOnly(WrongVector):
    """Takes sparsely measured cells from the data."""

    vector = _OccupiedOnly


def dense(exact: ExactCounts, query: Query | PartitionQuery) -> IntArray:
    """Returns exact counts of all cells, 0 where there are none."""
    values = np.zeros(query.cells.size, dtype=np.int64)
    values[exact.cells] = exact.values
    return values
