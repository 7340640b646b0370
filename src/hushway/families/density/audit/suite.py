"""The audits of densities, and the mistakes planted in them: the proof that audits can fail."""

from dataclasses import replace
from datetime import date
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np

from hushway.arrays import IntArray
from hushway.auditing.mutant_counters import (
    Make,
    Otherwise,
    WrongAnswers,
    unlimited,
    wrong_bound,
    wrong_input,
    wrong_values,
)
from hushway.auditing.mutant_curators import SEEN_ONLY, Meddler, exactly
from hushway.auditing.mutant_curators import WrongAnswers as WrongNoise
from hushway.auditing.product import Product, Rows, blind, exact_values, remade, sparse, unsplit
from hushway.auditing.suite import Audit, Suite, mutant
from hushway.families.density.audit import cuts, questions, whole
from hushway.families.density.audit.stage import CELLS, SHARED, SITES, DensityStage
from hushway.families.density.mechanism.people import DensityPeople
from hushway.families.density.mechanism.series import DensitySeries
from hushway.families.density.public.visits import (
    ActivityHistogram,
    ClusterSeries,
    ClusterTotals,
    DensityUniverse,
    SiteHistogram,
    VisitCells,
    VisitTotal,
)
from hushway.families.density.rows.counter import EngineVisits, VisitPart
from hushway.families.density.rows.counts import RankedVisits
from hushway.families.density.rows.grouping import VisitRows
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import cutting_event, noise_for
from hushway.privacy.curator import Curator
from hushway.privacy.events import Budget, spread_of_cuts
from hushway.privacy.loss import Loss, ZCDPLoss, loss_of
from hushway.privacy.measured import Measured
from hushway.privacy.noise.exponential import exponential_choice
from hushway.privacy.query import Counter, CutQuery, ExactCounts, PartitionQuery, Query
from hushway.privacy.randomness import BitSource
from hushway.release.mechanism import Measurements


class VisitsBatchByBatch(EngineVisits):
    """A counter of visits that bounds people in each batch of rows by itself."""

    @property
    def _part(self) -> VisitPart:
        return _BatchByBatch(universe=self.universe, ladder=self.offered, key=self.key)


class _BatchByBatch(VisitPart):
    def ranked(self, batches: list[VisitRows], threads: int) -> RankedVisits:
        parts = [super(_BatchByBatch, self).ranked([batch], threads) for batch in batches]
        return _added([*parts, super().ranked([], threads)])


class WeekByWeek(EngineVisits):
    """A counter of a typical week that bounds people in each week by itself."""

    @cached_property
    def found(self) -> RankedVisits:  # type: ignore[override]  # worked out once
        """The sums over weeks of what is bounded in each."""
        days = self.universe.periods.days
        weeks = [days[first : first + 7] for first in range(0, len(days), 7)]
        return _added([self._of_week(week[0], week[-1]) for week in weeks])

    def _of_week(self, first: date, last: date) -> RankedVisits:
        periods = replace(self.universe.periods, first_day=first, last_day=last)
        week = EngineVisits(
            source=self.source,
            universe=replace(self.universe, periods=periods),
            limits=self.limits,
            key=self.key,
            settings=self.settings,
        )
        return week.found


def _added(parts: list[RankedVisits]) -> RankedVisits:
    names = ("series", "people", "activity", "ranked")
    sums: dict[str, Any] = {name: sum(getattr(part, name) for part in parts) for name in names}
    return replace(parts[0], **sums)


def without_limit(name: str) -> Make:
    """Makes counters that state a limit and do not keep to it."""

    def make(rows: Rows, stage: DensityStage, source: BitSource) -> Otherwise:
        right = stage.count(rows, source)
        loose: Any = unlimited(name)(stage).count(rows, source)
        # It was counted without the limit, and says that it was not.
        loose.found = replace(loose.found, ladder=stage.limits.ladder)
        loose.limits = stage.limits
        return Otherwise(right, loose)

    return make


def by_day(rows: Rows, stage: DensityStage, _source: BitSource) -> Rows:
    """Gives every day people of its own."""
    periods = stage.universe.periods
    day = rows["bin"] // periods.parts
    return {**rows, "person": rows["person"] * len(periods.days) + day}


def by_bin(rows: Rows, stage: DensityStage, _source: BitSource) -> Rows:
    """Gives every bin people of its own."""
    return {**rows, "person": rows["person"] * stage.universe.bins + rows["bin"]}


def by_site(rows: Rows, stage: DensityStage, _source: BitSource) -> Rows:
    """Gives every site people of its own."""
    return {**rows, "person": rows["person"] * stage.universe.site_count + rows["site"]}


def series_of_one_visit(query: Query, bound: Bound) -> Bound:
    """States the bound of a single visit for series, where l visits count."""
    if not isinstance(query.cells, ClusterSeries):
        return bound
    return Bound(cells=bound.cells, each=bound.each, total=bound.each)


def totals_like_series(query: Query, bound: Bound) -> Bound:
    """Bounds totals as series are bounded, as if no visits shared a cell."""
    if not isinstance(query.cells, ClusterTotals):
        return bound
    visits = bound.total // query.cells.quanta
    return Bound(cells=visits, each=query.cells.quanta, total=bound.total)


def every_circle(query: Query, values: IntArray) -> IntArray:
    """Puts a person into all circles up to their own."""
    assert isinstance(query.cells, SiteHistogram)  # noqa: S101  the only answer that is changed
    by_circle = values.reshape(query.cells.circles, -1)
    return by_circle[::-1].cumsum(axis=0)[::-1].ravel()


def subtraction(rows: Rows, stage: DensityStage, source: BitSource) -> Counter:
    """Shares sites as the paper does: one visit moves four cells by 3.5 in all."""

    def count(_counter: Counter, query: Query) -> ExactCounts:
        shared = rows["site"] % SITES == SHARED
        moved, others = (
            {name: column[some] for name, column in rows.items()} for some in (shared, ~shared)
        )
        moved["site"] = moved["site"] - SHARED
        parts, rest = (
            exact_values(stage.count(some, source), query).reshape(-1, CELLS, stage.universe.bins)
            for some in (moved, others)
        )
        # A visit at a shared site adds to the first cell, and the rest pay for it.
        parts[:, 1:] = -(5 * parts[:, :1] // 6)
        return sparse((parts + rest).ravel())

    return WrongAnswers(stage.count(rows, source), count, ClusterSeries)


def _shared_noise(
    along: int, query: Query | PartitionQuery, noisy: IntArray, exact: IntArray
) -> IntArray:
    if not isinstance(query.cells, ClusterSeries):
        return noisy
    noise = (noisy - exact).reshape(query.cells.clusters, -1)
    first = noise[:1] if along == 0 else noise[:, :1]
    return exact + np.broadcast_to(first, noise.shape).ravel()


SHARED_BY_CLUSTERS = partial(WrongNoise, partial(_shared_noise, 0))
"""Gives all clusters the same noise."""
SHARED_BY_BINS = partial(WrongNoise, partial(_shared_noise, 1))
"""Gives all bins the same noise."""


def _exact_people(query: Query | PartitionQuery, noisy: IntArray, exact: IntArray) -> IntArray:
    changed = noisy.copy()
    if isinstance(query.cells, SiteHistogram):
        changed[-1] += exact.sum() - noisy.sum()
    return changed


EXACT_PEOPLE = partial(WrongNoise, _exact_people)
"""Normalises the histogram to the exact number of people."""


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
        return replace(answer, values=self.exact_values(query) + noise)


class _WrongRate(Meddler):
    """Cuts series at another rate than it states."""

    def cuts(self, query: CutQuery, spend: Loss) -> Measured:
        """Returns cuts chosen at the wrong rate."""
        counter, budget, source = self._parts
        bound = counter.bound(query.base)
        event = cutting_event(query.name, query.cells.size, spend, bound)
        budget.charge(event)
        rate = event.rate * self._factor(bound)
        exact = self.exact_values(query.base)
        chosen = [
            query.kept(exponential_choice(source, scores, rate)) for scores in query.scores(exact)
        ]
        values = np.array(chosen, dtype=np.int64)
        return Measured(query=query, values=values, variance=Fraction(0), event=event)

    @staticmethod
    def _factor(_bound: Bound) -> Fraction:
        return Fraction(2)


class TwiceTheRate(_WrongRate):
    """Cuts series at twice the rate: four times the rho."""


class PrintedExponent(_WrongRate):
    """Cuts series with the paper's exponent: as if a person moved a single score by one visit."""

    @staticmethod
    def _factor(bound: Bound) -> Fraction:
        return Fraction(spread_of_cuts(bound), bound.each)


class NosySeries(DensitySeries):
    """A density whose clusters are made from exact totals."""

    def measure(self, curator: Curator, geography: DensityUniverse) -> Measurements:
        """Asks for totals, and makes clusters of the exact ones."""
        measured = [
            curator.counts(query, spend) for query, spend in self.before_clusters(geography)
        ]
        exact = [exactly(curator, answer) for answer in measured]
        cells = self.series(geography, self._clusters(exact, geography))
        query = Query(name=cells.name, cells=cells)
        return [*measured, curator.counts(query, self.spends.series)]


class NosyLimits(DensityPeople):
    """A density whose limits are chosen from exact people by their visits."""

    def measure(self, curator: Curator, geography: DensityUniverse) -> Measurements:
        """Asks how many visits people have, and goes on with limits for the exact ones."""
        (question, spend), *_ = self.series_of(geography).before_clusters(geography)
        first = curator.counts(question, spend)
        series = self.settled((exactly(curator, first),)).series_of(geography)
        _, *others = series.before_clusters(geography)
        return series.measured_after((first,), others, curator, geography)


class NosyScale(DensitySeries):
    """A density that is scaled to the exact number of visits."""

    def measure(self, curator: Curator, geography: DensityUniverse) -> Measurements:
        """Asks what a density asks, and takes the noise off the total."""
        return [
            exactly(curator, answer) if isinstance(answer.query.cells, VisitTotal) else answer
            for answer in super().measure(curator, geography)
        ]


def four_times_the_series(mechanism: DensitySeries) -> DensitySeries:
    """Spends four times what is left for the series, and says so."""
    series = loss_of(mechanism.spends.series.measure, 4 * mechanism.spends.series.amount)
    return replace(mechanism, spends=replace(mechanism.spends, series=series))


def _half_the_noise(kind: type[VisitCells]) -> Product:
    return Product(curator=partial(HalfTheNoise, kind))


MUTANTS = (
    mutant(
        "sensitivity 1 instead of the root of l",
        Product(counter=wrong_bound(series_of_one_visit)),
        questions.NINE_VISITS,
        questions.SHIFT_OF_NINE,
    ),
    mutant(
        "the paper's subtraction in the cover",
        Product(counter=subtraction),
        questions.SHARED_SITE,
        whole.ONE_VISIT_IS_ONE,
    ),
    mutant(
        "several visits in one period",
        Product(counter=wrong_input(rows=by_site)),
        questions.CROWDED_BIN,
    ),
    mutant(
        "no contribution limit", Product(counter=without_limit("max_visits")), questions.RESTLESS
    ),
    mutant(
        "a total that is not cut off",
        Product(counter=without_limit("max_visits_in_total")),
        questions.CUT_OFF_TOTAL,
    ),
    mutant(
        "visits left out that are not cut off",
        Product(counter=without_limit("max_visits_in_total")),
        cuts.LEFT_OUT_VISITS,
    ),
    mutant(
        "limits chosen from exact people",
        Product(curator=Meddler, mechanism=remade(NosyLimits)),
        cuts.CHOSEN_LIMITS,
    ),
    mutant(
        "a histogram of all visits",
        Product(counter=wrong_input(rows=by_bin, only=SiteHistogram)),
        questions.ONE_PERSON_AT_ONE_SITE,
    ),
    mutant(
        "a person whole at every site",
        Product(counter=wrong_input(rows=by_site, only=SiteHistogram)),
        questions.ONE_PERSON_AT_MANY_SITES,
    ),
    mutant(
        "a person in every circle up to their own",
        Product(counter=wrong_values(every_circle, only=SiteHistogram)),
        questions.ONE_CIRCLE,
    ),
    mutant(
        "a class of activity for every period",
        Product(counter=wrong_input(rows=by_bin, only=ActivityHistogram)),
        questions.ONE_CLASS,
    ),
    mutant(
        "the same noise for every cluster",
        Product(curator=SHARED_BY_CLUSTERS),
        questions.CELL_LESS_ANOTHER,
        questions.FRESH_CELLS,
    ),
    mutant(
        "the same noise for every period",
        Product(curator=SHARED_BY_BINS),
        questions.BIN_LESS_ANOTHER,
        questions.FRESH_BINS,
    ),
    mutant(
        "sites and cells taken from the data",
        Product(curator=SEEN_ONLY),
        questions.NINE_VISITS,
        questions.ONE_PERSON_AT_ONE_SITE,
    ),
    mutant("the exact number of people", Product(curator=EXACT_PEOPLE), questions.ONE_MORE_PERSON),
    mutant(
        "clusters made from exact totals",
        Product(curator=Meddler, mechanism=remade(NosySeries)),
        whole.NEXT_CLUSTERS,
    ),
    mutant("cuts with the printed exponent", Product(curator=PrintedExponent), cuts.FOUR_CELLS),
    mutant(
        "the whole budget for every question",
        Product(mechanism=unsplit, budget=blind),
        whole.PEOPLE_AND_SERIES,
        whole.EXACT_DIVERGENCE,
    ),
    mutant(
        "half the noise in the histogram", _half_the_noise(SiteHistogram), whole.NOISE_OF_QUESTIONS
    ),
    mutant(
        "half the noise in the activity",
        _half_the_noise(ActivityHistogram),
        whole.NOISE_OF_QUESTIONS,
    ),
    mutant(
        "half the noise in the total",
        _half_the_noise(VisitTotal),
        whole.ALL_QUESTIONS,
        whole.NOISE_OF_QUESTIONS,
    ),
    mutant(
        "half the noise in the clusters", _half_the_noise(ClusterTotals), whole.NOISE_OF_QUESTIONS
    ),
    mutant(
        "half the noise in the series",
        _half_the_noise(ClusterSeries),
        whole.ALL_QUESTIONS,
        whole.NOISE_OF_QUESTIONS,
    ),
    mutant(
        "four times the rho for the series",
        Product(mechanism=four_times_the_series, budget=blind),
        whole.ALL_QUESTIONS,
        whole.EXACT_DIVERGENCE,
        whole.NOISE_OF_QUESTIONS,
    ),
    mutant("cuts at twice the rate", Product(curator=TwiceTheRate), cuts.FOUR_CELLS),
    mutant(
        "a contribution limit that holds day by day",
        Product(counter=wrong_input(rows=by_day)),
        questions.MANY_DAYS,
    ),
    mutant(
        "totals of cells bounded like series",
        Product(counter=wrong_bound(totals_like_series)),
        questions.CELL_TOTALS,
        whole.NOISE_OF_QUESTIONS,
    ),
    mutant(
        "a scale from the exact number of visits",
        Product(curator=Meddler, mechanism=remade(NosyScale)),
        whole.NOISE_OF_QUESTIONS,
    ),
    mutant(
        "each batch of rows bounded by itself",
        Product(engine=VisitsBatchByBatch),
        whole.MANY_BATCHES,
    ),
    mutant("each week bounded by itself", Product(engine=WeekByWeek), whole.MANY_WEEKS),
)

AUDITS: tuple[Audit[Product], ...] = (*questions.AUDITS, *cuts.AUDITS, *whole.AUDITS)
SUITE = Suite(real=Product(), audits=AUDITS, mutants=MUTANTS)
