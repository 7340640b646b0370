"""The audits of the OD family, and the proof that they can fail."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from hushway.arrays import WordArray
from hushway.audit.mutant_counters import OnlyLarge, Otherwise, Summed, Wrapped, files_of
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
from hushway.audit.product import blind, remade
from hushway.audit.suite import Audit, Mutant, Suite, mutant
from hushway.families.od.audit import dense, measured, published, sparse
from hushway.families.od.audit.fitted_looks import (
    BY_CORNER,
    FLAT,
    FORMS,
    LAZY,
    LEARNED,
    LEARNED_LAZILY,
    TREE,
)
from hushway.families.od.audit.product import (
    REAL,
    Fitted,
    Product,
    Terms,
    Trips,
    count_files,
    count_in_memory,
)
from hushway.families.od.audit.sparse import THRESHOLD
from hushway.families.od.fit.table import ODTable
from hushway.families.od.mechanism.cbdp import CBDP
from hushway.families.od.mechanism.learned import Learned
from hushway.families.od.mechanism.measuring import cells_query
from hushway.families.od.public.cells import ODCells
from hushway.families.od.rows.counter import EngineTrips
from hushway.families.od.rows.trips import TripsSource
from hushway.privacy.bound import Bound
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss, total
from hushway.privacy.query import Counter, Query
from hushway.privacy.randomness import BitSource, os_source
from hushway.release.mechanism import Measurements

_NO_CAP = 10**6
_LOW_BITS = (1 << 32) - 1


class _Counter(Wrapped):
    """The real counter, for a mutant to get one thing wrong about."""

    def __init__(self, trips: Trips, terms: Terms, source: BitSource) -> None:
        super().__init__(count_in_memory(trips, terms, source))


class SensitivityOfOne(_Counter):
    """A counter that stops at m trips and says that a person has only one."""

    def bound(self, query: Query) -> Bound:  # noqa: ARG002  wrong for every query
        """Returns the wrong bound."""
        return Bound(cells=1, each=1, total=1)


class NoCap(Otherwise):
    """A counter that says m trips and counts all of them."""

    def __init__(self, trips: Trips, terms: Terms, source: BitSource) -> None:
        uncapped = replace(terms, max_trips=_NO_CAP)
        super().__init__(*(count_in_memory(trips, each, source) for each in (terms, uncapped)))


class LowBitsOnly(_Counter):
    """A counter that tells people apart by the low 32 bits of their numbers."""

    def __init__(self, trips: Trips, terms: Terms, source: BitSource) -> None:
        super().__init__(replace(trips, person=trips.person & _LOW_BITS), terms, source)


class ThresholdBeforeNoise(OnlyLarge):
    """A counter that drops small exact counts, so that the noise comes too late."""

    def __init__(self, trips: Trips, terms: Terms, source: BitSource) -> None:
        super().__init__(count_in_memory(trips, terms, source), THRESHOLD)


class SharedNoise:
    """A source that begins again at every call, so that all measurements get the same noise."""

    name = "a source that repeats itself"
    private = False

    def __init__(self) -> None:
        self._words = np.empty(0, dtype=np.uint64)

    def words(self, count: int) -> WordArray:
        """Returns the same words as ever, and new ones only beyond them."""
        missing = count - len(self._words)
        if missing > 0:
            self._words = np.concatenate([self._words, os_source().words(missing)])
        return self._words[:count].copy()


def no_split(spend: PureLoss, measurements: int) -> tuple[PureLoss, ...]:
    """Gives the whole spend to each of several measurements."""
    return (spend,) * measurements


class NosyWhole(CBDP):
    """Counts made whole so that they sum to the exact number of trips."""

    def measure(self, curator: Curator, geography: ODCells) -> Measurements:
        """Measures what is to be measured, and peeps at the total."""
        # Not a real verb: only the curator of this mutant has it.
        exact = curator.exact(cells_query(geography)).values.sum()  # type: ignore[attr-defined]
        object.__setattr__(self, "_peeped", exact)
        return super().measure(curator, geography)

    def fit(self, measured: Measurements, geography: ODCells) -> ODTable:
        """Fits, and puts what is missing into the largest count."""
        table = super().fit(measured, geography)
        exact = getattr(self, "_peeped", None)
        if exact is None or not len(table.counts):
            return table
        counts = table.counts.copy()
        counts[np.argmax(counts)] += exact - counts.sum()
        return replace(table, counts=np.maximum(counts, 0))


def wholly_nosy(mechanism: Fitted) -> Fitted:
    """Returns the same mechanism, made to peep, if it can."""
    return remade(NosyWhole, mechanism) if isinstance(mechanism, CBDP) else mechanism


class _Peeper(Learned):
    """A table that learns, whose fit has the exact counts at hand."""

    def measure(self, curator: Curator, geography: ODCells) -> Measurements:
        """Measures what is to be measured, and peeps at all cells."""
        measured = super().measure(curator, geography)
        # Not a real verb: only the curator of this mutant has it.
        exact = curator.exactly(measured[0])  # type: ignore[attr-defined]
        object.__setattr__(self, "_peeped", exact)
        return measured


class NosyLearner(_Peeper):
    """What to expect and how far counts stray, learnt from the counts themselves."""

    def fit(self, measured: Measurements, geography: ODCells) -> ODTable:
        """Fits with cells that have no noise."""
        cells, *sums = measured
        return super().fit((getattr(self, "_peeped", cells), *sums), geography)


class HonestToAFault(_Peeper):
    """Standard errors that are by how much each count is off."""

    def fit(self, measured: Measurements, geography: ODCells) -> ODTable:
        """Fits, and tells what nobody may know."""
        table = super().fit(measured, geography)
        exact = getattr(self, "_peeped", None)
        if exact is None:
            return table
        off = np.abs(table.counts - exact.values[table.cells])
        return replace(table, standard_errors=off.astype(np.float64))


def nosy_learner(mechanism: Fitted) -> Fitted:
    """Returns the same mechanism, made to learn from exact counts, if it learns."""
    return remade(NosyLearner, mechanism) if isinstance(mechanism, Learned) else mechanism


def honest_to_a_fault(mechanism: Fitted) -> Fitted:
    """Returns the same mechanism, made to publish its true errors, if it learns them."""
    return remade(HonestToAFault, mechanism) if isinstance(mechanism, Learned) else mechanism


def unsplit(mechanism: Fitted) -> Fitted:
    """Gives the whole budget of a mechanism to each of its measurements."""
    return replace(mechanism, spends=(total(mechanism.spends),) * len(mechanism.spends))


def trips_file_by_file(*, source: TripsSource, **options: Any) -> Counter:
    """Returns a counter of trips that bounds people in each file by itself."""
    return Summed([EngineTrips(source=one, **options) for one in files_of(source)])


PLAIN: tuple[Audit[Product], ...] = (
    dense.one_trip,
    dense.many_trips,
    dense.many_trips_spread,
    dense.twins,
    dense.one_more_trip,
    dense.stray_trips,
    dense.measured_twice,
    dense.total_and_part,
    measured.fresh_noise,
    measured.own_noise,
    measured.whole_numbers,
    sparse.unvisited_cell,
    sparse.at_the_threshold,
    sparse.busy_neighbours,
    sparse.sparse_or_dense,
    dense.many_trips_in_files,
)
FITTED: tuple[Audit[Product], ...] = (
    *(partial(measured.one_trip, form) for form in FORMS),
    *(partial(measured.many_trips, form) for form in (FLAT, TREE, LEARNED)),
    partial(measured.many_trips_spread, FLAT),
    *(partial(measured.one_trip_gaussian, form) for form in (FLAT, LAZY, LEARNED)),
    measured.gaussian_noise,
    measured.fresh_feature_noise,
    measured.one_less_another,
    measured.whole_features,
    measured.two_looks,
    *(partial(published.one_trip, form) for form in BY_CORNER),
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
    mutant("shared noise", Product(source=SharedNoise), dense.total_and_part, measured.fresh_noise),
    mutant(
        "missing budget split",
        Product(split=no_split, budget=blind),
        dense.measured_twice,
        measured.fresh_noise,
    ),
    mutant("universe taken from the data", Product(curator=SeenCellsOnly), sparse.unvisited_cell),
    mutant(
        "threshold before noise", Product(counter=ThresholdBeforeNoise), sparse.at_the_threshold
    ),
    mutant("no contribution limit", Product(counter=NoCap), dense.many_trips),
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
        "sensitivity 1 instead of m on published totals",
        Product(curator=FeatureSensitivityOfOne),
        partial(measured.many_trips, FLAT),
        partial(measured.many_trips, TREE),
    ),
    mutant(
        "the whole budget for every published total",
        Product(mechanism=unsplit, budget=blind),
        partial(measured.one_trip, FLAT),
        partial(measured.one_trip, TREE),
        partial(measured.one_trip_gaussian, FLAT),
        measured.gaussian_noise,
        measured.fresh_feature_noise,
    ),
    mutant(
        "the same noise for every published total",
        Product(source=SharedNoise),
        measured.one_less_another,
        measured.fresh_feature_noise,
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
    mutant(
        "learning from exact counts",
        Product(curator=Peeping, mechanism=nosy_learner),
        partial(published.same_table, LEARNED),
        partial(published.same_table, LEARNED_LAZILY),
    ),
    mutant(
        "errors that are the true ones",
        Product(curator=Peeping, mechanism=honest_to_a_fault),
        partial(published.same_table, LEARNED),
        partial(published.same_table, LEARNED_LAZILY),
    ),
)

SUITE = Suite(real=REAL, audits=PLAIN + FITTED, mutants=PLAIN_MUTANTS + FITTED_MUTANTS)
