"""Bounded visits of people, and the counts of a query's cells that follow from them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array

from hushway.arrays import Int32Array, IntArray
from hushway.engine.counting import (
    BoundedCounter,
    index_column,
    is_same,
    other_cells,
    whole_column,
)
from hushway.engine.key import BoundingKey
from hushway.errors import DataError, PrivacyError
from hushway.families.density.public.visits import (
    ActivityHistogram,
    ClusterSeries,
    ClusterTotals,
    DensityUniverse,
    SiteHistogram,
    VisitCells,
    VisitLimits,
    VisitTotal,
)
from hushway.families.density.rows.grouping import (
    Limits,
    Sums,
    VisitRows,
    add_partitions,
    add_people,
    partitioned,
)
from hushway.numerics.threads import in_threads
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.query import ExactCounts, Query

# Which visits of a person count: one rule on arrays, shared by all counters of visits.
#
# A visit is a site and a bin in which a person was seen, however often. Each person is shared
# among the sites of all visits, in the circle of people as busy as that; one visit of each bin, and
# at most `max_visits` of these, enter the series; the number of visits, cut off, enters a total;
# and the person is one of a class of activity.

_Add = Callable[[int, int, Sums], int]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PeopleVisits:
    """Rows that are already together by person.

    Attributes:
        start: Where each person's rows begin; one entry more than people.
        code: bin * sites + site of each row, in any order, with repetitions; -1 if it has none.
        salt: A number made of each person's own id alone.
    """

    start: IntArray
    code: Int32Array
    salt: IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class VisitRule:
    """How visits are cut down: public but for the key."""

    sites: int
    bins: int
    limits: VisitLimits
    key: BoundingKey

    @classmethod
    def of(cls, universe: DensityUniverse, limits: VisitLimits, key: BoundingKey) -> "VisitRule":
        """Returns the rule for the sites and bins of a universe."""
        return cls(sites=universe.site_count, bins=universe.bins, limits=limits, key=key)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BoundedVisits:
    """What was counted, exactly. Private: for a counter's answers to a curator only.

    Attributes:
        series: Visits by (bin, site).
        circles: People by (circle, site), each shared among sites in `PERSON_PARTS` parts.
        activity: People by class of activity.
        total: All visits, each person's cut off.
    """

    series: IntArray
    circles: IntArray
    activity: IntArray
    total: int

    @property
    def histogram(self) -> IntArray:
        """People by site, each shared among sites in `PERSON_PARTS` parts."""
        return np.asarray(self.circles.sum(axis=0))


def bounded_rows(rows: Sequence[VisitRows], rule: VisitRule, threads: int = 1) -> BoundedVisits:
    """Returns the bounded visits of rows in any order, whose owners are their own salts.

    The answer is the same for any number of threads.

    Privacy:
        What is kept of a person depends on that person's rows and number and on the key. Rows are
        brought together by comparing owners exactly.
    """
    parts, limits = partitioned(rows, threads), _limits(rule)

    def add(first: int, last: int, sums: Sums) -> int:
        return add_partitions(parts.owner, parts.code, parts.start[first : last + 1], limits, sums)

    return _summed(add, parts.start, rule, threads)


def bounded_people(people: PeopleVisits, rule: VisitRule, threads: int = 1) -> BoundedVisits:
    """Returns the bounded visits of people whose rows are together; the same for any threads.

    Privacy:
        What is kept of a person depends on that person's rows and salt and on the key.
    """
    limits = _limits(rule)

    def add(first: int, last: int, sums: Sums) -> int:
        start, salt = people.start[first : last + 1], people.salt[first:last]
        return add_people(start, people.code, salt, limits, sums)

    return _summed(add, people.start, rule, threads)


def _limits(rule: VisitRule) -> Limits:
    # More than 64 bits would not pass, and more than all visits there can be changes nothing.
    every = rule.sites * rule.bins
    return (
        rule.sites,
        min(rule.limits.max_visits, every),
        min(rule.limits.max_visits_in_total, every),
        rule.limits.activity,
        rule.limits.circle,
        np.array(rule.key.coefficients, dtype=np.int64),
    )


def _summed(add: _Add, start: IntArray, rule: VisitRule, threads: int) -> BoundedVisits:
    """Adds up stretches of people, or of parts, with about as many rows each."""

    def one(stretch: tuple[int, int]) -> tuple[Sums, int]:
        sums = _zeros(rule)
        return sums, add(*stretch, sums)

    wanted = np.linspace(0, start[-1], threads + 1)[1:-1]
    cuts = np.unique([0, *np.searchsorted(start, wanted).tolist(), len(start) - 1]).tolist()
    sums, total = _zeros(rule), 0
    for some, some_total in in_threads(one, list(pairwise(cuts)), threads):
        for whole, part in zip(sums, some, strict=True):
            np.add(whole, part, out=whole)
        total += some_total
    series, histogram, activity = sums
    return BoundedVisits(
        series=series.reshape(rule.bins, rule.sites),
        circles=histogram.reshape(rule.limits.circles, rule.sites),
        activity=activity,
        total=total,
    )


def _zeros(rule: VisitRule) -> Sums:
    sizes = rule.bins, rule.limits.circles
    series, histogram = (np.zeros(size * rule.sites, np.int64) for size in sizes)
    return series, histogram, np.zeros(len(rule.limits.activity), np.int64)


# A gigabyte of counts for each thread.
_MOST_CELLS = 1 << 27


class VisitCounter(BoundedCounter[VisitCells]):
    """Answers queries over visits of one universe, each person bounded."""

    universe: DensityUniverse
    limits: VisitLimits
    found: BoundedVisits

    def asked(self, query: Query) -> VisitCells:
        """Returns the query's cells."""
        cells = query.cells
        if not isinstance(cells, VisitCells) or not is_same(cells.universe, self.universe):
            raise other_cells("visits of the universe")
        return cells

    def bound_of(self, cells: VisitCells) -> Bound:
        """Returns how far one person moves an answer."""
        return Bound(**cells.reach(self.limits)._asdict())

    def counts_of(self, cells: VisitCells) -> ExactCounts:
        """Returns the exact bounded counts."""
        return visit_counts(self.found, cells)


def refuse_too_many_cells(universe: DensityUniverse) -> None:
    """Refuses a universe whose visits cannot be counted in memory."""
    if universe.site_count * universe.bins > _MOST_CELLS:
        raise DataError(
            f"There are more than {_MOST_CELLS:,} pairs of a site and a period.",
            advice="Choose a shorter window, longer periods or fewer sites.",
        )


def visit_counts(found: BoundedVisits, cells: VisitCells) -> ExactCounts:
    """Returns the exact count of each cell that is not empty."""
    match cells:
        case ClusterSeries():
            return ExactCounts.of_all((_shares(cells) @ found.series.T).ravel())
        case ClusterTotals():
            return ExactCounts.of_all(_shares(cells) @ found.series.sum(axis=0))
        case SiteHistogram():
            if cells.circles == 1:
                return ExactCounts.of_all(found.histogram)
            return ExactCounts.of_all(_of_classes(found.circles, cells.circles).ravel())
        case ActivityHistogram():
            return ExactCounts.of_all(_of_classes(found.activity, cells.classes))
        case VisitTotal():
            return ExactCounts.of_all(np.array([found.total], dtype=np.int64))


def _of_classes(counted: IntArray, asked: int) -> IntArray:
    if asked != len(counted):
        raise PrivacyError(
            "People were told apart by other classes of activity than the query asks for.",
            advice="Ask with the limits that the engine was made with.",
        )
    return counted


def _shares(cells: ClusterSeries | ClusterTotals) -> csr_array:
    cluster, site, parts = cells.parts
    shape = (int(cells.cluster.max()) + 1, cells.universe.site_count)
    return csr_array((parts, (cluster, site)), shape=shape, dtype=np.int64)


class ArrayVisits(VisitCounter):
    """Counts visits given as arrays, each person bounded.

    The same rule and the same arithmetic as for files: the same visits and the same key give the
    same counts.

    Privacy:
        At most one visit of a bin and `max_visits` in all count for each person; the choice reads
        that person's visits, that person's code and the key alone.

    Args:
        universe: The public areas, bins and sites.
        limits: How much of one person counts.
        key: Decides which visits are kept.
        person: Code of each event's person, a whole number of 64 bits.
        site: Index of the site of each event.
        bin: Index of its bin.
    """

    unit = Unit.PERSON

    def __init__(
        self,
        *,
        universe: DensityUniverse,
        limits: VisitLimits,
        key: BoundingKey,
        person: IntArray,
        site: IntArray,
        bin: IntArray,  # noqa: A002  what the column is called everywhere
    ) -> None:
        refuse_too_many_cells(universe)
        self.universe, self.limits = universe, limits
        owner = whole_column(person, len(np.asarray(person)), "events")
        places = index_column(site, len(owner), universe.site_count, "events")
        code = index_column(bin, len(owner), universe.bins, "events") * universe.site_count
        rows = VisitRows(owner=owner, code=(code + places).astype(np.int32))
        self.found = bounded_rows([rows], VisitRule.of(universe, limits, key))
