"""What anyone can see of a density: its noisy answers at each corner, and the published table."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hushway.arrays import IntArray
from hushway.audit.harness import evidence, in_thousandths
from hushway.families.density.audit.product import CELLS, LONE_SITES, SITES, DensityStage
from hushway.families.density.mechanism.fit import DensityTable
from hushway.families.density.public.visits import (
    ClusterSeries,
    ClusterTotals,
    SiteHistogram,
    VisitTotal,
)
from hushway.privacy.curator import Curator
from hushway.privacy.measured import Measured
from hushway.privacy.query import Query

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
    """The series of each corner in one number.

    Attributes:
        direction: What is looked for.
    """

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
    """Single questions, asked as often as the stage pays for."""

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
        """Returns the noisy number of people at the first site of each corner."""
        return np.concatenate([sites[:, 0] for sites in self._histograms(curator)])

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
                total += evidence(people, answer.event, 1)
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
    """The published table of a release.

    Attributes:
        area: The area that is looked at.
    """

    area: int

    def area_total(self, curator: Curator) -> IntArray:
        """Returns the published visits of an area over all bins, in hundredths."""
        total = self.table(curator).counts[self.area].sum()
        return np.rint([_HUNDRED * total]).astype(np.int64)

    def table(self, curator: Curator) -> DensityTable:
        """Returns the table."""
        universe = self.stage.district.universe
        return self.stage.mechanism.fit(self.measured(curator), universe)
