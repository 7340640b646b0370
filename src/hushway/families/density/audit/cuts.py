"""What the cuts of series must not give away, chosen by the exponential mechanism.

Twenty-four visits of one person, six in each of four cells. A crowd makes each cell undecided
between keeping few cosines and keeping many, where one person matters most. The chances of all cuts
follow from the scores and the rate, so nothing about them is left to runs but whether the cuts are
drawn by these chances.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.audit.claims import claim_of, rho_of
from hushway.audit.exact import dense
from hushway.audit.harness import Examination, World
from hushway.audit.noise import DELTA
from hushway.families.density.audit.cuts_law import CutsCheck
from hushway.families.density.audit.looks import StagedLook
from hushway.families.density.audit.product import (
    DensityProduct,
    DensityStage,
    VisitTerms,
    visits_in_memory,
)
from hushway.families.density.audit.toy import CELLS, LONE_SITES, Stay, Stays, district
from hushway.families.density.mechanism.catalogue import density_series
from hushway.families.density.mechanism.series import DensitySeries
from hushway.families.density.mechanism.spends import Shares
from hushway.families.density.public.visits import ClusterSeries, VisitLimits
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import noise_for
from hushway.privacy.curator import Curator
from hushway.privacy.cuts import CutQuery, noise_of
from hushway.privacy.events import CutEvent
from hushway.privacy.loss import Loss, ZCDPLoss
from hushway.privacy.query import Query
from hushway.privacy.randomness import os_source

_BINS = 24
_DAY = district(corners=20, bins=_BINS)
_CORNER = district(corners=1, bins=_BINS)
_LIMITS = VisitLimits(max_visits=_BINS, most_counted=_BINS)
_SHARES = Shares(cuts=Fraction(4, 5))
_LARGEST_CROWD = 200
_SELDOM = Fraction(1, 20)


def four_cells(product: DensityProduct, epsilon: Fraction) -> Examination:
    """Six visits in each of four cells: the cuts of all cells together keep to their rho."""
    stage = DensityStage(
        product=product, district=_DAY, limits=_LIMITS, spend=rho_of(epsilon), make=_with_cuts
    )
    # From what is paid for, not from what the audited mechanism says it does.
    planned = Planned(mechanism=_with_cuts(_LIMITS, stage.spend))
    crowd = tuple(stay for one in range(planned.undecided) for stay in _round_trip(one + 1))
    with_person = crowd + _round_trip(0)
    look = Cuts(stage=stage)
    return CutsCheck(
        name="cuts: six visits of one person in each of four cells or none",
        epsilon=claim_of(planned.spend),
        delta=DELTA,
        rho=planned.spend.rho,
        bound=planned.bound,
        worlds=(
            World(words="the person", sample=stage.sampler(with_person, look.kept)),
            World(words="the others", sample=stage.sampler(crowd, look.kept)),
        ),
        scores=(planned.scores(with_person), planned.scores(crowd)),
        rate=lambda: look.rate(stage.opened(crowd)),
        effort=_SELDOM,
    )


@dataclass(frozen=True, kw_only=True)
class Cuts(StagedLook):
    """How much of its series each cell keeps."""

    def kept(self, curator: Curator) -> IntArray:
        """Returns how many cosines the cells of each corner keep: one row a corner."""
        (cuts,) = (one for one in self.measured(curator) if isinstance(one.query, CutQuery))
        return cuts.values.reshape(-1, CELLS)

    def rate(self, curator: Curator) -> Fraction:
        """Returns the rate that a release says it has chosen by."""
        (event,) = (one.event for one in self.measured(curator) if isinstance(one.event, CutEvent))
        return event.rate


@dataclass(frozen=True, kw_only=True)
class Planned:
    """Cuts as a plan has them, in a single corner.

    Attributes:
        mechanism: What a plan asks.
    """

    mechanism: DensitySeries

    @property
    def spend(self) -> ZCDPLoss:
        """What the cuts cost."""
        spend = self.mechanism.spends.cuts
        assert spend is not None  # noqa: S101  there is a share for it
        return spend

    @property
    def bound(self) -> Bound:
        """How far a person moves the series."""
        return self.mechanism.bound(self._cells)

    def scores(self, scene: Stays) -> FloatArray:
        """Returns the exact scores of all cuts of each cell, if a scene plays."""
        terms = VisitTerms(universe=_CORNER.universe, limits=_LIMITS)
        counter = visits_in_memory(_CORNER.play(scene), terms, os_source())
        return self._scores(dense(counter.count(self._query.base), self._query.base))

    @cached_property
    def undecided(self) -> int:
        """How large a crowd makes short and long series about equally good."""
        when = np.arange(_BINS)
        once = (when % CELLS == np.arange(CELLS)[:, None]).astype(np.int64).ravel()
        half = _BINS // 2

        def imbalance(crowd: int) -> float:
            scores = self._scores(crowd * self.mechanism.quanta * once)
            short, long = scores[:, :half].min(axis=1), scores[:, half:].min(axis=1)
            return float(abs((short - long).sum()))

        return min(range(_LARGEST_CROWD), key=imbalance)

    def _scores(self, counts: IntArray) -> FloatArray:
        return np.array(list(self._query.scores(counts)), dtype=np.float64)

    @cached_property
    def _cells(self) -> ClusterSeries:
        return self.mechanism.series(_CORNER.universe, _CORNER.every_cell)

    @cached_property
    def _query(self) -> CutQuery:
        variance = noise_for(self.mechanism.spends.series, self.bound).variance
        base = Query(name=self._cells.name, cells=self._cells)
        return CutQuery(name="cuts", base=base, length=_BINS, noise=noise_of(variance))


def _with_cuts(limits: VisitLimits, spend: Loss) -> DensitySeries:
    return density_series(
        limits, budget=spend, shares=_SHARES, denoise="cuts", clustering=False, scaling=False
    )


def _round_trip(person: int) -> Stays:
    """Returns a visit in every bin, from cell to cell."""
    return tuple(
        Stay(site=LONE_SITES[when % CELLS], bin=when, person=person) for when in range(_BINS)
    )
