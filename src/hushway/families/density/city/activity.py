"""How many visits each person of the synthetic Paris makes: a long tail with published moments."""

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.density.city import figures
from hushway.study.chance import largest, shuffle

_ROUNDS = 15
_BEND = 300.0


def visits_of_people(people: int, rng: np.random.Generator) -> IntArray:
    """Returns the visits of each person, at least 1: with the published mean and deviation.

    But for what rounding left over, the numbers are the same for every seed; who has them is drawn.
    From 100,000 people on, exactly the published maximum occurs.
    """
    visits = _quantiles(people)
    missing = round(figures.MEAN_VISITS * people) - int(visits.sum())
    # What rounding left over goes to people in the middle, one visit each: the deviation stays.
    middle = np.flatnonzero((visits > 2) & (visits < 30))
    count = min(abs(missing), len(middle))
    if count:
        visits[middle[largest(rng.random(len(middle)), count)]] += np.sign(missing)
    return visits[shuffle(rng, people)]


def _quantiles(people: int) -> IntArray:
    """Returns ascending numbers of visits: evenly spaced quantiles of a log-normal law."""
    from scipy.special import ndtri

    normal = np.asarray(ndtri((np.arange(people) + 0.5) / people), dtype=np.float64)
    spread = figures.DEVIATION_OF_VISITS / figures.MEAN_VISITS
    location, scale = np.log(9.0), 1.0
    for _ in range(_ROUNDS):
        visits = _cut(np.exp(location + scale * normal), people)
        mean, deviation = visits.mean(), visits.std()
        location += np.log(figures.MEAN_VISITS / mean)
        step = spread / (deviation / mean)
        location -= scale**2 * (step - 1) * 0.5
        scale *= 1 + 0.5 * (step - 1)
    return visits


def _cut(visits: FloatArray, people: int) -> IntArray:
    # Beyond the bend the tail runs up to the maximum without piling up there.
    room = figures.MOST_VISITS - 1 - _BEND
    bent = _BEND + room * -np.expm1(-np.maximum(visits - _BEND, 0.0) / room)
    whole = np.maximum(1, np.rint(np.where(visits > _BEND, bent, visits))).astype(np.int64)
    if people >= figures.FEWEST_WITH_MOST:
        whole[-1] = figures.MOST_VISITS
    return whole
