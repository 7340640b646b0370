"""What the cuts of series must not give away, chosen by the exponential mechanism.

Twenty-four visits of one person, six in each of four cells. A crowd makes each cell undecided
between keeping few cosines and keeping many, where one person matters most.
"""

from fractions import Fraction

import numpy as np

from hushway.audit.density_district import CELLS, LONE_SITES, Stay, Stays, district
from hushway.audit.density_looks import Cuts
from hushway.audit.density_product import DensityProduct, DensityStage, claim_of, rho_of
from hushway.audit.density_shift import ShiftCheck, most_of_rho
from hushway.audit.harness import Examination, World
from hushway.audit.noise import DELTA
from hushway.geography.visits import VisitLimits
from hushway.privacy.calibration import noise_for
from hushway.privacy.cuts import CutQuery, noise_of
from hushway.privacy.loss import Loss
from hushway.privacy.query import Query
from hushway.releases.density.catalogue import density_series
from hushway.releases.density.series import DensitySeries
from hushway.releases.density.spends import Shares

_BINS = 24
_DAY = district(corners=20, bins=_BINS)
_CORNER = district(corners=1, bins=_BINS)
_LIMITS = VisitLimits(max_visits=_BINS, most_counted=_BINS)
_SHARES = Shares(cuts=Fraction(4, 5))
_LARGEST_CROWD = 200
_SELDOM = Fraction(3, 40)


def four_cells(product: DensityProduct, epsilon: Fraction) -> Examination:
    """Six visits in each of four cells: the cuts of all cells together keep to their rho."""
    stage = DensityStage(
        product=product, district=_DAY, limits=_LIMITS, spend=rho_of(epsilon), make=_with_cuts
    )
    # From what is paid for, not from what the audited mechanism says it does.
    planned = _with_cuts(_LIMITS, stage.spend)
    spend = planned.spends.cuts
    assert spend is not None  # noqa: S101  there is a share for it
    crowd = tuple(stay for one in range(_undecided(planned)) for stay in _round_trip(one + 1))
    look = Cuts(stage=stage)
    return ShiftCheck(
        name="cuts: six visits of one person in each of four cells or none",
        statistic="the number of cells that keep more than half of their cosines",
        epsilon=claim_of(spend),
        delta=DELTA,
        worlds=(
            World(words="the person", sample=stage.sampler(crowd + _round_trip(0), look.long)),
            World(words="the others", sample=stage.sampler(crowd, look.long)),
        ),
        most=most_of_rho(spend.rho),
        effort=_SELDOM,
    )


def _with_cuts(limits: VisitLimits, spend: Loss) -> DensitySeries:
    return density_series(
        limits, budget=spend, shares=_SHARES, denoise="cuts", clustering=False, scaling=False
    )


def _round_trip(person: int) -> Stays:
    """Returns a visit in every bin, from cell to cell."""
    return tuple(
        Stay(site=LONE_SITES[when % CELLS], bin=when, person=person) for when in range(_BINS)
    )


def _undecided(mechanism: DensitySeries) -> int:
    """Returns how large a crowd makes short and long series about equally good."""
    cells = mechanism.series(_CORNER.universe, _CORNER.every_cell)
    noise = noise_of(noise_for(mechanism.spends.series, mechanism.bound(cells)).variance)
    base = Query(name=cells.name, cells=cells)
    query = CutQuery(name="cuts", base=base, length=_BINS, noise=noise)
    when = np.arange(_BINS)
    once = (when % CELLS == np.arange(CELLS)[:, None]).astype(np.int64).ravel() * mechanism.quanta

    def imbalance(crowd: int) -> int:
        half = _BINS // 2
        scores = list(query.scores(crowd * once))
        return abs(sum(int(one[:half].min() - one[half:].min()) for one in scores))

    return min(range(_LARGEST_CROWD), key=imbalance)
