"""Visits of an invented crowd over public areas: what a plan is tried on before it is run.

A few places are busy and many are not, days are livelier than nights, places differ in their hours,
and some people are seen far more often than others. All of it is drawn from a fixed seed, and
counted at once, not person by person: two million people take no longer than two thousand.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.density.fit.activity import typical_visits
from hushway.families.density.planning.trial import BoundedCity, area_truth
from hushway.families.density.public.visits import PERSON_PARTS, DensityUniverse, VisitLimits
from hushway.families.density.rows.counts import BoundedVisits

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
    universe: DensityUniverse, limits: VisitLimits, *, people: int, visits: float
) -> Invented:
    """Returns visits of so many people, each with `visits` of them on average."""
    random = np.random.default_rng(_SEED)
    activity = _activity(limits, people, visits, random)
    typical = typical_visits(limits)
    all_visits = max(float(activity @ typical), 1.0)
    seen = universe.bins * -np.expm1(-typical / universe.bins)
    counted = float(activity @ np.minimum(seen, limits.max_visits)) / all_visits
    where = random.lognormal(0.0, _PLACES, universe.site_count)
    where /= where.sum()
    expected = all_visits * where[:, None] * _rhythms(universe, random)
    exact = random.poisson(expected)
    by_circle = np.bincount(limits.circle, activity, limits.circles).astype(np.int64)
    found = BoundedVisits(
        series=random.binomial(exact, min(counted, 1.0)).T.astype(np.int64),
        circles=np.array(
            [random.multinomial(PERSON_PARTS * number, where) for number in by_circle]
        ),
        activity=activity,
        total=int(activity @ np.minimum(typical, limits.max_visits_in_total)),
    )
    return Invented(
        city=BoundedCity(universe=universe, limits=limits, found=found),
        truth=area_truth(universe, exact),
        counted=counted,
    )


def _activity(
    limits: VisitLimits, people: int, visits: float, random: np.random.Generator
) -> IntArray:
    """Returns people by class of activity; everybody has a visit at least."""
    typical = typical_visits(limits)
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
