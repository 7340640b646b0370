"""Bounded visits that mechanisms are tried on, and what areas truly hold."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import sparse

from hushway.arrays import FloatArray, IntArray
from hushway.families.density.mechanism.people import DensityPeople
from hushway.families.density.mechanism.series import DensitySeries
from hushway.families.density.public.visits import DensityUniverse, VisitLadder, VisitLimits
from hushway.families.density.rows.counts import BoundedVisits, RankedVisits, VisitCounter
from hushway.privacy.accounting import budget_limit_for
from hushway.privacy.bound import Unit
from hushway.privacy.curator import Curator
from hushway.privacy.loss import ZCDPLoss
from hushway.privacy.randomness import SeededSource
from hushway.release.forecast.study_budget import StudyBudget
from hushway.release.mechanism import Measurements


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BoundedCity(VisitCounter):
    """Visits that were cut down once and are counted again and again.

    The rule and the arithmetic are those of a release, but the key is drawn once for all runs of a
    study: cutting 27 million visits down takes longer than all other steps of a run.
    """

    universe: DensityUniverse
    limits: VisitLimits
    found: RankedVisits
    ladder: VisitLadder | None = None
    unit = Unit.PERSON

    @property
    def bounded(self) -> BoundedVisits:
        """What counts within the limits."""
        return self.found.within(self.limits)

    def measured(self, mechanism: DensitySeries | DensityPeople, seed: int) -> Measurements:
        """Asks all questions of a mechanism, as a release would; noise comes from the seed."""
        curator = Curator(counter=self, budget=StudyBudget(), source=SeededSource(seed))
        return mechanism.measure(curator, self.universe)


def budget_of(epsilon: str, delta: str) -> ZCDPLoss:
    """Returns the most zCDP that is (epsilon, delta)-DP."""
    return budget_limit_for(Fraction(epsilon), Fraction(delta))


def area_truth(universe: DensityUniverse, visits: FloatArray | IntArray) -> FloatArray:
    """Returns the visits of every area in every bin: formula (1) of the paper.

    Visits by (site, bin) are shared among areas by how much of a site's cell lies in each.
    """
    area, site, share = universe.cover.site_shares()
    shares = sparse.csr_array(
        (share, (area, site)), shape=(len(universe.areas), universe.site_count)
    )
    return np.asarray(shares @ visits.astype(np.float64))
