"""The audits of the OD family, and the proof that they can fail."""

from functools import partial

from hushway.audit.files import blind
from hushway.audit.mutant_curators import (
    ExactTotal,
    FeatureSensitivityOfOne,
    OccupiedCellsOnly,
    Peeping,
    PrunedExactly,
    RedrawnCells,
    SeenCellsOnly,
    SeenElementsOnly,
    ThresholdForEmptyCells,
    UnconditionalCells,
)
from hushway.audit.suite import Audit, Mutant, Suite
from hushway.families.od.audit import dense as od_dense
from hushway.families.od.audit import feature_laws as od_feature_laws
from hushway.families.od.audit import files as od_files
from hushway.families.od.audit import laws as od_laws
from hushway.families.od.audit import lazy as od_lazy
from hushway.families.od.audit import measured as od_measured
from hushway.families.od.audit import published as od_published
from hushway.families.od.audit import rounding as od_rounding
from hushway.families.od.audit import sparse as od_sparse
from hushway.families.od.audit.fitted_looks import (
    BY_CORNER,
    FLAT,
    FORMS,
    LAZY,
    LEARNED,
    TREE,
)
from hushway.families.od.audit.mutant_parts import (
    LowBitsOnly,
    NoCap,
    SensitivityOfOne,
    SharedNoise,
    ThresholdBeforeNoise,
    honest_to_a_fault,
    no_split,
    nosy_learner,
    trips_file_by_file,
    unsplit,
    wholly_nosy,
)
from hushway.families.od.audit.product import REAL, Product, count_files

PLAIN: tuple[Audit[Product], ...] = (
    od_dense.one_trip,
    od_dense.many_trips,
    od_dense.many_trips_spread,
    od_dense.twins,
    od_dense.one_more_trip,
    od_dense.stray_trips,
    od_dense.measured_twice,
    od_dense.total_and_part,
    od_laws.fresh_noise,
    od_laws.own_noise,
    od_laws.whole_numbers,
    od_sparse.unvisited_cell,
    od_sparse.at_the_threshold,
    od_sparse.busy_neighbours,
    od_sparse.sparse_or_dense,
    od_files.many_trips,
)
FITTED: tuple[Audit[Product], ...] = (
    *(partial(od_measured.one_trip, form) for form in FORMS),
    *(partial(od_measured.many_trips, form) for form in (FLAT, TREE, LEARNED)),
    partial(od_measured.many_trips_spread, FLAT),
    *(partial(od_measured.one_trip_gaussian, form) for form in (FLAT, LAZY, LEARNED)),
    od_measured.gaussian_noise,
    od_feature_laws.fresh_noise,
    od_feature_laws.one_less_another,
    od_feature_laws.whole_numbers,
    od_lazy.two_looks,
    *(partial(od_published.one_trip, form) for form in BY_CORNER),
    *(partial(od_published.many_trips, form) for form in (FLAT, TREE)),
    *(partial(od_published.same_table, form) for form in FORMS),
    od_published.one_by_one,
    od_published.lazy_or_dense,
    od_rounding.measured_total,
    od_rounding.whole_total,
    od_rounding.same_table,
)
PLAIN_MUTANTS: tuple[Mutant[Product], ...] = (
    Mutant(
        name="sensitivity 1 instead of m",
        product=Product(counter=SensitivityOfOne),
        audits=(od_dense.many_trips,),
    ),
    Mutant(
        name="shared noise",
        product=Product(source=SharedNoise),
        audits=(od_dense.total_and_part, od_laws.fresh_noise),
    ),
    Mutant(
        name="missing budget split",
        product=Product(split=no_split, budget=blind),
        audits=(od_dense.measured_twice, od_laws.fresh_noise),
    ),
    Mutant(
        name="universe taken from the data",
        product=Product(curator=SeenCellsOnly),
        audits=(od_sparse.unvisited_cell,),
    ),
    Mutant(
        name="threshold before noise",
        product=Product(counter=ThresholdBeforeNoise),
        audits=(od_sparse.at_the_threshold,),
    ),
    Mutant(
        name="no cap",
        product=Product(counter=NoCap),
        audits=(od_dense.many_trips,),
    ),
    Mutant(
        name="people told apart by the low bits of their numbers",
        product=Product(counter=LowBitsOnly),
        audits=(od_dense.twins,),
    ),
    Mutant(
        name="a threshold for the cells that are empty",
        product=Product(curator=ThresholdForEmptyCells),
        audits=(od_sparse.busy_neighbours,),
    ),
    Mutant(
        name="each file bounded by itself",
        product=Product(files=partial(count_files, engine=trips_file_by_file)),
        audits=(od_files.many_trips,),
    ),
)
FITTED_MUTANTS: tuple[Mutant[Product], ...] = (
    Mutant(
        name="sensitivity 1 instead of m on features",
        product=Product(curator=FeatureSensitivityOfOne),
        audits=(partial(od_measured.many_trips, FLAT), partial(od_measured.many_trips, TREE)),
    ),
    Mutant(
        name="the whole budget for every feature",
        product=Product(mechanism=unsplit, budget=blind),
        audits=(
            partial(od_measured.one_trip, FLAT),
            partial(od_measured.one_trip, TREE),
            partial(od_measured.one_trip_gaussian, FLAT),
            od_measured.gaussian_noise,
            od_feature_laws.fresh_noise,
        ),
    ),
    Mutant(
        name="the same noise for every feature",
        product=Product(source=SharedNoise),
        audits=(od_feature_laws.one_less_another, od_feature_laws.fresh_noise),
    ),
    Mutant(
        name="elements taken from the data",
        product=Product(curator=SeenElementsOnly),
        audits=(partial(od_measured.one_trip, FLAT), partial(od_published.one_trip, FLAT)),
    ),
    Mutant(
        name="pruning by exact counts",
        product=Product(curator=PrunedExactly),
        audits=(partial(od_published.one_trip, TREE),),
    ),
    Mutant(
        name="lazy cells taken from the data",
        product=Product(curator=OccupiedCellsOnly),
        audits=(partial(od_published.one_trip, LAZY), od_published.lazy_or_dense),
    ),
    Mutant(
        name="lazy cells drawn anew at every look",
        product=Product(curator=RedrawnCells),
        audits=(od_lazy.two_looks,),
    ),
    Mutant(
        name="lazy cells drawn as if nobody had looked",
        product=Product(curator=UnconditionalCells),
        audits=(od_lazy.two_looks,),
    ),
    Mutant(
        name="no noise on the total",
        product=Product(curator=ExactTotal),
        audits=(od_rounding.measured_total,),
    ),
    Mutant(
        name="counts made whole to the exact total",
        product=Product(curator=Peeping, mechanism=wholly_nosy),
        audits=(od_rounding.whole_total, od_rounding.same_table),
    ),
    Mutant(
        name="learning from exact counts",
        product=Product(curator=Peeping, mechanism=nosy_learner),
        audits=(partial(od_published.same_table, LEARNED),),
    ),
    Mutant(
        name="errors that are the true ones",
        product=Product(curator=Peeping, mechanism=honest_to_a_fault),
        audits=(partial(od_published.same_table, LEARNED),),
    ),
)

SUITE = Suite(real=REAL, audits=PLAIN + FITTED, mutants=PLAIN_MUTANTS + FITTED_MUTANTS)
