"""Wrong curators and mechanisms of densities that mutants are made of."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from hushway.arrays import IntArray
from hushway.audit.mutant_curators import Meddler, WrongAnswers, dense
from hushway.families.density.mechanism.recommended import Spends
from hushway.families.density.mechanism.series import DensitySeries
from hushway.families.density.public.visits import (
    ClusterSeries,
    DensityUniverse,
    SiteHistogram,
    VisitCells,
    VisitTotal,
)
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import cutting_event, noise_for
from hushway.privacy.curator import Curator
from hushway.privacy.events import Budget, spread_of_cuts
from hushway.privacy.loss import Loss, ZCDPLoss, loss_of, total
from hushway.privacy.measured import Measured
from hushway.privacy.noise.exponential import exponential_choice
from hushway.privacy.query import Counter, CutQuery, PartitionQuery, Query
from hushway.privacy.randomness import BitSource
from hushway.release.mechanism import Measurements


class _WrongNoise(WrongAnswers):
    """Gives the counts of a series noise that is not fresh."""

    def _changed(self, query: Query | PartitionQuery, values: IntArray) -> IntArray:
        if not isinstance(query, Query) or not isinstance(query.cells, ClusterSeries):
            return values
        exact = self._exact_values(query)
        noise = (values - exact).reshape(query.cells.clusters, -1)
        return exact + self._spread(noise).ravel()

    @staticmethod
    def _spread(noise: IntArray) -> IntArray:
        raise NotImplementedError


class SharedByClusters(_WrongNoise):
    """Gives all clusters the same noise."""

    @staticmethod
    def _spread(noise: IntArray) -> IntArray:
        return np.broadcast_to(noise[:1], noise.shape)


class SharedByBins(_WrongNoise):
    """Gives all bins the same noise."""

    @staticmethod
    def _spread(noise: IntArray) -> IntArray:
        return np.broadcast_to(noise[:, :1], noise.shape)


class ExactPeople(WrongAnswers):
    """Normalises the histogram to the exact number of people."""

    def _changed(self, query: Query | PartitionQuery, values: IntArray) -> IntArray:
        changed = values.copy()
        if isinstance(query.cells, SiteHistogram):
            changed[-1] += self._exact(query).values.sum() - values.sum()
        return changed


class HalfTheNoise(Meddler):
    """Gives one question noise for four times the rho that it is spent with, and says nothing."""

    def __init__(
        self, kind: type[VisitCells], counter: Counter, budget: Budget, source: BitSource
    ) -> None:
        super().__init__(counter, budget, source)
        self._kind = kind

    def counts(self, query: Query | PartitionQuery, spend: Loss) -> Measured:
        """Returns noisy counts; those of the one question have half the noise."""
        answer = super().counts(query, spend)
        if not isinstance(query.cells, self._kind):
            return answer
        _, _, source = self._parts
        law = noise_for(ZCDPLoss(4 * spend.amount), answer.event.bound)
        noise = law.draw(source, query.cells.size)
        return replace(answer, values=self._exact_values(query) + noise)


class _WrongRate(Meddler):
    """Cuts series at another rate than it states."""

    def cuts(self, query: CutQuery, spend: Loss) -> Measured:
        """Returns cuts chosen at the wrong rate."""
        counter, budget, source = self._parts
        bound = counter.bound(query.base)
        event = cutting_event(query.name, query.cells.size, spend, bound)
        budget.charge(event)
        rate = event.rate * self._factor(bound)
        exact = dense(self._exact(query.base), query.base)
        chosen = [
            query.kept(exponential_choice(source, scores, rate)) for scores in query.scores(exact)
        ]
        values = np.array(chosen, dtype=np.int64)
        return Measured(query=query, values=values, variance=Fraction(0), event=event)

    @staticmethod
    def _factor(bound: Bound) -> Fraction:
        raise NotImplementedError


class PrintedExponent(_WrongRate):
    """Cuts series with the paper's exponent: as if a person moved a single score by one visit."""

    @staticmethod
    def _factor(bound: Bound) -> Fraction:
        return Fraction(spread_of_cuts(bound), bound.each)


class TwiceTheRate(_WrongRate):
    """Cuts series at twice the rate: four times the rho."""

    @staticmethod
    def _factor(_bound: Bound) -> Fraction:
        return Fraction(2)


class NosySeries(DensitySeries):
    """A density whose clusters are made from exact totals."""

    def measure(self, curator: Curator, geography: DensityUniverse) -> Measurements:
        """Asks for totals, and makes clusters of the exact ones."""
        measured = [
            curator.counts(query, spend) for query, spend in self._before_clusters(geography)
        ]
        # Not a real verb: only the curator of this mutant has it.
        exact = [curator.exactly(answer) for answer in measured]  # type: ignore[attr-defined]
        cells = self.series(geography, self._clusters(exact, geography))
        query = Query(name=cells.name, cells=cells)
        return [*measured, curator.counts(query, self.spends.series)]


class NosyScale(DensitySeries):
    """A density that is scaled to the exact number of visits."""

    def measure(self, curator: Curator, geography: DensityUniverse) -> Measurements:
        """Asks what a density asks, and takes the noise off the total."""
        return [
            # Not a real verb: only the curator of this mutant has it.
            curator.exactly(answer)  # type: ignore[attr-defined]
            if isinstance(answer.query.cells, VisitTotal)
            else answer
            for answer in super().measure(curator, geography)
        ]


def four_times_the_series(mechanism: DensitySeries) -> DensitySeries:
    """Spends four times what is left for the series, and says so."""
    series = loss_of(mechanism.spends.series.measure, 4 * mechanism.spends.series.amount)
    return replace(mechanism, spends=replace(mechanism.spends, series=series))


def unsplit(mechanism: DensitySeries) -> DensitySeries:
    """Gives the whole budget of a density to each of its questions."""
    whole, asked = total(mechanism.losses), mechanism.spends
    spends = Spends(
        series=whole,
        histogram=asked.histogram and whole,
        activity=asked.activity and whole,
        total=asked.total and whole,
        clusters=asked.clusters and whole,
    )
    return replace(mechanism, spends=spends)
