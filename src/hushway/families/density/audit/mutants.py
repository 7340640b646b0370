"""Planted mistakes of densities. Each is the product with one part exchanged."""

from functools import partial

from hushway.audit.hunt import Mutant
from hushway.audit.purse import BlindPurse
from hushway.families.density.audit import cover as density_cover
from hushway.families.density.audit import cuts as density_cuts
from hushway.families.density.audit import files as density_files
from hushway.families.density.audit import measured as density_measured
from hushway.families.density.audit import whole as density_whole
from hushway.families.density.audit.mutant_counters import (
    DayByDay,
    ManyInABin,
    NoCap,
    NoCutOff,
    SensitivityOfOne,
    Subtraction,
    TotalsLikeSeries,
    WholeHistogram,
)
from hushway.families.density.audit.mutant_curators import (
    ExactPeople,
    HalfTheNoise,
    Peeping,
    PrintedExponent,
    SeenOnly,
    SharedByBins,
    SharedByClusters,
    TwiceTheRate,
    four_times_the_series,
    nosy,
    nosy_scale,
    unsplit,
)
from hushway.families.density.audit.mutant_readers import VisitsBatchByBatch
from hushway.families.density.audit.product import DensityProduct, visits_of_files
from hushway.families.density.public.visits import (
    ClusterSeries,
    ClusterTotals,
    SiteHistogram,
    VisitCells,
    VisitTotal,
)
from hushway.privacy.loss import Loss
from hushway.privacy.unit import Unit


def _blind(_unit: Unit, _spend: Loss) -> BlindPurse:
    """Returns a purse that agrees to everything, whatever it was filled with."""
    return BlindPurse()


def _half_the_noise(kind: type[VisitCells]) -> DensityProduct:
    """Returns a product that pays one rho for one question and draws noise for four."""
    return DensityProduct(curator=partial(HalfTheNoise, kind))


DENSITY_MUTANTS: tuple[Mutant[DensityProduct], ...] = (
    Mutant(
        name="sensitivity 1 instead of the root of l",
        product=DensityProduct(counter=SensitivityOfOne),
        audits=(density_measured.nine_visits, density_measured.shift_of_nine),
    ),
    Mutant(
        name="the paper's subtraction in the cover",
        product=DensityProduct(counter=Subtraction),
        audits=(density_measured.shared_site, density_cover.one_visit_is_one),
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
        product=DensityProduct(curator=Peeping, mechanism=nosy),
        audits=(density_whole.next_clusters,),
    ),
    Mutant(
        name="cuts with the printed exponent",
        product=DensityProduct(curator=PrintedExponent),
        audits=(density_cuts.four_cells,),
    ),
    Mutant(
        name="the whole budget for every question",
        product=DensityProduct(mechanism=unsplit, budget=_blind),
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
        product=DensityProduct(mechanism=four_times_the_series, budget=_blind),
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
        product=DensityProduct(curator=Peeping, mechanism=nosy_scale),
        audits=(density_whole.noise_of_questions,),
    ),
    Mutant(
        name="each batch of rows bounded by itself",
        product=DensityProduct(files=partial(visits_of_files, engine=VisitsBatchByBatch)),
        audits=(density_files.many_batches,),
    ),
)
