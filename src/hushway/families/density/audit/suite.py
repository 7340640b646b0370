"""The audits of the density family, and the proof that they can fail."""

from functools import partial

from hushway.audit.mutant_curators import Peeping, SeenOnly
from hushway.audit.product import blind, remade
from hushway.audit.suite import Audit, Mutant, Suite, mutant
from hushway.families.density.audit import cuts, measured, whole
from hushway.families.density.audit.mutant_counters import (
    ClassesByBin,
    DayByDay,
    EveryCircle,
    ManyInABin,
    NoCap,
    NoCutOff,
    SensitivityOfOne,
    Subtraction,
    TotalsLikeSeries,
    VisitsBatchByBatch,
    WeekByWeek,
    WholeAtEverySite,
    WholeHistogram,
)
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
from hushway.families.density.audit.product import REAL_DENSITY, DensityProduct, visits_of_files
from hushway.families.density.public.visits import (
    ActivityHistogram,
    ClusterSeries,
    ClusterTotals,
    SiteHistogram,
    VisitCells,
    VisitTotal,
)

_AUDITS: tuple[Audit[DensityProduct], ...] = (
    whole.one_visit_is_one,
    measured.nine_visits,
    measured.shift_of_nine,
    measured.restless,
    measured.many_days,
    measured.crowded_bin,
    measured.shared_site,
    measured.cell_less_another,
    measured.bin_less_another,
    measured.fresh_cells,
    measured.fresh_bins,
    measured.naive_laplace,
    measured.one_person_at_one_site,
    measured.one_person_at_many_sites,
    measured.one_more_person,
    measured.one_circle,
    measured.one_class,
    measured.cut_off_total,
    measured.cell_totals,
    cuts.four_cells,
    whole.next_clusters,
    whole.people_and_series,
    whole.all_questions,
    whole.exact_divergence,
    whole.noise_of_questions,
    whole.published_area,
    whole.published_clusters,
    whole.many_batches,
    whole.many_weeks,
)


def _half_the_noise(kind: type[VisitCells]) -> DensityProduct:
    """Returns a product that spends one rho for one question and draws noise for four."""
    return DensityProduct(curator=partial(HalfTheNoise, kind))


_MUTANTS: tuple[Mutant[DensityProduct], ...] = (
    mutant(
        "sensitivity 1 instead of the root of l",
        DensityProduct(counter=SensitivityOfOne),
        measured.nine_visits,
        measured.shift_of_nine,
    ),
    mutant(
        "the paper's subtraction in the cover",
        DensityProduct(counter=Subtraction),
        measured.shared_site,
        whole.one_visit_is_one,
    ),
    mutant(
        "several visits in one period", DensityProduct(counter=ManyInABin), measured.crowded_bin
    ),
    mutant("no contribution limit", DensityProduct(counter=NoCap), measured.restless),
    mutant("a total that is not cut off", DensityProduct(counter=NoCutOff), measured.cut_off_total),
    mutant(
        "a histogram of all visits",
        DensityProduct(counter=WholeHistogram),
        measured.one_person_at_one_site,
    ),
    mutant(
        "a person whole at every site",
        DensityProduct(counter=WholeAtEverySite),
        measured.one_person_at_many_sites,
    ),
    mutant(
        "a person in every circle up to their own",
        DensityProduct(counter=EveryCircle),
        measured.one_circle,
    ),
    mutant(
        "a class of activity for every period",
        DensityProduct(counter=ClassesByBin),
        measured.one_class,
    ),
    mutant(
        "the same noise for every cluster",
        DensityProduct(curator=SharedByClusters),
        measured.cell_less_another,
        measured.fresh_cells,
    ),
    mutant(
        "the same noise for every period",
        DensityProduct(curator=SharedByBins),
        measured.bin_less_another,
        measured.fresh_bins,
    ),
    mutant(
        "sites and cells taken from the data",
        DensityProduct(curator=SeenOnly),
        measured.nine_visits,
        measured.one_person_at_one_site,
    ),
    mutant(
        "the exact number of people", DensityProduct(curator=ExactPeople), measured.one_more_person
    ),
    mutant(
        "clusters made from exact totals",
        DensityProduct(curator=Peeping, mechanism=partial(remade, NosySeries)),
        whole.next_clusters,
    ),
    mutant(
        "cuts with the printed exponent", DensityProduct(curator=PrintedExponent), cuts.four_cells
    ),
    mutant(
        "the whole budget for every question",
        DensityProduct(mechanism=unsplit, budget=blind),
        whole.people_and_series,
        whole.exact_divergence,
    ),
    mutant(
        "half the noise in the histogram", _half_the_noise(SiteHistogram), whole.noise_of_questions
    ),
    mutant(
        "half the noise in the activity",
        _half_the_noise(ActivityHistogram),
        whole.noise_of_questions,
    ),
    mutant(
        "half the noise in the total",
        _half_the_noise(VisitTotal),
        whole.all_questions,
        whole.noise_of_questions,
    ),
    mutant(
        "half the noise in the clusters", _half_the_noise(ClusterTotals), whole.noise_of_questions
    ),
    mutant(
        "half the noise in the series",
        _half_the_noise(ClusterSeries),
        whole.all_questions,
        whole.noise_of_questions,
    ),
    mutant(
        "four times the rho for the series",
        DensityProduct(mechanism=four_times_the_series, budget=blind),
        whole.all_questions,
        whole.exact_divergence,
        whole.noise_of_questions,
    ),
    mutant("cuts at twice the rate", DensityProduct(curator=TwiceTheRate), cuts.four_cells),
    mutant(
        "a contribution limit that holds day by day",
        DensityProduct(counter=DayByDay),
        measured.many_days,
    ),
    mutant(
        "totals of cells bounded like series",
        DensityProduct(counter=TotalsLikeSeries),
        measured.cell_totals,
        whole.noise_of_questions,
    ),
    mutant(
        "a scale from the exact number of visits",
        DensityProduct(curator=Peeping, mechanism=partial(remade, NosyScale)),
        whole.noise_of_questions,
    ),
    mutant(
        "each batch of rows bounded by itself",
        DensityProduct(files=partial(visits_of_files, engine=VisitsBatchByBatch)),
        whole.many_batches,
    ),
    mutant(
        "each week bounded by itself",
        DensityProduct(files=partial(visits_of_files, engine=WeekByWeek)),
        whole.many_weeks,
    ),
)

SUITE = Suite(real=REAL_DENSITY, audits=_AUDITS, mutants=_MUTANTS)
