"""The public universe of a density, and what can be asked about visits in it.

A visit is a person seen at a site in a bin of time. A person's visits are cut down to `max_visits`
in all, and to one for each bin where noise is Gaussian; besides, each person is shared among the
sites of all their visits, in whole parts of one person; the number of visits of each is cut off at
`max_visits_in_total`, and people are counted by how many visits they have. Visits that the series
leaves out are counted by period of the day.
"""

from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import ClassVar, Final

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import GeographyError, PrivacyError
from hushway.families.density.public.cover import Cover
from hushway.geography.areas import Areas
from hushway.geography.locations import Locations
from hushway.geography.period_words import counted_text
from hushway.geography.periods import Periods
from hushway.geography.service_day import DayType
from hushway.privacy.bound import Reach
from hushway.privacy.public_facts import digest_of, public_facts


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class Sites:
    """The public places that events name, and the site that each belongs to.

    Attributes:
        locations: Every place that an event may name, such as a phone tower.
        site: The site of each; -1 if it is left out. Towers at one point are one site.
    """

    locations: Locations
    site: IntArray

    @cached_property
    def digest(self) -> str:
        """A digest of the places and of their sites."""
        return digest_of({"locations": self.locations.digest, "site": self.site.tolist()})


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class DensityUniverse:
    """All that is public about a density before anything is measured.

    Attributes:
        periods: The bins of time: with the cycle "window" every bin of the window by itself, with
            the cycle "week" the bins of a week that all weeks of the window are laid over.
        sites: Where people are seen; None if events carry positions, then every area is a site.
        cover: The cells of sites and areas that are measured.
        average_types: Types of days of which an average day is published, if any.
        holidays: Days that run like holidays for these types, ascending.
    """

    areas: Areas
    periods: Periods
    sites: Sites | None
    cover: Cover
    average_types: tuple[DayType, ...] = ()
    holidays: tuple[date, ...] = ()
    name: ClassVar[str] = "visits by (area, period)"

    def __post_init__(self) -> None:
        pieces = self.cover.pieces
        sites = len(self.areas) if self.sites is None else int(self.sites.site.max()) + 1
        if pieces.areas != len(self.areas) or pieces.sites != sites:
            raise GeographyError(
                "The cover was made for other sites or areas.",
                advice="Make the cover from the same lists.",
            )
        if self.periods.cycle == "day":
            raise GeographyError(
                "A density counts every period of its window by itself, or every period of the "
                "week.",
                advice='Give periods with cycle = "window" or "week".',
            )
        if self.average_types and self.periods.cycle != "window":
            raise GeographyError(
                "A visitor counts once in all weeks that are laid over each other, so that there "
                "is no average of days.",
                advice='Give periods with cycle = "window", or publish no average day.',
            )
        # Refuses types that have no day in the window.
        _ = self.averages

    @cached_property
    def averages(self) -> Periods | None:
        """The periods of an average day of each type, if such are published."""
        if not self.average_types:
            return None
        return replace(
            self.periods,
            cycle="day_type",
            day_types=self.average_types,
            holidays=self.holidays,
            average=True,
        )

    @property
    def bins(self) -> int:
        """Number of bins of time."""
        return len(self.periods)

    @property
    def counted(self) -> str:
        """Which days a count is of, in words: weeks are laid over each other before counting."""
        if self.averages is not None:
            return f"{counted_text(self.averages)}, beside each day by itself"
        return counted_text(self.periods, together="once per visitor over")

    @property
    def site_count(self) -> int:
        """Number of sites."""
        return self.cover.pieces.sites

    @property
    def size(self) -> int:
        """Number of published cells."""
        return len(self.areas) * self.bins

    @cached_property
    def digest(self) -> str:
        """A digest of the areas, the bins and the sites."""
        # Only where it says something: releases of earlier versions must keep their digest.
        averages = {} if self.averages is None else {"averages": self.averages.digest}
        return digest_of(
            {
                **averages,
                "areas": self.areas.digest,
                "periods": self.periods.digest,
                "sites": None if self.sites is None else self.sites.digest,
                "cover": [self.cover.member.tolist(), np.flatnonzero(self.cover.is_site).tolist()],
            }
        )


# Parts that a person is cut into for the histogram of sites: more than nearly anybody has visits.
PERSON_PARTS: Final = 1 << 10
# The fewest visits of each class of activity; the last class has no end.
ACTIVITY: Final = (1, *(step << shift for shift in range(13) for step in (2, 3)))
# A circle's people have about this many times the visits of those in the circle before it.
_BUSIER = 4
_MOST_CIRCLES = 6


@public_facts
@dataclass(frozen=True, kw_only=True)
class VisitLimits:
    """How much of one person counts: public numbers that an engine enforces.

    Attributes:
        max_visits_in_total: Most visits of one person in the total.
        one_in_a_bin: Whether visits in the series are each in a bin of its own, which keeps
            Gaussian noise small; Laplace noise gains nothing by it.
    """

    max_visits: int
    max_visits_in_total: int
    one_in_a_bin: bool = True

    def __post_init__(self) -> None:
        if not all(type(n) is int and n >= 1 for n in (self.max_visits, self.max_visits_in_total)):
            raise GeographyError(
                "Limits of visits must be whole numbers, at least 1.",
                advice="Let every person count with at least one visit.",
            )

    @property
    def ladder(self) -> "VisitLadder":
        """These limits and no others."""
        return VisitLadder(
            visits=(self.max_visits,),
            in_total=(self.max_visits_in_total,),
            one_in_a_bin=self.one_in_a_bin,
        )

    def of_a_person(self, universe: DensityUniverse) -> int:
        """Returns the most visits of one person in the series of a universe."""
        return min(self.max_visits, universe.bins) if self.one_in_a_bin else self.max_visits

    @cached_property
    def activity(self) -> IntArray:
        """The fewest visits of each class of activity."""
        return np.array(ACTIVITY, dtype=np.int64)

    @cached_property
    def circle(self) -> IntArray:
        """The circle of people that each class of activity belongs to, numbered from 0.

        The first circle are people of whom nearly all counts; the others are so much busier, as far
        as there are classes. If the total counts no more of a person than the series does, nobody
        is said to be busy, and all are one circle.
        """
        steps = range(_MOST_CIRCLES - 1 if self.max_visits < self.max_visits_in_total else 0)
        ends = [self.max_visits * _BUSIER**step for step in steps]
        ends = [end for end in ends if end < self.activity[-1]]
        return np.searchsorted(np.array(ends, dtype=np.int64), self.activity, side="left")

    @property
    def circles(self) -> int:
        """Number of circles."""
        return int(self.circle[-1]) + 1


@dataclass(frozen=True, kw_only=True)
class VisitLadder:
    """The limits that one pass over rows can answer for.

    Attributes:
        visits: Ascending numbers of visits of one person in the series.
        in_total: Likewise in the total and in sums of what the series leaves out.
        one_in_a_bin: Whether visits in the series are each in a bin of its own.
    """

    visits: tuple[int, ...]
    in_total: tuple[int, ...]
    one_in_a_bin: bool

    def check(self, limits: VisitLimits) -> None:
        """Refuses limits that are not on the ladder.

        Raises:
            PrivacyError: They are not, so that nobody would be bounded by them.
        """
        offered = limits.max_visits in self.visits and limits.max_visits_in_total in self.in_total
        if not offered or limits.one_in_a_bin != self.one_in_a_bin:
            raise PrivacyError(
                "This engine does not bound people by these limits.",
                advice="Ask for limits that it was made with.",
            )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Clustered:
    """Visits by clusters of cells of the cover, in whole parts of a visit.

    Attributes:
        cluster: The cluster of each cell of the cover, numbered from 0 without gaps.
        quanta: Parts that a visit is cut into.
        limits: How much of one person counts; None for what the counter is made for.
    """

    universe: DensityUniverse
    cluster: IntArray
    quanta: int
    limits: VisitLimits | None = None

    def __post_init__(self) -> None:
        cluster = self.cluster
        whole = cluster.dtype == np.int64 and cluster.shape == (len(self.universe.cover),)
        if not whole or not np.array_equal(np.unique(cluster), np.arange(cluster.max() + 1)):
            raise GeographyError(
                "Clusters must be numbered from 0 without gaps, one for each cell of the cover.",
                advice="Report this as a bug.",
            )

    @cached_property
    def clusters(self) -> int:
        """Number of clusters."""
        return int(self.cluster.max()) + 1

    @cached_property
    def digest(self) -> str:
        """A digest of the universe, the clusters and the quanta."""
        facts = {
            "universe": self.universe.digest,
            "cluster": self.cluster.tolist(),
            "quanta": self.quanta,
            "limits": str(self.limits),
        }
        return digest_of({**facts, "kind": type(self).__name__})

    @cached_property
    def parts(self) -> tuple[IntArray, IntArray, IntArray]:
        """How a visit at a site is shared: (cluster, site, parts), one entry for each pair.

        Privacy:
            The parts of every site sum to exactly `quanta`.
        """
        return _parts(self.universe, self.cluster, self.quanta)

    def _touched(self, limits: VisitLimits) -> tuple[int, int]:
        """Returns the most visits of one person, and the most cells that these touch."""
        most = limits.of_a_person(self.universe)
        _, site, _ = self.universe.cover.quantised(self.quanta)
        return most, most * int(np.bincount(site).max())


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class ClusterSeries(_Clustered):
    """Visits by (cluster, bin). Cell number = cluster * bins + bin."""

    name: ClassVar[str] = "visits by (cluster, period)"

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.clusters * self.universe.bins

    def reach(self, limits: VisitLimits) -> Reach:
        """Returns how far one person moves the series.

        Privacy:
            All cells together move by at most `max_visits` visits. Where a person is in one place
            in each bin, a (cluster, bin) moves by at most one; a visit touches at most as many
            clusters as its site is shared among cells of the cover. The squares then sum to at most
            max_visits * quanta^2. None of that depends on how cells are clustered.
        """
        most, cells = self._touched(limits)
        each = 1 if limits.one_in_a_bin else most
        return Reach(cells=cells, each=each * self.quanta, total=most * self.quanta)


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class ClusterTotals(_Clustered):
    """Visits by cluster over the whole window. Cell = cluster."""

    name: ClassVar[str] = "visits by cluster"

    @property
    def size(self) -> int:
        """Number of clusters."""
        return self.clusters

    def reach(self, limits: VisitLimits) -> Reach:
        """Returns how far one person moves the totals: all visits may fall into one cluster."""
        most, cells = self._touched(limits)
        return Reach(cells=cells, each=most * self.quanta, total=most * self.quanta)


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class SiteHistogram:
    """Each person by circle, shared among sites by all visits. Cell = circle * sites + site.

    A person with four visits, three of them at one site, is there with three quarters of
    `PERSON_PARTS`, whatever the bins. So nothing is left to the draw of a visit.

    Attributes:
        circles: Into how many circles people are told apart by their activity; 1 for not at all.
        limits: By which circles are made; None for what the counter is made for.
    """

    universe: DensityUniverse
    circles: int = 1
    limits: VisitLimits | None = None
    name: ClassVar[str] = "visitors by site, in parts"

    @property
    def size(self) -> int:
        """Number of sites, once for each circle."""
        return self.circles * self.universe.site_count

    @cached_property
    def digest(self) -> str:
        """A digest of the universe and of the number of circles."""
        facts = {"universe": self.universe.digest, "kind": "histogram", "circles": self.circles}
        return digest_of({**facts, "limits": str(self.limits)})

    def reach(self, _limits: VisitLimits) -> Reach:
        """Returns how far one person moves the histogram.

        Privacy:
            A person is cut into `PERSON_PARTS` parts, none of them negative, all of one circle. So
            the changes sum to that number, and their squares to its square at most: when all visits
            were at one site.
        """
        cells = min(self.universe.site_count, PERSON_PARTS)
        return Reach(cells=cells, each=PERSON_PARTS, total=PERSON_PARTS)


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class ActivityHistogram:
    """People by class of activity: by how many visits they have. Cell = class."""

    universe: DensityUniverse
    classes: int
    name: ClassVar[str] = "visitors by number of visits"

    @property
    def size(self) -> int:
        """Number of classes."""
        return self.classes

    @cached_property
    def digest(self) -> str:
        """A digest of the universe and of the number of classes."""
        facts = {"universe": self.universe.digest, "kind": "activity", "classes": self.classes}
        return digest_of(facts)

    def reach(self, _limits: VisitLimits) -> Reach:
        """Returns how far one person moves the histogram: one class, by one."""
        return Reach(cells=1, each=1, total=1)


@dataclass(frozen=True, kw_only=True, eq=False)
class _CutOff:
    """Sums of visits over the window, each person's cut off."""

    universe: DensityUniverse
    limits: VisitLimits | None = None
    kind: ClassVar[str]

    @cached_property
    def digest(self) -> str:
        """A digest of the universe and of the limits."""
        facts = {"universe": self.universe.digest, "kind": self.kind, "limits": str(self.limits)}
        return digest_of(facts)


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class VisitTotal(_CutOff):
    """All visits of the window as one number, each person's cut off."""

    kind: ClassVar[str] = "total"
    name: ClassVar[str] = "all visits"
    size: ClassVar[int] = 1

    def reach(self, limits: VisitLimits) -> Reach:
        """Returns how far one person moves the total."""
        most = limits.max_visits_in_total
        return Reach(cells=1, each=most, total=most)


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class LeftOutVisits(_CutOff):
    """Visits that the series leaves out, by period of the day. Cell = period of the day."""

    kind: ClassVar[str] = "left out"
    name: ClassVar[str] = "visits that the series leaves out, by period of the day"

    @property
    def size(self) -> int:
        """Number of periods of a day."""
        return self.universe.periods.parts

    def reach(self, limits: VisitLimits) -> Reach:
        """Returns how far one person moves these counts.

        Privacy:
            Visits of a person have ranks from 0 on, and those below `max_visits_in_total` count
            here unless the series has them. The series has those below `max_visits`; where it has
            one for each bin, it has the visit of rank 0 at least.
        """
        held = 1 if limits.one_in_a_bin else limits.max_visits
        most = max(limits.max_visits_in_total - held, 1)
        return Reach(cells=min(most, self.size), each=most, total=most)


VisitCells = (
    ClusterSeries | ClusterTotals | SiteHistogram | ActivityHistogram | VisitTotal | LeftOutVisits
)


def _parts(
    universe: DensityUniverse, cluster: IntArray, quanta: int
) -> tuple[IntArray, IntArray, IntArray]:
    cell, site, parts = universe.cover.quantised(quanta)
    clusters = int(cluster.max()) + 1
    pairs, inverse = np.unique(site * clusters + cluster[cell], return_inverse=True)
    sums = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(sums, inverse, parts)
    of_site, of_cluster = np.divmod(pairs, clusters)
    if (np.bincount(of_site, weights=sums, minlength=universe.site_count) != quanta).any():
        raise GeographyError(
            "The parts of a visit do not add up to one visit.", advice="Report this as a bug."
        )
    return of_cluster, of_site, sums
