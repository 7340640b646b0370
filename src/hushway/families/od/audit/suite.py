"""The audits of the OD family, and the proof that they can fail."""

from functools import partial

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
from hushway.audit.product import blind
from hushway.audit.suite import Audit, Mutant, Suite
from hushway.families.od.audit import dense as od_dense
from hushway.families.od.audit import laws as od_laws
from hushway.families.od.audit import measured as od_measured
from hushway.families.od.audit import published as od_published
from hushway.families.od.audit import sparse as od_sparse
from hushway.families.od.audit.fitted_looks import FLAT, FORMS, LAZY, TREE
from hushway.families.od.audit.mutant_parts import (
    LowBitsOnly,
    NoCap,
    SensitivityOfOne,
    SharedNoise,
    ThresholdBeforeNoise,
    no_split,
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
    od_dense.many_trips_in_files,
)
FITTED: tuple[Audit[Product], ...] = (
    *(partial(od_measured.one_trip, form) for form in FORMS),
    *(partial(od_measured.many_trips, form) for form in (FLAT, TREE)),
    partial(od_measured.many_trips_spread, FLAT),
    *(partial(od_measured.one_trip_gaussian, form) for form in (FLAT, LAZY)),
    od_measured.gaussian_noise,
    od_laws.fresh_feature_noise,
    od_laws.one_less_another,
    od_laws.whole_features,
    od_measured.two_looks,
    *(partial(od_published.one_trip, form) for form in FORMS),
    *(partial(od_published.many_trips, form) for form in (FLAT, TREE)),
    *(partial(od_published.same_table, form) for form in FORMS),
    od_published.one_by_one,
    od_published.lazy_or_dense,
    od_published.measured_total,
    od_published.whole_total,
    od_published.same_whole_table,
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
        audits=(od_dense.many_trips_in_files,),
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
            od_laws.fresh_feature_noise,
        ),
    ),
    Mutant(
        name="the same noise for every feature",
        product=Product(source=SharedNoise),
        audits=(od_laws.one_less_another, od_laws.fresh_feature_noise),
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
        audits=(od_measured.two_looks,),
    ),
    Mutant(
        name="lazy cells drawn as if nobody had looked",
        product=Product(curator=UnconditionalCells),
        audits=(od_measured.two_looks,),
    ),
    Mutant(
        name="no noise on the total",
        product=Product(curator=ExactTotal),
        audits=(od_published.measured_total,),
    ),
    Mutant(
        name="counts made whole to the exact total",
        product=Product(curator=Peeping, mechanism=wholly_nosy),
        audits=(od_published.whole_total, od_published.same_whole_table),
    ),
)

SUITE = Suite(real=REAL, audits=PLAIN + FITTED, mutants=PLAIN_MUTANTS + FITTED_MUTANTS)
