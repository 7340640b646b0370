"""Answers of all counters of visits: from bounded visits to the cells of a query."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array

from hushway.arrays import Int32Array, IntArray
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

_Add = Callable[[IntArray, IntArray, IntArray], int]


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
    """How visits are cut down: public but for the key.

    Attributes:
        sites: Number of sites.
        bins: Number of bins.
        limits: How much of one person counts.
        key: Decides which visits stay.
    """

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

    Privacy:
        What is kept of a person depends on that person's rows and number and on the key. Rows are
        brought together by comparing owners exactly.

    Args:
        rows: The rows, in as many pieces as there are.
        rule: How visits are cut down.
        threads: How many to use; the answer is the same for any number.
    """
    parts = partitioned(rows, threads)
    people = [
        lambda series, histogram, activity, first=first, last=last: add_partitions(
            parts.owner,
            parts.code,
            parts.start[first : last + 1],
            *_limits(rule),
            series,
            histogram,
            activity,
        )
        for first, last in _visit_shares(parts.start, threads)
    ]
    return _summed(people, rule, threads)


def bounded_people(people: PeopleVisits, rule: VisitRule, threads: int = 1) -> BoundedVisits:
    """Returns the bounded visits of people whose rows are together.

    Privacy:
        What is kept of a person depends on that person's rows and salt and on the key.

    Args:
        people: The rows by person.
        rule: How visits are cut down.
        threads: How many to use; the answer is the same for any number.
    """
    shares = [
        lambda series, histogram, activity, first=first, last=last: add_people(
            people.start[first : last + 1],
            people.code,
            people.salt[first:last],
            *_limits(rule),
            series,
            histogram,
            activity,
        )
        for first, last in _visit_shares(people.start, threads)
    ]
    return _summed(shares, rule, threads)


def _limits(rule: VisitRule) -> tuple[int, int, int, IntArray, IntArray, IntArray]:
    key = np.array(rule.key.coefficients, dtype=np.int64)
    # More than 64 bits would not pass, and more than all visits there can be changes nothing.
    every = rule.sites * rule.bins
    return (
        rule.sites,
        min(rule.limits.max_visits, every),
        min(rule.limits.max_visits_in_total, every),
        rule.limits.activity,
        rule.limits.circle,
        key,
    )


def _visit_shares(start: IntArray, threads: int) -> list[tuple[int, int]]:
    """Cuts a list of beginnings into stretches with about as many rows each."""
    wanted = np.linspace(0, start[-1], threads + 1)[1:-1]
    cuts = np.unique([0, *np.searchsorted(start, wanted).tolist(), len(start) - 1])
    return [(int(low), int(high)) for low, high in pairwise(cuts)]


def _summed(work: Sequence[_Add], rule: VisitRule, threads: int) -> BoundedVisits:
    def one(add: _Add) -> tuple[tuple[IntArray, IntArray, IntArray], int]:
        counted = _zeros(rule)
        return counted, add(*counted)

    sums, total = _zeros(rule), 0
    for some, some_total in in_threads(one, work, threads):
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


def _zeros(rule: VisitRule) -> tuple[IntArray, IntArray, IntArray]:
    limits = rule.limits
    return (
        np.zeros(rule.bins * rule.sites, np.int64),
        np.zeros(limits.circles * rule.sites, np.int64),
        np.zeros(len(limits.activity), np.int64),
    )


# A gigabyte of counts for each thread.
_MOST_CELLS = 1 << 27


def refuse_other_visits(query: Query, universe: DensityUniverse) -> VisitCells:
    """Returns the query's cells.

    Raises:
        PrivacyError: They are no visits, or visits of another universe.
    """
    cells = query.cells
    if not isinstance(cells, VisitCells) or (
        cells.universe is not universe and cells.universe.digest != universe.digest
    ):
        raise PrivacyError(
            "This engine counts other cells than the query asks for.",
            advice="Ask for visits of the universe that the engine was made with.",
        )
    return cells


def refuse_too_many_cells(universe: DensityUniverse) -> None:
    """Refuses a universe whose visits cannot be counted in memory.

    Raises:
        DataError: There are too many sites and bins.
    """
    if universe.site_count * universe.bins > _MOST_CELLS:
        raise DataError(
            f"There are more than {_MOST_CELLS:,} pairs of a site and a period.",
            advice="Choose a shorter window, longer periods or fewer sites.",
        )


def visit_bound(cells: VisitCells, limits: VisitLimits) -> Bound:
    """Returns how far one person can move an answer, if visits are cut down to the limits."""
    return Bound(**cells.reach(limits)._asdict())


def visit_counts(found: BoundedVisits, cells: VisitCells) -> ExactCounts:
    """Returns the exact count of each cell that is not empty."""
    match cells:
        case ClusterSeries():
            return ExactCounts.of_all((_shares(cells) @ found.series.T).ravel())
        case ClusterTotals():
            return ExactCounts.of_all(_shares(cells) @ found.series.sum(axis=0))
        case SiteHistogram():
            return ExactCounts.of_all(_by_circle(found, cells.circles).ravel())
        case ActivityHistogram():
            return ExactCounts.of_all(_by_class(found, cells.classes))
        case VisitTotal():
            return ExactCounts.of_all(np.array([found.total], dtype=np.int64))


def _by_circle(found: BoundedVisits, circles: int) -> IntArray:
    if circles == 1:
        return found.histogram
    _refuse_other_classes(circles, len(found.circles))
    return found.circles


def _by_class(found: BoundedVisits, classes: int) -> IntArray:
    _refuse_other_classes(classes, len(found.activity))
    return found.activity


def _refuse_other_classes(asked: int, counted: int) -> None:
    if asked != counted:
        raise PrivacyError(
            "People were told apart by other classes of activity than the query asks for.",
            advice="Ask with the limits that the engine was made with.",
        )


def _shares(cells: ClusterSeries | ClusterTotals) -> csr_array:
    cluster, site, parts = cells.parts
    shape = (int(cells.cluster.max()) + 1, cells.universe.site_count)
    return csr_array((parts, (cluster, site)), shape=shape, dtype=np.int64)


__all__ = ["ArrayVisits"]


class ArrayVisits:
    """Counts visits given as arrays, each person bounded. A `hushway.privacy.query.Counter`.

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

    Raises:
        DataError: The arrays do not fit each other or the universe.
    """

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
        self._universe = universe
        self._limits = limits
        owner = _whole(person, len(np.asarray(person)))
        places = _below(site, len(owner), universe.site_count)
        code = _below(bin, len(owner), universe.bins) * universe.site_count + places
        rows = VisitRows(owner=owner, code=code.astype(np.int32))
        self._found = bounded_rows([rows], VisitRule.of(universe, limits, key))

    @property
    def unit(self) -> Unit:
        """Who is protected: a person."""
        return Unit.PERSON

    def bound(self, query: Query) -> Bound:
        """Returns the bound that `count` enforces for this query."""
        return visit_bound(refuse_other_visits(query, self._universe), self._limits)

    def count(self, query: Query) -> ExactCounts:
        """Returns the exact bounded counts."""
        return visit_counts(self._found, refuse_other_visits(query, self._universe))


def _below(column: IntArray, length: int, size: int) -> IntArray:
    values = _whole(column, length)
    if length and not 0 <= values.min() <= values.max() < size:
        raise DataError(
            "An event is not among the sites or the periods.",
            advice="Give indexes of the universe's sites and periods, from 0.",
        )
    return values


def _whole(column: IntArray, length: int) -> IntArray:
    values = np.asarray(column)
    if values.shape != (length,) or values.dtype.kind not in "iu" or values.dtype == np.uint64:
        raise DataError(
            "The arrays of events must be one-dimensional, of whole numbers and of one length.",
            advice="Give one array of integers of at most 64 signed bits for each column.",
        )
    return np.ascontiguousarray(values, dtype=np.int64)
