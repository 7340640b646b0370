"""Whether a visit is one visit, however the ground of its site is cut up: checked exactly."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hushway.arrays import IntArray
from hushway.audit.agreement import AlwaysSame
from hushway.audit.harness import Examination
from hushway.families.density.audit.product import DensityProduct, VisitTerms
from hushway.families.density.audit.toy import CELLS, SITES, District, StayRows, district
from hushway.families.density.public.visits import ClusterSeries, VisitLimits
from hushway.privacy.query import Query
from hushway.privacy.randomness import os_source

_DISTRICT = district(corners=50, bins=6)
_LIMITS = VisitLimits(max_visits=4, most_counted=4)
# Numbers of parts that thirds divide badly, and one that cannot be divided at all.
_QUANTA = (1024, 1000, 7, 1)


def one_visit_is_one(product: DensityProduct, epsilon: Fraction) -> Examination:
    """A visit at any site moves all cells together by exactly one visit."""
    return AlwaysSame(
        name="cover: a visit is one visit, at every site",
        statistic="visits at sites of all kinds whose parts do not sum to one visit",
        epsilon=epsilon,
        sample=WholeVisits(product=product, district=_DISTRICT).differ,
    )


@dataclass(frozen=True, kw_only=True)
class WholeVisits:
    """How far visits at different sites are from one visit, as the engine counts them."""

    product: DensityProduct
    district: District

    def differ(self, runs: int) -> IntArray:
        """Returns parts by which a visit differs from a whole one, over and over again."""
        found = [self.of_site(site, quanta) for site in range(SITES) for quanta in _QUANTA]
        return np.resize(np.concatenate(found), runs)

    def of_site(self, site: int, quanta: int) -> IntArray:
        """Returns by how many parts all cells of a corner move, less those of one visit."""
        universe, corners = self.district.universe, self.district.corners
        corner = np.arange(corners, dtype=np.int64)
        rows = StayRows(person=corner, site=corner * SITES + site, bin=corner % universe.bins)
        terms = VisitTerms(universe=universe, limits=_LIMITS)
        cells = ClusterSeries(universe=universe, cluster=self.district.every_cell, quanta=quanta)
        counter = self.product.counter(rows, terms, os_source())
        exact = counter.count(Query(name=cells.name, cells=cells))
        moved = np.zeros(corners, dtype=np.int64)
        np.add.at(moved, exact.cells // (CELLS * universe.bins), np.abs(exact.values))
        return moved - quanta
