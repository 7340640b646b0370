"""Bounded visits that mechanisms are tried on, and what areas truly hold.

Visits of an invented crowd are what a plan is tried on before it is run. A few places are busy and
many are not, days are livelier than nights, places differ in their hours, and some people are seen
far more often than others. All of it is drawn from a fixed seed, and counted at once, not person by
person: two million people take no longer than two thousand.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from scipy import sparse

from hushway.arrays import FloatArray, IntArray
from hushway.families.density.fit.activity import bins_seen, typical_visits
from hushway.families.density.mechanism.people import DensityPeople
from hushway.families.density.mechanism.series import DensitySeries
from hushway.families.density.public.visits import (
    PERSON_PARTS,
    DensityUniverse,
    VisitLadder,
    VisitLimits,
)
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


# How unlike places are in size and people in activity: standard deviations of logarithms.
_PLACES: Final = 1.2
_PEOPLE: Final = 1.0
# How far the hours of a place may be from the city's.
_HOURS: Final = 0.5
_SEED: Final = 2014
_ROUNDS: Final = 20


@dataclass(frozen=True, kw_only=True, eq=False)
class Invented:
    """An invented crowd.

    Attributes:
        city: Its bounded visits.
        truth: Its visits by (area, bin), nobody cut down.
        counted: The share of visits that the series counts.
    """

    city: BoundedCity
    truth: FloatArray
    counted: float


def invented_crowd(
    universe: DensityUniverse,
    limits: VisitLimits,
    *,
    people: int,
    visits: float,
    ladder: VisitLadder | None = None,
) -> Invented:
    """Returns visits of so many people, each with `visits` of them on average."""
    random = np.random.default_rng(_SEED)
    activity = _activity(people, visits, random)
    typical = typical_visits()
    all_visits = max(float(activity @ typical), 1.0)
    seen = bins_seen(typical, universe.bins) if limits.one_in_a_bin else typical

    def shares(each: FloatArray, ends: tuple[int, ...]) -> FloatArray:
        """Returns the share of all visits whose ranks lie in each step."""
        below = [float(activity @ np.minimum(each, end)) / all_visits for end in ends]
        return np.diff([0.0, *np.minimum(below, 1.0)])

    where = random.lognormal(0.0, _PLACES, universe.site_count)
    where /= where.sum()
    exact = random.poisson(all_visits * where[:, None] * _rhythms(universe, random))
    offered = ladder or limits.ladder
    found = RankedVisits(
        ladder=offered,
        series=_thinned(exact.T, shares(seen, offered.visits), random),
        people=np.array([random.multinomial(PERSON_PARTS * number, where) for number in activity]),
        activity=activity,
        ranked=np.outer(shares(typical, offered.in_total), exact.sum(axis=0)).astype(np.int64),
    )
    return Invented(
        city=BoundedCity(universe=universe, limits=limits, ladder=ladder, found=found),
        truth=area_truth(universe, exact),
        counted=float(activity @ np.minimum(seen, limits.max_visits)) / all_visits,
    )


def _thinned(exact: IntArray, shares: FloatArray, random: np.random.Generator) -> IntArray:
    """Draws the visits of each step, each visit into one or none."""
    steps, left, rest = [], exact, 1.0
    for share in shares:
        taken = random.binomial(left, min(share / max(rest, 1e-9), 1.0))
        steps.append(taken)
        left, rest = left - taken, rest - share
    return np.array(steps, dtype=np.int64)


def _activity(people: int, visits: float, random: np.random.Generator) -> IntArray:
    """Returns people by class of activity; everybody has a visit at least."""
    typical = typical_visits()
    middle = np.log(max(visits, 1.0))
    weight = np.where(typical <= 1, 1.0, 0.0)
    if visits > 1:
        for _ in range(_ROUNDS):
            weight = np.exp(-((np.log(typical) - middle) ** 2) / (2 * _PEOPLE**2))
            # Nobody has less than a visit, so the mean is not where the law says.
            middle += np.log(visits / float(weight @ typical / weight.sum()))
    drawn = random.multinomial(people, weight / weight.sum())
    return np.asarray(drawn, dtype=np.int64)


def _rhythms(universe: DensityUniverse, random: np.random.Generator) -> FloatArray:
    """Returns the share of each bin in the visits of each site; rows sum to 1."""
    periods = universe.periods
    hour = np.arange(periods.opens, periods.closes, periods.minutes) / 60
    day = 1.1 - np.cos(2 * np.pi * (hour - 3) / 24)
    shape = np.tile(day, universe.bins // periods.parts)
    turn = 2 * np.pi * np.arange(universe.bins) / periods.parts
    dose = _HOURS * random.normal(size=(universe.site_count, 2))
    own = np.exp(dose[:, :1] * np.cos(turn) + dose[:, 1:] * np.sin(turn))
    rhythms = shape * own
    return np.asarray(rhythms / rhythms.sum(axis=1, keepdims=True))
