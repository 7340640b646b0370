"""What OD releases with Laplace noise in every cell must not give away, and the law of that noise.

The mistakes that they must catch are planted in counters, budgets and sources.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from hushway.arrays import IntArray, WordArray
from hushway.auditing.cases import Case, HasVariance, IsWhole, Loses, cases_of
from hushway.auditing.law import laplace_difference
from hushway.auditing.mutant_counters import file_by_file, only_one, wrong_bound, wrong_input
from hushway.auditing.product import Rows, blind
from hushway.auditing.suite import mutant
from hushway.families.od.audit.stage import ODProduct, ODStage, Part, Stray, staged, toy_universe
from hushway.families.od.rows.counter import EngineTrips
from hushway.privacy.bound import Unit
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss
from hushway.privacy.public_facts import digest_of, public_facts
from hushway.privacy.query import Counter, Query, WeightedQuery
from hushway.privacy.randomness import BitSource, os_source

MAX_TRIPS = 3
_MANY = 50
_TRIP = ("the trip", "no trip")
_corners = partial(staged, toy=toy_universe(places=10, periods=1))
_two_periods = partial(staged, toy=toy_universe(places=10, periods=2))


def by_corner(stage: ODStage, curator: Curator) -> IntArray:
    """Returns what the dense mechanism measures: one row a period, a column a corner."""
    (answer,) = stage.measured(curator)
    return stage.toy.by_corner(answer.values)


def first_cell(stage: ODStage, curator: Curator) -> IntArray:
    """Returns the noisy count of a corner's first cell."""
    first: IntArray = by_corner(stage, curator)[0]
    return first


def smallest_cell(stage: ODStage, curator: Curator) -> IntArray:
    """Returns the smallest noisy count of a corner's cells."""
    return np.asarray(by_corner(stage, curator).min(axis=0))


def parity(values: IntArray) -> IntArray:
    """Returns 0 for an even number, 1 for an odd one and 2 for one that is not whole."""
    whole = values.dtype == np.int64
    return values & 1 if whole else np.full(len(values), 2, dtype=np.int64)


def _second_for_first(stage: ODStage, curator: Curator) -> IntArray:
    """Returns how much nearer a corner is to a person in its second cell than in its first."""
    first, second = by_corner(stage, curator)
    most = stage.max_trips
    nearer: IntArray = abs(second) - abs(second - most) + abs(first - most) - abs(first)
    return nearer


def _difference(stage: ODStage, curator: Curator) -> IntArray:
    first, second = by_corner(stage, curator)
    return np.asarray(first - second)


def _twice(stage: ODStage, curator: Curator) -> tuple[IntArray, IntArray]:
    """Returns two noisy counts of a corner's first cell, with the spend split over the two."""
    query = Query(name=stage.universe.name, cells=stage.universe)
    one, other = (
        stage.toy.by_corner(curator.counts(query, spend).values)[0] for spend in _halves(stage)
    )
    return one, other


def _halves(stage: ODStage) -> tuple[PureLoss, ...]:
    assert isinstance(stage.spend, PureLoss)  # noqa: S101  what these stages spend
    return stage.product.split(stage.spend, 2)


def smaller_of_two(stage: ODStage, curator: Curator) -> IntArray:
    """Returns the smaller of two noisy counts of a corner's first cell."""
    return np.minimum(*_twice(stage, curator))


def difference_of_two(stage: ODStage, curator: Curator) -> IntArray:
    """Returns the difference of two noisy counts of a corner's first cell."""
    return np.subtract(*_twice(stage, curator))


@public_facts
@dataclass(frozen=True, kw_only=True)
class _Pairs:
    """The public cells of a total over periods."""

    size: int
    name: str = "trips by (origin, destination)"

    @property
    def digest(self) -> str:
        """A digest of the number of pairs, all that is public about them."""
        return digest_of({"pairs": self.size})


def _total_less_first(stage: ODStage, curator: Curator) -> IntArray:
    """Returns a corner's noisy total less the noisy count of its first cell."""
    query = Query(name=stage.universe.name, cells=stage.universe)
    pairs, cells = stage.universe.pairs, np.arange(stage.universe.size, dtype=np.int64)
    totals = WeightedQuery(
        name="trips by (origin, destination)",
        base=query,
        cells=_Pairs(size=pairs),
        rows=cells % pairs,
        columns=cells,
        weights=np.ones_like(cells),
    )
    first, second = _halves(stage)
    parts = stage.toy.by_corner(curator.counts(query, first).values)
    rest: IntArray = curator.weighted(totals, second).values[: stage.toy.corners] - parts[0]
    return rest


# One release a run: the loss of the whole path, nothing batched.
ONE_TRIP = Case(
    "one trip or none",
    "the noisy count of the trip's cell",
    stage=partial(staged, toy=toy_universe(places=2, periods=1, corners=1)),
    look=first_cell,
    one=(Part(),),
    words=_TRIP,
    claim=Loses(tight=True),
)
# The limit, and noise that fits it.
MANY_TRIPS = Case(
    "fifty trips of one person or none",
    "the noisy count of their cell",
    stage=partial(_corners, max_trips=MAX_TRIPS),
    look=first_cell,
    one=(Part(times=_MANY),),
    claim=Loses(tight=True),
)
# The limit must hold over all cells together. The people of one release share its bounding key,
# whose choices for any two of them are as good as independent; so counts over corners spread no
# wider than counts over releases.
MANY_TRIPS_SPREAD = Case(
    "a hundred trips in two cells or none",
    "the smaller noisy count of the two cells",
    stage=partial(_two_periods, max_trips=MAX_TRIPS),
    look=smallest_cell,
    one=(Part(times=_MANY), Part(times=_MANY, period=1)),
)
_OTHER = (Part(times=MAX_TRIPS),)
# Somebody whose number is like another's but for its high bits: the other's trips stay.
TWINS = Case(
    "fifty trips of somebody with a number like another's or none",
    "how much two noisy counts speak for one person in the other's place",
    stage=partial(staged, toy=toy_universe(places=30, periods=2), max_trips=MAX_TRIPS),
    look=_second_for_first,
    one=(*_OTHER, Part(times=_MANY, period=1, twin=True)),
    other=_OTHER,
    words=("both", "the other"),
)
ONE_MORE_TRIP = Case(
    "five trips or four, where one trip is protected",
    "the noisy count of their cell",
    stage=partial(_corners, unit=Unit.TRIP),
    look=first_cell,
    one=(Part(times=5),),
    other=(Part(times=4),),
    words=("five", "four"),
    claim=Loses(tight=True),
)
# Trips that have no cell, to an unknown place for one, must change nothing at all.
STRAY_TRIPS = Case(
    "trips outside the public universe or none",
    "the noisy count of a cell",
    stage=partial(_corners, max_trips=MAX_TRIPS),
    look=first_cell,
    one=tuple(Part(times=MAX_TRIPS, stray=stray) for stray in Stray),
    words=("the trips", "none"),
    claim=Loses(share=Fraction(0)),
)
# The two measurements together must cost epsilon, not each.
MEASURED_TWICE = Case(
    "one cell measured twice",
    "the smaller of the two noisy counts",
    stage=_corners,
    look=smaller_of_two,
    one=(Part(),),
    words=_TRIP,
)
# Exact if both were given the same noise.
TOTAL_AND_PART = Case(
    "a total less its part",
    "the noisy total less the noisy count of the cell without the trip",
    stage=_two_periods,
    look=_total_less_first,
    one=(Part(period=1),),
    words=_TRIP,
)
# Noise that is used twice cancels in the difference.
FRESH_NOISE = Case(
    "fresh noise for every measurement",
    "the difference of two noisy counts of one cell",
    stage=_corners,
    look=difference_of_two,
    one=(Part(),),
    claim=HasVariance(lambda stage: laplace_difference(2 / stage.spend.epsilon)),
)
OWN_NOISE = Case(
    "noise of its own for every cell",
    "the difference of the noisy counts of two cells",
    stage=_two_periods,
    look=_difference,
    claim=HasVariance(lambda stage: laplace_difference(1 / stage.spend.epsilon)),
)
WHOLE_NUMBERS = Case(
    "whole numbers",
    "the noisy count of an empty cell",
    stage=_corners,
    look=lambda stage, curator: parity(first_cell(stage, curator)),
    claim=IsWhole(),
)
# Four trips in each file. A release of files takes about as long for many corners as for few.
MANY_TRIPS_IN_FILES = Case(
    "files: twenty trips of one person in five files or none",
    "the noisy count of their cell",
    stage=partial(
        staged, toy=toy_universe(places=100, periods=1), max_trips=MAX_TRIPS, in_files=True
    ),
    look=first_cell,
    one=(Part(times=20),),
    claim=Loses(tight=True),
)

AUDITS = cases_of(globals())


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


def low_bits_only(rows: Rows, stage: ODStage, source: BitSource) -> Counter:
    """Tells people apart by the low 32 bits of their numbers."""
    return stage.count({**rows, "person": rows["person"] & 0xFFFFFFFF}, source)


trips_file_by_file = partial(file_by_file, EngineTrips)
"""Counts trips, and bounds people in each file by itself."""

MUTANTS = (
    mutant("sensitivity 1 instead of m", ODProduct(counter=wrong_bound(only_one)), MANY_TRIPS),
    mutant("shared noise", ODProduct(source=SharedNoise), TOTAL_AND_PART, FRESH_NOISE),
    mutant(
        "missing budget split",
        ODProduct(split=no_split, budget=blind),
        MEASURED_TWICE,
        FRESH_NOISE,
    ),
    mutant(
        "no contribution limit",
        ODProduct(counter=wrong_input(stage=lambda stage: replace(stage, max_trips=10**6))),
        MANY_TRIPS,
    ),
    mutant(
        "people told apart by the low bits of their numbers",
        ODProduct(counter=low_bits_only),
        TWINS,
    ),
    mutant(
        "each file bounded by itself", ODProduct(engine=trips_file_by_file), MANY_TRIPS_IN_FILES
    ),
)
