"""Bounded visits of people, and the counts of a query's cells that follow from them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array

from hushway.arrays import Int32Array, IntArray
from hushway.engine.counting import BoundedCounter, index_column, is_same, other_cells, whole_column
from hushway.engine.key import BoundingKey
from hushway.errors import DataError, PrivacyError
from hushway.families.density.public.visits import (
    ACTIVITY,
    ActivityHistogram,
    ClusterSeries,
    ClusterTotals,
    DensityUniverse,
    LeftOutVisits,
    SiteHistogram,
    VisitCells,
    VisitLadder,
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
# among the sites of all visits, in a class of people as busy as that. Visits have ranks in an order
# of the person's own; those of low ranks enter the series, only the first of each bin if it is to
# have one for each; those of more ranks enter a total, and sums of what the series leaves out.

_Add = Callable[[int, int, Sums], None]


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
    ladder: VisitLadder
    key: BoundingKey

    @classmethod
    def of(cls, universe: DensityUniverse, ladder: VisitLadder, key: BoundingKey) -> "VisitRule":
        """Returns the rule for the sites and bins of a universe."""
        return cls(sites=universe.site_count, bins=universe.bins, ladder=ladder, key=key)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BoundedVisits:
    """What was counted, exactly. Private: for a counter's answers to a curator only.

    Attributes:
        series: Visits by (bin, site).
        circles: People by (circle, site), each shared among sites in `PERSON_PARTS` parts.
        ranked: Visits by bin, each person's cut off, in the series or not.
    """

    series: IntArray
    circles: IntArray
    activity: IntArray
    ranked: IntArray

    @property
    def histogram(self) -> IntArray:
        """People by site, each shared among sites in `PERSON_PARTS` parts."""
        return np.asarray(self.circles.sum(axis=0))

    @property
    def total(self) -> int:
        """All visits, each person's cut off."""
        return int(self.ranked.sum())

    def left_out(self, parts: int) -> IntArray:
        """Returns visits that the series leaves out, by period of the day."""
        missing = self.ranked - self.series.sum(axis=1)
        return np.asarray(missing.reshape(-1, parts).sum(axis=0))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RankedVisits:
    """What was counted for every limit of a ladder, exactly. Private, as `BoundedVisits`.

    Attributes:
        series: Visits that may be in the series, by (step of their rank, bin, site).
        people: People by (class of activity, site), each shared among sites.
        ranked: All visits by (step of their rank, bin).
    """

    ladder: VisitLadder
    series: IntArray
    people: IntArray
    activity: IntArray
    ranked: IntArray

    def within(self, limits: VisitLimits) -> BoundedVisits:
        """Returns what counts within some limits.

        Raises:
            PrivacyError: They are not on the ladder.
        """
        ladder = self.ladder
        ladder.check(limits)
        steps = ladder.visits.index(limits.max_visits) + 1
        ranks = ladder.in_total.index(limits.max_visits_in_total) + 1
        circles = np.zeros((limits.circles, self.people.shape[1]), dtype=np.int64)
        np.add.at(circles, limits.circle, self.people)
        return BoundedVisits(
            series=self.series[:steps].sum(axis=0),
            circles=circles,
            activity=self.activity,
            ranked=self.ranked[:ranks].sum(axis=0),
        )


def ranked_rows(rows: Sequence[VisitRows], rule: VisitRule, threads: int = 1) -> RankedVisits:
    """Returns the ranked visits of rows in any order, whose owners are their own salts.

    The answer is the same for any number of threads.

    Privacy:
        What is kept of a person depends on that person's rows and number and on the key. Rows are
        brought together by comparing owners exactly.
    """
    parts, limits = partitioned(rows, threads), _limits(rule)

    def add(first: int, last: int, sums: Sums) -> None:
        add_partitions(parts.owner, parts.code, parts.start[first : last + 1], limits, sums)

    return _summed(add, parts.start, rule, threads)


def ranked_people(people: PeopleVisits, rule: VisitRule, threads: int = 1) -> RankedVisits:
    """Returns the ranked visits of people whose rows are together; the same for any threads.

    Privacy:
        What is kept of a person depends on that person's rows and salt and on the key.
    """
    limits = _limits(rule)

    def add(first: int, last: int, sums: Sums) -> None:
        start, salt = people.start[first : last + 1], people.salt[first:last]
        add_people(start, people.code, salt, limits, sums)

    return _summed(add, people.start, rule, threads)


def _limits(rule: VisitRule) -> Limits:
    # More than 64 bits would not pass, and more than all visits there can be changes nothing.
    every, ladder = rule.sites * rule.bins, rule.ladder
    visits, in_total = (
        np.array([min(limit, every) for limit in limits], dtype=np.int64)
        for limits in (ladder.visits, ladder.in_total)
    )
    coefficients = np.array(rule.key.coefficients, dtype=np.int64)
    fewest = np.array(ACTIVITY, dtype=np.int64)
    return rule.sites, rule.bins, ladder.one_in_a_bin, visits, in_total, fewest, coefficients


def _summed(add: _Add, start: IntArray, rule: VisitRule, threads: int) -> RankedVisits:
    """Adds up stretches of people, or of parts, with about as many rows each."""

    def one(stretch: tuple[int, int]) -> Sums:
        sums = _zeros(rule)
        add(*stretch, sums)
        return sums

    wanted = np.linspace(0, start[-1], threads + 1)[1:-1]
    cuts = np.unique([0, *np.searchsorted(start, wanted).tolist(), len(start) - 1]).tolist()
    sums = _zeros(rule)
    for some in in_threads(one, list(pairwise(cuts)), threads):
        for whole, part in zip(sums, some, strict=True):
            np.add(whole, part, out=whole)
    return ranked_visits(sums, rule)


def ranked_visits(sums: Sums, rule: VisitRule) -> RankedVisits:
    """Returns flat sums as what they are sums of."""
    series, people, activity, ranked = sums
    return RankedVisits(
        ladder=rule.ladder,
        series=series.reshape(-1, rule.bins, rule.sites),
        people=people.reshape(-1, rule.sites),
        activity=activity,
        ranked=ranked.reshape(-1, rule.bins),
    )


def sizes_of(rule: VisitRule) -> tuple[int, int, int, int]:
    """Returns how many numbers each of the sums has."""
    ladder, classes = rule.ladder, len(ACTIVITY)
    return (
        len(ladder.visits) * rule.bins * rule.sites,
        classes * rule.sites,
        classes,
        len(ladder.in_total) * rule.bins,
    )


def _zeros(rule: VisitRule) -> Sums:
    series, people, activity, ranked = (np.zeros(size, np.int64) for size in sizes_of(rule))
    return series, people, activity, ranked


# A gigabyte of counts for each thread.
_MOST_CELLS = 1 << 27


class VisitCounter(BoundedCounter[VisitCells]):
    """Answers queries over visits of one universe, each person bounded.

    Attributes:
        limits: How much of one person counts, unless a question says it.
        ladder: The limits that questions may ask for; without it, `limits`.
    """

    universe: DensityUniverse
    limits: VisitLimits
    ladder: VisitLadder | None
    found: RankedVisits

    @property
    def offered(self) -> VisitLadder:
        """The limits that questions may ask for."""
        return self.ladder or self.limits.ladder

    def asked(self, query: Query) -> VisitCells:
        """Returns the query's cells."""
        cells = query.cells
        if not isinstance(cells, VisitCells) or not is_same(cells.universe, self.universe):
            raise other_cells("visits of the universe")
        return cells

    def bound_of(self, cells: VisitCells) -> Bound:
        """Returns how far one person moves an answer."""
        return Bound(**cells.reach(self._limits_of(cells))._asdict())

    def counts_of(self, cells: VisitCells) -> ExactCounts:
        """Returns the exact bounded counts."""
        return visit_counts(self.found.within(self._limits_of(cells)), cells)

    def _limits_of(self, cells: VisitCells) -> VisitLimits:
        asked = None if isinstance(cells, ActivityHistogram) else cells.limits
        if asked is None:
            return self.limits
        self.offered.check(asked)
        return asked


def refuse_too_many_cells(universe: DensityUniverse, ladder: VisitLadder) -> None:
    """Refuses a universe whose visits cannot be counted in memory."""
    if len(ladder.visits) * universe.site_count * universe.bins > _MOST_CELLS:
        raise DataError(
            f"There are more than {_MOST_CELLS:,} pairs of a site and a period, once for each "
            "limit to choose from.",
            advice="Choose a shorter window, longer periods or fewer sites, or give max_visits a "
            "number.",
        )


def visit_counts(  # noqa: PLR0911  one for each kind of question
    found: BoundedVisits, cells: VisitCells
) -> ExactCounts:
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
        case LeftOutVisits():
            return ExactCounts.of_all(found.left_out(cells.size))


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
        At most `max_visits` of each person count, one of a bin if so asked; the choice reads that
        person's visits, that person's code and the key alone.

    Args:
        limits: How much of one person counts, unless a question says it.
        ladder: The limits that questions may ask for; without it, `limits`.
        person: Code of each event's person, a whole number of 64 bits.
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
        ladder: VisitLadder | None = None,
    ) -> None:
        self.universe, self.limits, self.ladder = universe, limits, ladder
        refuse_too_many_cells(universe, self.offered)
        owner = whole_column(person, len(np.asarray(person)), "events")
        places = index_column(site, len(owner), universe.site_count, "events")
        code = index_column(bin, len(owner), universe.bins, "events") * universe.site_count
        rows = VisitRows(owner=owner, code=(code + places).astype(np.int32))
        self.found = ranked_rows([rows], VisitRule.of(universe, self.offered, key))
