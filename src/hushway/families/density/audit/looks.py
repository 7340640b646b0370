"""What anyone can see of a density, and what is left of it for an auditor who knows the rest."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushway.arrays import IntArray
from hushway.audit.agreement import Replayed
from hushway.audit.divergence import ORDERS, of_gaussians
from hushway.audit.harness import evidence, in_thousandths
from hushway.audit.law import gaussian
from hushway.audit.mutant_curators import dense
from hushway.families.density.audit.product import (
    CELLS,
    LONE_SITES,
    SITES,
    DensityStage,
    Stays,
    visits_in_memory,
)
from hushway.families.density.fit.table import DensityTable
from hushway.families.density.public.visits import (
    PERSON_PARTS,
    ActivityHistogram,
    ClusterSeries,
    ClusterTotals,
    SiteHistogram,
    VisitTotal,
)
from hushway.privacy.bound import Bound
from hushway.privacy.curator import Curator
from hushway.privacy.events import GaussianEvent
from hushway.privacy.measured import Measured
from hushway.privacy.query import Counter, Query
from hushway.privacy.randomness import os_source

_HUNDRED = 100
# As a plan without a histogram asks for them.
_PARTS_OF_TOTALS = 64

Direction = Mapping[tuple[int, int], int]
"""The weight of some (cell, bin) of a corner."""


@dataclass(frozen=True, kw_only=True)
class StagedLook:
    """A mechanism on its stage."""

    stage: DensityStage

    def measured(self, curator: Curator) -> list[Measured]:
        """Returns all noisy answers of one release."""
        answers = self.stage.mechanism.measure(curator, self.stage.district.universe)
        return [answer for answer in answers if isinstance(answer, Measured)]


@dataclass(frozen=True, kw_only=True)
class Projection(StagedLook):
    """The series of each corner in one number."""

    direction: Direction

    def seen(self, curator: Curator) -> IntArray:
        """Returns the weighted sum of noisy parts at each corner: best for Gaussian noise."""
        values = self._series(curator)
        total = np.zeros(len(values), dtype=np.int64)
        for (cell, when), weight in self.direction.items():
            total += weight * values[:, cell, when]
        return total

    def evidence(self, curator: Curator) -> IntArray:
        """Returns how much a corner speaks for a visit in each (cell, bin): Laplace noise."""
        (answer,) = self.measured(curator)
        values = self.stage.district.series_by_corner(answer.values)
        nearer = evidence(values, answer.event, self.stage.mechanism.quanta)
        return in_thousandths(sum(nearer[:, cell, when] for cell, when in self.direction))

    def _series(self, curator: Curator) -> IntArray:
        (answer,) = self.measured(curator)
        return self.stage.district.series_by_corner(answer.values)


@dataclass(frozen=True, kw_only=True)
class Questions:
    """Single questions, asked as often as the stage spends on."""

    stage: DensityStage

    def total(self, curator: Curator) -> IntArray:
        """Returns the noisy number of all visits, once for each repetition."""
        cells = VisitTotal(universe=self.stage.district.universe)
        query = Query(name=cells.name, cells=cells)
        answers = [curator.counts(query, self.stage.spend) for _ in range(self.stage.repeats)]
        return np.concatenate([answer.values for answer in answers])

    def first_cell(self, curator: Curator) -> IntArray:
        """Returns the noisy total of the first cell of each corner, in parts of a visit."""
        district = self.stage.district
        cells = ClusterTotals(
            universe=district.universe, cluster=district.every_cell, quanta=_PARTS_OF_TOTALS
        )
        answer = curator.counts(Query(name=cells.name, cells=cells), self.stage.spend)
        first: IntArray = answer.values.reshape(-1, CELLS)[:, 0]
        return first

    def first_site(self, curator: Curator) -> IntArray:
        """Returns the noisy number of people at the first site of each corner, in parts."""
        return np.concatenate([sites[:, 0] for sites in self._histograms(curator)])

    def all_sites(self, curator: Curator) -> IntArray:
        """Returns the noisy number of people at all sites of each corner, in parts."""
        return np.concatenate([sites.sum(axis=1) for sites in self._histograms(curator)])

    def first_site_in_circles(self, curator: Curator) -> IntArray:
        """Returns the noisy number of people at the first site of each corner, all circles."""
        circles = self.stage.limits.circles
        cells = SiteHistogram(universe=self.stage.district.universe, circles=circles)
        answer = curator.counts(Query(name=cells.name, cells=cells), self.stage.spend)
        people: IntArray = answer.values.reshape(circles, -1, SITES)[:, :, 0].sum(axis=0)
        return people

    def classes(self, curator: Curator) -> IntArray:
        """Returns the noisy number of people with one visit or with one in every bin."""
        fewest, bins = self.stage.limits.activity, self.stage.district.universe.bins
        cells = ActivityHistogram(universe=self.stage.district.universe, classes=len(fewest))
        query = Query(name=cells.name, cells=cells)
        busy = int(np.searchsorted(fewest, bins, side="right")) - 1
        answers = [curator.counts(query, self.stage.spend) for _ in range(self.stage.repeats)]
        return np.array([answer.values[0] + answer.values[busy] for answer in answers])

    def people(self, curator: Curator) -> IntArray:
        """Returns the noisy number of people of the whole district."""
        return np.array([sites.sum() for sites in self._histograms(curator)], dtype=np.int64)

    def _histograms(self, curator: Curator) -> list[IntArray]:
        cells = SiteHistogram(universe=self.stage.district.universe)
        query = Query(name=cells.name, cells=cells)
        return [
            curator.counts(query, self.stage.spend).values.reshape(-1, SITES)
            for _ in range(self.stage.repeats)
        ]


@dataclass(frozen=True, kw_only=True)
class Resident(StagedLook):
    """Histogram and series of each corner in one number: how much they speak for one person.

    Attributes:
        cell: Where the person is in the first bins, as many as count.
    """

    cell: int

    def seen(self, curator: Curator) -> IntArray:
        """Returns the weight of the evidence, in thousandths, up to a constant."""
        total = np.zeros(self.stage.district.corners)
        for answer in self.measured(curator):
            if isinstance(answer.query.cells, SiteHistogram):
                people = answer.values.reshape(-1, SITES)[:, LONE_SITES[self.cell]]
                total += evidence(people, answer.event, PERSON_PARTS)
            elif isinstance(answer.query.cells, ClusterSeries):
                series = self.stage.district.series_by_corner(answer.values)[:, self.cell]
                visits = series[:, : self.stage.limits.max_visits].sum(axis=1)
                total += evidence(visits, answer.event, answer.query.cells.quanta)
        return in_thousandths(total)


@dataclass(frozen=True, kw_only=True)
class Merged(StagedLook):
    """Which cells a release merges."""

    def seen(self, curator: Curator) -> IntArray:
        """Returns the clusters of all cells as one number."""
        cells = self.measured(curator)[-1].query.cells
        assert isinstance(cells, ClusterSeries)  # noqa: S101  the last question
        base = len(cells.cluster) ** np.arange(len(cells.cluster))
        return np.array([cells.cluster @ base], dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class Published(StagedLook):
    """The published table of a release."""

    area: int

    def area_total(self, curator: Curator) -> IntArray:
        """Returns the published visits of an area over all bins, in hundredths."""
        total = self.table(curator).counts[self.area].sum()
        return np.rint([_HUNDRED * total]).astype(np.int64)

    def table(self, curator: Curator) -> DensityTable:
        """Returns the table."""
        universe = self.stage.district.universe
        return self.stage.mechanism.fit(self.measured(curator), universe)


# What is left of noisy answers when all that an auditor knows is taken away: the noise alone.
#
# The auditor knows everybody but one person. Nobody has more events than count, so nothing is left
# to chance but the noise, and clusters that follow from it.

# Evidence is a real number; outcomes of runs are whole ones.
_ANY = Bound(cells=1, each=1, total=1)


@dataclass(frozen=True, kw_only=True)
class Known(StagedLook):
    """Answers of a release, less what the auditor knows.

    Attributes:
        others: The events of everybody else.
    """

    others: Stays

    def unknown(self, answer: Measured) -> IntArray:
        """Returns an answer, less the exact counts of the others."""
        left: IntArray = answer.values - self._counted(self._crowd, answer)
        return left

    @cached_property
    def paid(self) -> dict[str, GaussianEvent]:
        """What a plan spends on each question, whatever the audited mechanism says that it does."""
        planned = self.stage.make(self.stage.limits, self.stage.spend)
        events = planned.events(self.stage.district.universe, _ANY)
        return {event.query: event for event in events if isinstance(event, GaussianEvent)}

    @staticmethod
    def _counted(people: Counter, answer: Measured) -> IntArray:
        assert isinstance(answer.query, Query)  # noqa: S101  what these stages ask
        return dense(people.count(answer.query), answer.query)

    def _people(self, stays: Stays) -> Counter:
        return visits_in_memory(self.stage.district.play(stays), self.stage.terms, os_source())

    @cached_property
    def _crowd(self) -> Counter:
        return self._people(self.others)


@dataclass(frozen=True, kw_only=True)
class Evidence(Known):
    """How much the answers of a release speak for one person."""

    stays: Stays

    def seen(self, curator: Curator) -> IntArray:
        """Returns the evidence of each question and of all together, in thousandths: one run."""
        parts = [self._evidence(answer) for answer in self.measured(curator)]
        return in_thousandths([[*parts, sum(parts)]])

    def divergence(self, curator: Curator) -> dict[float, float]:
        """Returns how far all answers diverge without the person, given what each says of itself.

        Where an answer says nothing of Gaussian noise, nothing is certain but the worst.
        """
        found = dict.fromkeys(ORDERS, 0.0)
        for answer in self.measured(curator):
            moved = self._counted(self._alone, answer)
            for order in ORDERS:
                found[order] += (
                    of_gaussians(moved, answer.event.sigma_squared, order)
                    if isinstance(answer.event, GaussianEvent)
                    else np.inf
                )
        return found

    def _evidence(self, answer: Measured) -> float:
        moved = self._counted(self._alone, answer)
        sigma_squared = float(self.paid[answer.query.name].sigma_squared)
        return float(moved @ self.unknown(answer)) / sigma_squared

    @cached_property
    def _alone(self) -> Counter:
        return self._people(self.stays)


@dataclass(frozen=True, kw_only=True)
class Spread(Known):
    """How wide the noise of each question is."""

    def squares(self, curator: Curator) -> IntArray:
        """Returns the mean square of each question's noise, in thousandths of what it should be.

        One run has a column for each question.
        """
        found = [
            float(np.mean(self.unknown(answer).astype(np.float64) ** 2))
            / self._variance[answer.query.name]
            for answer in self.measured(curator)
        ]
        return in_thousandths([found])

    @cached_property
    def _variance(self) -> dict[str, float]:
        return {name: gaussian(event.sigma_squared).variance for name, event in self.paid.items()}


@dataclass(frozen=True, kw_only=True)
class NextClusters(StagedLook):
    """The clusters that are asked about, given the same noisy totals and other data."""

    others: Stays

    def differ(self, curator: Curator) -> IntArray:
        """Returns for each corner how many of its cells are in another cluster."""
        answers = self.measured(curator)
        again = Replayed(self.stage.opened(self.others), answers)
        self.stage.mechanism.measure(again, self.stage.district.universe)
        one, other = (_clusters(query) for query in (answers[-1].query, again.asked[-1][0]))
        differences: IntArray = (one != other).reshape(-1, CELLS).sum(axis=1)
        return differences


def _clusters(query: object) -> IntArray:
    assert isinstance(query, Query)  # noqa: S101  what a density asks
    assert isinstance(query.cells, ClusterSeries)  # noqa: S101  the last question
    return query.cells.cluster
