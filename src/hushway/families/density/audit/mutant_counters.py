"""Wrong counters of visits that mutants are made of."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import cached_property

import numpy as np

from hushway.audit.mutant_counters import Wrapped
from hushway.audit.mutant_curators import dense
from hushway.families.density.audit.product import (
    CELLS,
    SHARED,
    SITES,
    StayRows,
    VisitTerms,
    visits_in_memory,
)
from hushway.families.density.public.visits import (
    ActivityHistogram,
    ClusterSeries,
    ClusterTotals,
    SiteHistogram,
)
from hushway.families.density.rows.counter import EngineVisits, VisitPart
from hushway.families.density.rows.counts import BoundedVisits
from hushway.families.density.rows.grouping import VisitRows
from hushway.privacy.bound import Bound
from hushway.privacy.query import Counter, ExactCounts, Query
from hushway.privacy.randomness import BitSource


class VisitsBatchByBatch(EngineVisits):
    """A counter of visits that bounds people in each batch of rows by itself."""

    @property
    def _part(self) -> VisitPart:
        return _BatchByBatch(universe=self.universe, limits=self.limits, key=self.key)


class _BatchByBatch(VisitPart):
    def bounded(self, batches: list[VisitRows], threads: int) -> BoundedVisits:
        parts = [super(_BatchByBatch, self).bounded([batch], threads) for batch in batches]
        nobody = super().bounded([], threads)
        return BoundedVisits(
            series=sum((part.series for part in parts), start=nobody.series),
            circles=sum((part.circles for part in parts), start=nobody.circles),
            activity=sum((part.activity for part in parts), start=nobody.activity),
            total=sum(part.total for part in parts),
        )


class WeekByWeek(EngineVisits):
    """A counter of a typical week that bounds people in each week by itself."""

    @cached_property
    def found(self) -> BoundedVisits:  # type: ignore[override]  # worked out once
        """The sums over weeks of what is bounded in each."""
        days = self.universe.periods.days
        parts = [self._of_week(days[i], days[min(i + 6, len(days) - 1)]) for i in _mondays(days)]
        return BoundedVisits(
            series=np.sum([part.series for part in parts], axis=0),
            circles=np.sum([part.circles for part in parts], axis=0),
            activity=np.sum([part.activity for part in parts], axis=0),
            total=sum(part.total for part in parts),
        )

    def _of_week(self, first: date, last: date) -> BoundedVisits:
        periods = replace(self.universe.periods, first_day=first, last_day=last)
        week = EngineVisits(
            source=self.source,
            universe=replace(self.universe, periods=periods),
            limits=self.limits,
            key=self.key,
            settings=self.settings,
        )
        return week.found


def _mondays(days: Sequence[date]) -> range:
    """Returns where weeks begin."""
    return range(0, len(days), 7)


_NO_LIMIT = 10**6


class _Wrong(Wrapped):
    """The real counter, for a mutant to get one thing wrong about."""

    def __init__(self, rows: StayRows, terms: VisitTerms, source: BitSource) -> None:
        super().__init__(visits_in_memory(rows, terms, source))
        self._rows, self._terms, self._source = rows, terms, source

    def _again(self, rows: StayRows) -> Counter:
        """Returns the real counter over other rows."""
        return visits_in_memory(rows, self._terms, self._source)


class SensitivityOfOne(_Wrong):
    """A counter that keeps l visits and says that a person has only one."""

    def bound(self, query: Query) -> Bound:
        """Returns the bound of a single visit."""
        bound = super().bound(query)
        if not isinstance(query.cells, ClusterSeries):
            return bound
        return Bound(cells=bound.cells, each=bound.each, total=bound.each)


class TotalsLikeSeries(_Wrong):
    """A counter that bounds totals as it bounds series, as if no visits shared a cell."""

    def bound(self, query: Query) -> Bound:
        """Returns a bound with as many visits as count, each in a cell of its own."""
        bound = super().bound(query)
        if not isinstance(query.cells, ClusterTotals):
            return bound
        visits = bound.total // query.cells.quanta
        return Bound(cells=visits, each=query.cells.quanta, total=bound.total)


class _Otherwise(_Wrong):
    """The real counter, with answers that come from a wrong one."""

    def __init__(self, rows: StayRows, terms: VisitTerms, source: BitSource) -> None:
        super().__init__(rows, terms, source)
        self._wrong = visits_in_memory(self._other_rows(), self._other_terms(), source)

    def count(self, query: Query) -> ExactCounts:
        """Returns the counts of the wrong counter."""
        return self._wrong.count(query)

    def _other_rows(self) -> StayRows:
        return self._rows

    def _other_terms(self) -> VisitTerms:
        return self._terms


class NoCap(_Otherwise):
    """A counter that says l visits and counts one of every bin."""

    def _other_terms(self) -> VisitTerms:
        return replace(self._terms, limits=replace(self._terms.limits, max_visits=_NO_LIMIT))


class DayByDay(_Otherwise):
    """A counter that says l visits and counts as many of every day, as if days had people."""

    def _other_rows(self) -> StayRows:
        rows, periods = self._rows, self._terms.universe.periods
        day = rows.bin // periods.parts
        return replace(rows, person=rows.person * len(periods.days) + day)


class NoCutOff(_Otherwise):
    """A counter that says B visits in the total and counts all of them."""

    def _other_terms(self) -> VisitTerms:
        return replace(
            self._terms, limits=replace(self._terms.limits, max_visits_in_total=_NO_LIMIT)
        )


class ManyInABin(_Otherwise):
    """A counter that counts a person at every site of a bin, as if sites had their own people."""

    def _other_rows(self) -> StayRows:
        rows, sites = self._rows, self._terms.universe.site_count
        return replace(rows, person=rows.person * sites + rows.site)


class WholeHistogram(_Otherwise):
    """A counter whose histogram has a visit of each bin, as if bins had their own people."""

    def count(self, query: Query) -> ExactCounts:
        """Returns counts; those of the histogram are wrong."""
        histogram = isinstance(query.cells, SiteHistogram)
        return super().count(query) if histogram else self._real.count(query)

    def _other_rows(self) -> StayRows:
        rows, bins = self._rows, self._terms.universe.bins
        return replace(rows, person=rows.person * bins + rows.bin)


class WholeAtEverySite(_Otherwise):
    """A counter that has a person whole at every site, as if sites had their own people."""

    def count(self, query: Query) -> ExactCounts:
        """Returns counts; those of the histogram are wrong."""
        histogram = isinstance(query.cells, SiteHistogram)
        return super().count(query) if histogram else self._real.count(query)

    def _other_rows(self) -> StayRows:
        rows, sites = self._rows, self._terms.universe.site_count
        return replace(rows, person=rows.person * sites + rows.site)


class ClassesByBin(_Otherwise):
    """A counter whose classes of activity have a person for each bin, as if bins had people."""

    def count(self, query: Query) -> ExactCounts:
        """Returns counts; those of classes are wrong."""
        classes = isinstance(query.cells, ActivityHistogram)
        return super().count(query) if classes else self._real.count(query)

    def _other_rows(self) -> StayRows:
        rows, bins = self._rows, self._terms.universe.bins
        return replace(rows, person=rows.person * bins + rows.bin)


class EveryCircle(_Wrong):
    """A counter that has a person in all circles up to their own."""

    def count(self, query: Query) -> ExactCounts:
        """Returns counts; those of a histogram are sums over the busier circles."""
        if not isinstance(query.cells, SiteHistogram):
            return super().count(query)
        people = dense(super().count(query), query).reshape(query.cells.circles, -1)
        values = people[::-1].cumsum(axis=0)[::-1].ravel()
        cells = np.flatnonzero(values)
        return ExactCounts(cells=cells, values=values[cells])


class Subtraction(_Wrong):
    """A counter that shares sites as the paper does: one visit moves four cells by 3.5 in all."""

    def count(self, query: Query) -> ExactCounts:
        """Returns counts; a visit at a shared site adds to the first cell, the rest pay for it."""
        if not isinstance(query.cells, ClusterSeries):
            return super().count(query)
        rows = self._rows
        shared = rows.site % SITES == SHARED
        moved = StayRows(
            person=rows.person[shared], site=rows.site[shared] - SHARED, bin=rows.bin[shared]
        )
        others = StayRows(
            person=rows.person[~shared], site=rows.site[~shared], bin=rows.bin[~shared]
        )
        shape = (-1, CELLS, query.cells.universe.bins)
        parts = dense(self._again(moved).count(query), query).reshape(shape)
        parts[:, 1:] = -(5 * parts[:, :1] // 6)
        values = parts.ravel() + dense(self._again(others).count(query), query)
        cells = np.flatnonzero(values)
        return ExactCounts(cells=cells, values=values[cells])
