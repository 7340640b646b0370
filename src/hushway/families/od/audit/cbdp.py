"""What the CBDP mechanism must not give away, and the planted mistakes that its audits must catch.

A table is made from noisy counts and public labels alone, so it gives away no more than these. If
it does, the fit has seen something else.
"""

from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from hushway.arrays import IntArray
from hushway.auditing.cases import (
    Case,
    HasVariance,
    IsWhole,
    Loses,
    cases_of,
    never_differs,
    same_law,
)
from hushway.auditing.law import gaussian, laplace_difference
from hushway.auditing.mutant_curators import (
    EXACT_TOTAL,
    OCCUPIED_CELLS_ONLY,
    REDRAWN_CELLS,
    SEEN_ELEMENTS_ONLY,
    UNCONDITIONAL_CELLS,
    Meddler,
    exact,
)
from hushway.auditing.product import remade
from hushway.auditing.suite import mutant
from hushway.families.od.audit import fitted
from hushway.families.od.audit.fitted import (
    EVIDENCE,
    FLAT,
    LAZY,
    MEASUREMENTS,
    NESTED,
    PLANNED,
    SAME_HALF,
    SAME_PARITY,
    SUMS,
    Evidence,
    measured,
    on_fitted,
    on_measured,
)
from hushway.families.od.audit.laplace import MAX_TRIPS, SharedNoise, parity
from hushway.families.od.audit.stage import (
    ODProduct,
    ODStage,
    Part,
    Scene,
    staged,
    toy_universe,
)
from hushway.families.od.fit.table import ODTable
from hushway.families.od.mechanism.cbdp import CBDP
from hushway.families.od.mechanism.measuring import cells_query
from hushway.families.od.public.cells import ODCells
from hushway.privacy.curator import Curator
from hushway.privacy.measured import MeasuredSparse
from hushway.release.mechanism import Measurements

_FIRST_LOOK, _SECOND_LOOK = 2, 0
_HIDDEN, _CHANGED = -1, -2
_EACH = Fraction(1, MEASUREMENTS)


def first_total(stage: ODStage, curator: Curator) -> IntArray:
    """Returns the sum of all noisy counts that a corner's first cell is part of."""
    return np.asarray(np.sum([values[0] for values, _ in measured(stage, curator)], axis=0))


def features_differ(stage: ODStage, curator: Curator) -> IntArray:
    """Returns the difference of the noisy counts of the first cell's half and of its parity."""
    (half, _), (even, _), _ = measured(stage, curator)
    return np.asarray(half[0] - even[0])


def parity_of_half(stage: ODStage, curator: Curator) -> IntArray:
    """Returns whether the noisy count of the first cell's half is even, odd or not whole."""
    return parity(measured(stage, curator)[0][0][0])


def two_looks(stage: ODStage, curator: Curator) -> IntArray:
    """Returns what a second look shows of the first cell, unless the first one contradicts it.

    The first look is from a threshold up, the second from a lower one.
    """
    *_, cells = stage.mechanism.measure(curator, stage.universe)
    first, second = (_shown(stage, cells, each) for each in (_FIRST_LOOK, _SECOND_LOOK))
    expected = np.where(second >= _FIRST_LOOK, second, _HIDDEN)
    return np.where(first == expected, second, _CHANGED)


def _shown(stage: ODStage, cells: MeasuredSparse, threshold: int) -> IntArray:
    assert cells.groups is not None  # noqa: S101  or a fit could not look at it
    shown = cells.reveal_groups(np.full(cells.groups.count, threshold, dtype=np.int64))
    found = np.full(stage.universe.size, _HIDDEN, dtype=np.int64)
    found[shown.cells] = shown.values
    first: IntArray = stage.toy.by_corner(found)[0]
    return first


def _first_and_sums(stage: ODStage, curator: Curator) -> IntArray:
    """Returns the count of the first cell plus the sums of its period and of everything."""
    found = fitted.all_counts(stage.table(curator)).reshape(-1, stage.universe.pairs)
    return np.asarray(found[:1, 0] + found[0].sum() + found.sum())


def _noisy_total(stage: ODStage, curator: Curator) -> IntArray:
    (total, _), *_ = measured(stage, curator)
    first: IntArray = total[0]
    return first


def all_published(stage: ODStage, curator: Curator) -> IntArray:
    """Returns the sum of all published counts."""
    return np.array([fitted.all_counts(stage.table(curator)).sum()], dtype=np.int64)


ONE_TRIP = fitted.one_trip(FLAT)
ONE_TRIP_NESTED = fitted.one_trip(NESTED)
ONE_TRIP_LAZILY = fitted.one_trip(LAZY)
MANY_TRIPS = fitted.many_trips(FLAT)
# The limit holds over both elements of a feature together. Which of the trips are kept is left to
# chance; what is looked for is the likeliest choice, or its mirror.
MANY_TRIPS_SPREAD = Case(
    f"{FLAT.words}: fifty trips in two elements or none",
    EVIDENCE,
    stage=partial(on_measured, form=FLAT, max_trips=MAX_TRIPS),
    look=Evidence({0: MAX_TRIPS - 1, SAME_PARITY: 1}),
    one=(Part(times=25), Part(times=25, period=SAME_PARITY)),
    words=("the person", "nothing of it"),
)
ONE_TRIP_GAUSSIAN = fitted.one_trip_gaussian(FLAT)
ONE_TRIP_GAUSSIAN_LAZILY = fitted.one_trip_gaussian(LAZY)
# A trip moves the sum of all measurements by sqrt(2 rho) of its standard deviations.
GAUSSIAN_NOISE = Case(
    "Gaussian cbdp: noise that fits rho",
    "the sum of the noisy counts that hold an empty cell",
    stage=partial(on_measured, form=FLAT, gaussian=True),
    look=first_total,
    claim=HasVariance(
        lambda stage: gaussian(MEASUREMENTS / (2 * stage.spend.rho), terms=MEASUREMENTS)
    ),
)
# Two features that hold the same trips: noise that both share cancels in their difference.
FRESH_FEATURE_NOISE = Case(
    "cbdp: fresh noise for every published total",
    "the difference of the noisy counts of two elements that hold one trip",
    stage=partial(on_measured, form=FLAT),
    look=features_differ,
    one=(Part(),),
    claim=HasVariance(lambda stage: laplace_difference(MEASUREMENTS / stage.spend.epsilon)),
)
ONE_LESS_ANOTHER = Case(
    "cbdp: one published total less another",
    "the noisy count of an element with the trip less that of one without it",
    stage=partial(on_measured, form=FLAT),
    look=features_differ,
    one=(Part(period=SAME_HALF),),
    words=("the trip", "no trip"),
)
# Features are measured in whole numbers, before any fit makes fractions of them.
WHOLE_FEATURES = Case(
    "cbdp: whole numbers",
    "the noisy count of an empty element",
    stage=partial(on_measured, form=FLAT),
    look=parity_of_half,
    claim=IsWhole(_EACH),
)
# Whoever sees an empty cell change knows that it is empty. Two looks cost no more than the one
# measurement of the cells that they look at.
TWO_LOOKS = Case(
    "lazy cbdp: a cell looked at twice",
    f"the shown count of the cell ({_HIDDEN} if hidden, {_CHANGED} if it changed)",
    stage=partial(on_fitted, form=LAZY),
    look=two_looks,
    one=(Part(),),
    words=("the trip", "no trip"),
    claim=Loses(share=_EACH),
)
PUBLISHED_TRIP = fitted.published_trip(FLAT)
PUBLISHED_TRIP_NESTED = fitted.published_trip(NESTED)
PUBLISHED_TRIP_LAZILY = fitted.published_trip(LAZY)
PUBLISHED_TRIPS = fitted.published_trips(FLAT)
SAME_TABLE = fitted.same_table(FLAT)
SAME_TABLE_NESTED = fitted.same_table(NESTED)
SAME_TABLE_LAZILY = fitted.same_table(LAZY)
# Total and period are features, as plans have it, which ties all counts together: every run is a
# release of its own.
_planned = partial(staged, toy=toy_universe(places=2, periods=2, corners=1), form=PLANNED)
ONE_BY_ONE = Case(
    f"{PLANNED.words}, published: one trip or none, a release a run",
    SUMS,
    stage=_planned,
    look=_first_and_sums,
    one=(Part(),),
    words=("the trip", "no trip"),
    effort=Fraction(1, 50),
)
_THREE: Scene = (Part(), Part(person=1), Part(person=2, period=1))
# Cells drawn as far as a fit looks at them, and all cells: the same law.
LAZY_OR_DENSE = Case(
    "cbdp, published: lazy or dense",
    "the published count of a cell together with the sum of its corner",
    stage=partial(on_fitted, form=LAZY),
    other_stage=partial(on_fitted, form=FLAT),
    look=fitted.first_and_all,
    one=_THREE,
    other=_THREE,
    words=("lazy noise", "dense noise"),
    claim=same_law,
)
# Trips of others, so that not all sums are cut off at nothing.
_OTHERS: Scene = tuple(Part(person=1 + i, period=i % 2) for i in range(6))
# The total, which is published as it was measured, has its share of noise. As few runs as can prove
# that a sum is exact.
MEASURED_TOTAL = Case(
    f"{PLANNED.words}: one more trip in the total",
    "the noisy total",
    stage=_planned,
    look=_noisy_total,
    one=(*_OTHERS, Part()),
    other=_OTHERS,
    words=("the trip", "the others"),
    claim=Loses(share=_EACH),
    effort=Fraction(1, 8),
)
WHOLE_TOTAL = Case(
    f"{PLANNED.words}, made whole: one more trip",
    "the sum of all published counts",
    stage=_planned,
    look=all_published,
    one=(*_OTHERS, Part()),
    other=_OTHERS,
    words=("the trip", "the others"),
    effort=Fraction(1, 8),
)
SAME_WHOLE_TABLE = Case(
    f"{PLANNED.words}, made whole: the same table from the same measurements",
    "tables fitted twice",
    stage=_planned,
    look=fitted.changes,
    one=_OTHERS,
    claim=never_differs,
    effort=Fraction(1, 20),
)

AUDITS = cases_of(globals())


class NosyWhole(CBDP):
    """Counts made whole so that they sum to the exact number of trips."""

    def measure(self, curator: Curator, geography: ODCells) -> Measurements:
        """Measures what is to be measured, and looks at the exact total."""
        object.__setattr__(self, "_peeped", exact(curator, cells_query(geography)).values.sum())
        return super().measure(curator, geography)

    def fit(self, measured: Measurements, geography: ODCells) -> ODTable:
        """Fits, and puts what is missing into the largest count."""
        table, peeped = super().fit(measured, geography), getattr(self, "_peeped", None)
        if peeped is None or not len(table.counts):
            return table
        whole = table.counts.copy()
        whole[np.argmax(whole)] += peeped - whole.sum()
        return replace(table, counts=np.maximum(whole, 0))


MUTANTS = (
    mutant(
        "the same noise for every published total",
        ODProduct(source=SharedNoise),
        ONE_LESS_ANOTHER,
        FRESH_FEATURE_NOISE,
    ),
    mutant(
        "elements taken from the data",
        ODProduct(curator=SEEN_ELEMENTS_ONLY),
        ONE_TRIP,
        PUBLISHED_TRIP,
    ),
    mutant(
        "lazy cells taken from the data",
        ODProduct(curator=OCCUPIED_CELLS_ONLY),
        PUBLISHED_TRIP_LAZILY,
        LAZY_OR_DENSE,
    ),
    mutant("lazy cells drawn anew at every look", ODProduct(curator=REDRAWN_CELLS), TWO_LOOKS),
    mutant(
        "lazy cells drawn as if nobody had looked",
        ODProduct(curator=UNCONDITIONAL_CELLS),
        TWO_LOOKS,
    ),
    mutant("no noise on the total", ODProduct(curator=EXACT_TOTAL), MEASURED_TOTAL),
    mutant(
        "counts made whole to the exact total",
        ODProduct(curator=Meddler, mechanism=remade(NosyWhole)),
        WHOLE_TOTAL,
        SAME_WHOLE_TABLE,
    ),
)
