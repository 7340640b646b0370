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
from hushway.audit.suite import Audit, Mutant, Suite, mutant
from hushway.families.od.audit import dense, laws, measured, published, sparse
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
    dense.one_trip,
    dense.many_trips,
    dense.many_trips_spread,
    dense.twins,
    dense.one_more_trip,
    dense.stray_trips,
    dense.measured_twice,
    dense.total_and_part,
    laws.fresh_noise,
    laws.own_noise,
    laws.whole_numbers,
    sparse.unvisited_cell,
    sparse.at_the_threshold,
    sparse.busy_neighbours,
    sparse.sparse_or_dense,
    dense.many_trips_in_files,
)
FITTED: tuple[Audit[Product], ...] = (
    *(partial(measured.one_trip, form) for form in FORMS),
    *(partial(measured.many_trips, form) for form in (FLAT, TREE)),
    partial(measured.many_trips_spread, FLAT),
    *(partial(measured.one_trip_gaussian, form) for form in (FLAT, LAZY)),
    measured.gaussian_noise,
    laws.fresh_feature_noise,
    laws.one_less_another,
    laws.whole_features,
    measured.two_looks,
    *(partial(published.one_trip, form) for form in FORMS),
    *(partial(published.many_trips, form) for form in (FLAT, TREE)),
    *(partial(published.same_table, form) for form in FORMS),
    published.one_by_one,
    published.lazy_or_dense,
    published.measured_total,
    published.whole_total,
    published.same_whole_table,
)
PLAIN_MUTANTS: tuple[Mutant[Product], ...] = (
    mutant("sensitivity 1 instead of m", Product(counter=SensitivityOfOne), dense.many_trips),
    mutant("shared noise", Product(source=SharedNoise), dense.total_and_part, laws.fresh_noise),
    mutant(
        "missing budget split",
        Product(split=no_split, budget=blind),
        dense.measured_twice,
        laws.fresh_noise,
    ),
    mutant("universe taken from the data", Product(curator=SeenCellsOnly), sparse.unvisited_cell),
    mutant(
        "threshold before noise", Product(counter=ThresholdBeforeNoise), sparse.at_the_threshold
    ),
    mutant("no cap", Product(counter=NoCap), dense.many_trips),
    mutant(
        "people told apart by the low bits of their numbers",
        Product(counter=LowBitsOnly),
        dense.twins,
    ),
    mutant(
        "a threshold for the cells that are empty",
        Product(curator=ThresholdForEmptyCells),
        sparse.busy_neighbours,
    ),
    mutant(
        "each file bounded by itself",
        Product(files=partial(count_files, engine=trips_file_by_file)),
        dense.many_trips_in_files,
    ),
)
FITTED_MUTANTS: tuple[Mutant[Product], ...] = (
    mutant(
        "sensitivity 1 instead of m on features",
        Product(curator=FeatureSensitivityOfOne),
        partial(measured.many_trips, FLAT),
        partial(measured.many_trips, TREE),
    ),
    mutant(
        "the whole budget for every feature",
        Product(mechanism=unsplit, budget=blind),
        partial(measured.one_trip, FLAT),
        partial(measured.one_trip, TREE),
        partial(measured.one_trip_gaussian, FLAT),
        measured.gaussian_noise,
        laws.fresh_feature_noise,
    ),
    mutant(
        "the same noise for every feature",
        Product(source=SharedNoise),
        laws.one_less_another,
        laws.fresh_feature_noise,
    ),
    mutant(
        "elements taken from the data",
        Product(curator=SeenElementsOnly),
        partial(measured.one_trip, FLAT),
        partial(published.one_trip, FLAT),
    ),
    mutant(
        "pruning by exact counts", Product(curator=PrunedExactly), partial(published.one_trip, TREE)
    ),
    mutant(
        "lazy cells taken from the data",
        Product(curator=OccupiedCellsOnly),
        partial(published.one_trip, LAZY),
        published.lazy_or_dense,
    ),
    mutant(
        "lazy cells drawn anew at every look", Product(curator=RedrawnCells), measured.two_looks
    ),
    mutant(
        "lazy cells drawn as if nobody had looked",
        Product(curator=UnconditionalCells),
        measured.two_looks,
    ),
    mutant("no noise on the total", Product(curator=ExactTotal), published.measured_total),
    mutant(
        "counts made whole to the exact total",
        Product(curator=Peeping, mechanism=wholly_nosy),
        published.whole_total,
        published.same_whole_table,
    ),
)

SUITE = Suite(real=REAL, audits=PLAIN + FITTED, mutants=PLAIN_MUTANTS + FITTED_MUTANTS)
