"""The audits of the density family, and the proof that they can fail."""

from dataclasses import replace
from functools import partial

import numpy as np

from hushway.audit.mutant_counters import Wrapped
from hushway.audit.mutant_curators import Peeping, SeenOnly, dense
from hushway.audit.product import blind, remade
from hushway.audit.suite import Audit, Mutant, Suite
from hushway.families.density.audit import cuts as density_cuts
from hushway.families.density.audit import measured as density_measured
from hushway.families.density.audit import whole as density_whole
from hushway.families.density.audit.mutant_curators import (
    ExactPeople,
    HalfTheNoise,
    NosyScale,
    NosySeries,
    PrintedExponent,
    SharedByBins,
    SharedByClusters,
    TwiceTheRate,
    four_times_the_series,
    unsplit,
)
from hushway.families.density.audit.product import (
    CELLS,
    REAL_DENSITY,
    SHARED,
    SITES,
    DensityProduct,
    StayRows,
    VisitTerms,
    visits_in_memory,
    visits_of_files,
)
from hushway.families.density.public.visits import (
    ClusterSeries,
    ClusterTotals,
    SiteHistogram,
    VisitCells,
    VisitTotal,
)
from hushway.families.density.rows.counts import BoundedVisits
from hushway.families.density.rows.duckdb import DuckDBVisits
from hushway.families.density.rows.grouping import VisitRows
from hushway.privacy.bound import Bound
from hushway.privacy.query import Counter, ExactCounts, Query
from hushway.privacy.randomness import BitSource


class VisitsBatchByBatch(DuckDBVisits):
    """A counter of visits that bounds people in each batch of rows by itself."""

    def _bounded(self, batches: list[VisitRows]) -> BoundedVisits:
        parts = [super(VisitsBatchByBatch, self)._bounded([batch]) for batch in batches]
        nobody = super()._bounded([])
        return BoundedVisits(
            series=sum((part.series for part in parts), start=nobody.series),
            histogram=sum((part.histogram for part in parts), start=nobody.histogram),
            total=sum(part.total for part in parts),
        )


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
        return replace(self._terms, limits=replace(self._terms.limits, most_counted=_NO_LIMIT))


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


_AUDITS: tuple[Audit[DensityProduct], ...] = (
    density_whole.one_visit_is_one,
    density_measured.nine_visits,
    density_measured.shift_of_nine,
    density_measured.restless,
    density_measured.many_days,
    density_measured.crowded_bin,
    density_measured.shared_site,
    density_measured.cell_less_another,
    density_measured.bin_less_another,
    density_measured.fresh_cells,
    density_measured.fresh_bins,
    density_measured.naive_laplace,
    density_measured.one_drawn_visit,
    density_measured.one_more_person,
    density_measured.cut_off_total,
    density_measured.cell_totals,
    density_cuts.four_cells,
    density_whole.next_clusters,
    density_whole.people_and_series,
    density_whole.all_questions,
    density_whole.exact_divergence,
    density_whole.noise_of_questions,
    density_whole.published_area,
    density_whole.published_clusters,
    density_whole.many_batches,
)


def _half_the_noise(kind: type[VisitCells]) -> DensityProduct:
    """Returns a product that pays one rho for one question and draws noise for four."""
    return DensityProduct(curator=partial(HalfTheNoise, kind))


_MUTANTS: tuple[Mutant[DensityProduct], ...] = (
    Mutant(
        name="sensitivity 1 instead of the root of l",
        product=DensityProduct(counter=SensitivityOfOne),
        audits=(density_measured.nine_visits, density_measured.shift_of_nine),
    ),
    Mutant(
        name="the paper's subtraction in the cover",
        product=DensityProduct(counter=Subtraction),
        audits=(density_measured.shared_site, density_whole.one_visit_is_one),
    ),
    Mutant(
        name="several visits in one bin",
        product=DensityProduct(counter=ManyInABin),
        audits=(density_measured.crowded_bin,),
    ),
    Mutant(
        name="no cap",
        product=DensityProduct(counter=NoCap),
        audits=(density_measured.restless,),
    ),
    Mutant(
        name="a total that is not cut off",
        product=DensityProduct(counter=NoCutOff),
        audits=(density_measured.cut_off_total,),
    ),
    Mutant(
        name="a histogram of all visits",
        product=DensityProduct(counter=WholeHistogram),
        audits=(density_measured.one_drawn_visit,),
    ),
    Mutant(
        name="the same noise for every cluster",
        product=DensityProduct(curator=SharedByClusters),
        audits=(density_measured.cell_less_another, density_measured.fresh_cells),
    ),
    Mutant(
        name="the same noise for every bin",
        product=DensityProduct(curator=SharedByBins),
        audits=(density_measured.bin_less_another, density_measured.fresh_bins),
    ),
    Mutant(
        name="sites and cells taken from the data",
        product=DensityProduct(curator=SeenOnly),
        audits=(density_measured.nine_visits, density_measured.one_drawn_visit),
    ),
    Mutant(
        name="the exact number of people",
        product=DensityProduct(curator=ExactPeople),
        audits=(density_measured.one_more_person,),
    ),
    Mutant(
        name="clusters made from exact totals",
        product=DensityProduct(curator=Peeping, mechanism=partial(remade, NosySeries)),
        audits=(density_whole.next_clusters,),
    ),
    Mutant(
        name="cuts with the printed exponent",
        product=DensityProduct(curator=PrintedExponent),
        audits=(density_cuts.four_cells,),
    ),
    Mutant(
        name="the whole budget for every question",
        product=DensityProduct(mechanism=unsplit, budget=blind),
        audits=(density_whole.people_and_series, density_whole.exact_divergence),
    ),
    Mutant(
        name="half the noise in the histogram",
        product=_half_the_noise(SiteHistogram),
        audits=(density_whole.noise_of_questions,),
    ),
    Mutant(
        name="half the noise in the total",
        product=_half_the_noise(VisitTotal),
        audits=(density_whole.all_questions, density_whole.noise_of_questions),
    ),
    Mutant(
        name="half the noise in the clusters",
        product=_half_the_noise(ClusterTotals),
        audits=(density_whole.noise_of_questions,),
    ),
    Mutant(
        name="half the noise in the series",
        product=_half_the_noise(ClusterSeries),
        audits=(density_whole.all_questions, density_whole.noise_of_questions),
    ),
    Mutant(
        name="four times the rho for the series",
        product=DensityProduct(mechanism=four_times_the_series, budget=blind),
        audits=(
            density_whole.all_questions,
            density_whole.exact_divergence,
            density_whole.noise_of_questions,
        ),
    ),
    Mutant(
        name="cuts at twice the rate",
        product=DensityProduct(curator=TwiceTheRate),
        audits=(density_cuts.four_cells,),
    ),
    Mutant(
        name="a cap that holds day by day",
        product=DensityProduct(counter=DayByDay),
        audits=(density_measured.many_days,),
    ),
    Mutant(
        name="totals of cells bounded like series",
        product=DensityProduct(counter=TotalsLikeSeries),
        audits=(density_measured.cell_totals, density_whole.noise_of_questions),
    ),
    Mutant(
        name="a scale from the exact number of visits",
        product=DensityProduct(curator=Peeping, mechanism=partial(remade, NosyScale)),
        audits=(density_whole.noise_of_questions,),
    ),
    Mutant(
        name="each batch of rows bounded by itself",
        product=DensityProduct(files=partial(visits_of_files, engine=VisitsBatchByBatch)),
        audits=(density_whole.many_batches,),
    ),
)

SUITE = Suite(real=REAL_DENSITY, audits=_AUDITS, mutants=_MUTANTS)
