"""What choices must not give away: cuts of series, and limits with what they leave out.

Cuts are chosen by the exponential mechanism. Twenty-four visits of one person, six in each of four
cells. A crowd makes each cell undecided between keeping few cosines and keeping many, where one
person matters most. The chances of all cuts follow from the scores and the rate, so nothing about
them is left to runs but whether the cuts are drawn by these chances.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial

import numpy as np
from scipy.special import chdtrc, logsumexp

from hushway.arrays import FloatArray, IntArray
from hushway.auditing.agreement import Replayed
from hushway.auditing.cases import OTHERS, Case, Staged, never_differs
from hushway.auditing.harness import Check, Finding, World, enough
from hushway.auditing.law import ORDERS, SLACK, of_choices
from hushway.auditing.product import Product
from hushway.auditing.shift import claim_of
from hushway.families.density.audit.questions import answers
from hushway.families.density.audit.stage import (
    CELLS,
    LONE_SITES,
    SITES,
    DensityStage,
    Stay,
    Stays,
    staged,
)
from hushway.families.density.mechanism.people import DensityPeople
from hushway.families.density.mechanism.recommended import Shares
from hushway.families.density.mechanism.series import DensitySeries, density_series
from hushway.families.density.public.visits import ClusterSeries, LeftOutVisits, VisitLimits
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import noise_for
from hushway.privacy.curator import Curator
from hushway.privacy.events import CutEvent
from hushway.privacy.loss import Loss, ZCDPLoss
from hushway.privacy.measured import Measured
from hushway.privacy.query import CutQuery, Query, noise_of

_BINS = 24
_SHARES = Shares(cuts=Fraction(4, 5))
_LARGEST_CROWD = 200


def _with_cuts(limits: VisitLimits, spend: Loss) -> DensitySeries:
    return density_series(
        limits, budget=spend, shares=_SHARES, denoise="cuts", clustering=False, scaling=False
    )


_staged = partial(staged, corners=20, bins=_BINS, most=_BINS, make=_with_cuts)
_corner = partial(_staged, Product(), Fraction(1), corners=1)


def _answer(stage: DensityStage, curator: Curator) -> Measured:
    (cuts,) = (one for one in stage.measured(curator) if isinstance(one.query, CutQuery))
    return cuts


def kept(stage: DensityStage, curator: Curator) -> IntArray:
    """Returns how many cosines the cells of each corner keep: one row a corner."""
    return _answer(stage, curator).values.reshape(-1, CELLS)


def _drawn_by_their_chances(on: Staged) -> "CutsCheck":
    """Claims that cuts are chosen at the rate that was charged for."""
    stage: DensityStage = on.stage
    # From what is charged for, not from what the audited mechanism says it does.
    planned = Planned(mechanism=_with_cuts(stage.limits, stage.spend))
    crowd = tuple(stay for one in range(planned.undecided) for stay in _round_trip(one + 1))
    case = replace(on.case, one=crowd + _round_trip(0), other=crowd)

    def rate() -> Fraction:
        event = _answer(stage, stage.opened(crowd)).event
        assert isinstance(event, CutEvent)  # noqa: S101  what cuts cost
        return event.rate

    return CutsCheck(
        **on.terms | {"epsilon": claim_of(planned.spend)},
        rho=planned.spend.rho,
        bound=planned.bound,
        worlds=replace(on, case=case).worlds,
        scores=(planned.scores(case.one), planned.scores(case.other)),
        rate=rate,
    )


FOUR_CELLS = Case(
    "cuts: six visits of one person in each of four cells or none",
    "how many cosines each cell keeps",
    stage=_staged,
    look=kept,
    words=OTHERS,
    claim=_drawn_by_their_chances,
    effort=Fraction(1, 20),
)


@dataclass(frozen=True, kw_only=True)
class Planned:
    """Cuts as a plan has them, in a single corner."""

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
        return self._scores(_corner().exact(scene, self._query.base))

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
        return self.mechanism.series(_corner().universe, _corner().district.every_cell)

    @cached_property
    def _query(self) -> CutQuery:
        variance = noise_for(self.mechanism.spends.series, self.bound).variance
        base = Query(name=self._cells.name, cells=self._cells)
        return CutQuery(name="cuts", base=base, length=_BINS, noise=noise_of(variance))


def _round_trip(person: int) -> Stays:
    """Returns a visit in every bin, from cell to cell."""
    return tuple(
        Stay(site=LONE_SITES[when % CELLS], bin=when, person=person) for when in range(_BINS)
    )


# The claim that cuts are drawn by the exponential mechanism, at a rate that was charged for.
#
# Three things are compared: the rate that a release states with what rho spends on; the exact Rényi
# divergence of all cuts, at that rate, with rho; and the cuts of many releases with their chances.

# Three powers of ten below the 1e-9 of other checks, for the tail of a law that is approximate.
_LEAST_CHANCE = 1e-12
# Draws that a bin should hold, below which neighbouring cuts are put together.
_FEWEST = 50
# Rounding the scores moves each series by so much beyond what a person does.
_ROUNDING = 2


@dataclass(frozen=True, kw_only=True)
class CutsCheck(Check):
    """What is known of cuts.

    Attributes:
        bound: How far a person moves all series.
        worlds: The two neighbouring inputs; a run has how many cosines each series keeps.
        scores: The exact scores of all cuts in both, one row a series.
        rate: Makes a release and returns the rate that it says it has chosen by.
    """

    rho: Fraction
    bound: Bound
    worlds: tuple[World, World]
    scores: tuple[FloatArray, FloatArray]
    rate: Callable[[], Fraction]

    def examine(self, runs: int) -> Finding:
        """Compares rate, divergence and draws with what they should be."""
        runs = enough(runs, self.effort)
        rate = float(self.rate())
        laws = one, other = [_log_chances(scores, rate) for scores in self.scores]
        paid = math.sqrt(2 * self.rho) / _spread(self.bound)
        divergence = max(
            of_choices(one, other, order) / (order * float(self.rho)) for order in ORDERS
        )
        fit = min(
            _fit(world.sample(runs), law) for world, law in zip(self.worlds, laws, strict=True)
        )
        if max(rate / paid, divergence) > 1 + SLACK:
            reason = "The stated rate loses more than was charged for."
        elif fit < _LEAST_CHANCE:
            reason = "The cuts are not drawn by the exponential mechanism at the stated rate."
        else:
            reason = ""
        return self.finding(
            runs,
            event=(
                f"the rate is {rate / paid:.4f} of what rho spends on, the cuts diverge by "
                f"{divergence:.4f} of what it allows, and cuts drawn by their chances would lie as "
                f"far from these with probability {fit:.2g}"
            ),
            passed=not reason,
            reason=reason or "Rate, divergence and draws are as they should be.",
        )


def _spread(bound: Bound) -> float:
    """Returns how far a person moves the scores of all series, in the Euclidean norm."""
    return math.sqrt(bound.l2_squared) + _ROUNDING * math.sqrt(bound.cells)


def _log_chances(scores: FloatArray, rate: float) -> FloatArray:
    weights = -rate * scores
    chances: FloatArray = weights - logsumexp(weights, axis=1, keepdims=True)
    return chances


def _fit(kept: IntArray, law: FloatArray) -> float:
    """Returns how likely cuts are to lie as far from their chances, by a chi-square test.

    Args:
        kept: How many cosines each series keeps, one row a run.
        law: Logarithms of the chances to keep one, two, ..., one row a series.
    """
    distance, freedom = 0.0, 0
    for cuts, chances in zip(kept.T, np.exp(law), strict=True):
        expected = len(cuts) * chances
        seen = np.bincount(cuts - 1, minlength=len(chances)).astype(np.float64)
        starts = _bins(expected)
        sums, found = (np.add.reduceat(column, starts) for column in (expected, seen))
        distance += float(((found - sums) ** 2 / sums).sum())
        freedom += len(sums) - 1
    return float(chdtrc(freedom, distance)) if freedom else 1.0


def _bins(expected: FloatArray) -> list[int]:
    """Returns where bins begin that hold enough draws each; what is left joins the last."""
    starts, held, rest = [0], 0.0, float(expected.sum())
    for place, number in enumerate(expected[:-1].tolist()):
        held, rest = held + number, rest - number
        if held >= _FEWEST and rest >= _FEWEST:
            starts.append(place + 1)
            held = 0.0
    return starts


def _chosen(_limits: VisitLimits, spend: Loss) -> DensityPeople:
    # Other limits are other questions, and clusters would miss some of their answers.
    return DensityPeople(budget=spend, max_visits=None, max_visits_in_total=None, clustering=False)


def _left_out(stage: DensityStage, curator: Curator) -> IntArray:
    return np.concatenate(answers(stage, curator, LeftOutVisits(universe=stage.universe)))


def other_limits(stage: DensityStage, curator: Curator) -> IntArray:
    """Returns whether limits are others if the noisy people are the same, and nobody is there."""
    measured = stage.measured(curator)
    again = Replayed(stage.opened(()), measured)
    stage.mechanism.measure(again, stage.universe)
    one, other = measured[-1].query.cells, again.asked[-1][0].cells
    return np.array([getattr(one, "limits", None) != getattr(other, "limits", None)], np.int64)


# Twelve visits in one period, of which the series has one and the sums two.
LEFT_OUT_VISITS = Case(
    "left out: twelve visits of one person or none",
    "the noisy number of visits that the series leaves out",
    stage=partial(staged, corners=1, bins=1, most=1, in_total=3, laplace=True, repeats=500),
    look=_left_out,
    one=tuple(Stay(site=site, bin=0, times=4) for site in range(SITES)),
)
CHOSEN_LIMITS = Case(
    "limits: the same noisy people, the same limits",
    "limits that are others, with people and without",
    stage=partial(staged, corners=1, bins=6, most=4, laplace=True, make=_chosen),
    look=other_limits,
    one=tuple(
        Stay(site=LONE_SITES[person % 4], bin=when, person=person)
        for person in range(2_000)
        for when in range(6)
    ),
    claim=never_differs,
    # A release a run is slow.
    effort=Fraction(1, 20),
)

AUDITS = (LEFT_OUT_VISITS, CHOSEN_LIMITS, FOUR_CELLS)
