"""Who is seen where: people of each site, each shared among sites by visits, circle by circle.

Busy people count for more visits than the series holds of them. Where they are is told by the
noisy histogram of their circle. For few people that is mostly noise, so each circle is taken to be
spread like everybody, but for as much as stands out from noise and chance. Sees noisy numbers only.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from hushway.arrays import FloatArray
from hushway.families.density.fit.activity import Activity

# Adaptive shrinkage of noisy counts of places (Stephens 2017).
#
# Counts of a city's places are never negative; many are small and a few are large. Their prior is a
# mixture of uniform laws that all begin at 0, which can have any shape that falls. Its weights are
# estimated by maximum likelihood (EM). Every noisy count is then replaced by its posterior mean:
# where nothing stands out from the noise all places get about the same, and what stands out stays.
# Sees noisy numbers only.

# The ends of the uniform laws grow by this factor.
_STEP = 1.5
_ROUNDS = 200
# A law ends at least this far, in standard deviations of the noise.
_SHORTEST = 0.1
_REACH = 4.0
# Weights start from and are held to an even spread by as much as so many places.
_EVEN = 1.0
_ROOT_TAU = np.sqrt(2 * np.pi)


class Expected(NamedTuple):
    """Posterior means, above 0, and the expected squares of what they are still off by."""

    values: FloatArray
    variance: FloatArray


def expected_sizes(noisy: FloatArray, variance: FloatArray) -> Expected:
    """Returns posterior means of noisy counts; the variance of the noise must be above 0."""
    deviation = np.sqrt(variance)
    largest = float((noisy + _REACH * deviation).max())
    shortest = _SHORTEST * float(deviation.min())
    steps = max(int(np.ceil(np.log(max(largest, shortest) / shortest) / np.log(_STEP))), 1)
    ends = shortest * _STEP ** np.arange(steps + 1, dtype=np.float64)
    density, means, squares = _under_uniform(noisy[:, None], deviation[:, None], ends)
    weights = _most_likely(density)
    trust = weights * density
    trust /= trust.sum(axis=1, keepdims=True)
    values = (trust * means).sum(axis=1)
    spread = (trust * squares).sum(axis=1) - values**2
    return Expected(values, np.maximum(spread, 0.0))


def above_zero(values: FloatArray, variance: FloatArray) -> Expected:
    """Returns the mean and variance of normal numbers truncated to be positive.

    Far above 0 nothing changes, and far below it a little more than 0 is left, with an error that
    says so.
    """
    deviation = np.sqrt(np.maximum(variance, 1e-300))
    at = values / deviation
    # The hazard of the normal law at -at, without an overflow in either tail.
    hazard = np.sqrt(2 / np.pi) / erfcx(-at / np.sqrt(2))
    means = values + deviation * hazard
    left = variance * np.maximum(1 - hazard * (hazard + at), 0.0)
    return Expected(np.maximum(means, 0.0), left)


def _under_uniform(
    noisy: FloatArray, deviation: FloatArray, ends: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Returns likelihoods under uniform laws from 0, and means and mean squares given each."""
    low, high = -noisy / deviation, (ends - noisy) / deviation
    # Whichever tail is nearer keeps its digits.
    flip = low > 0
    first, last = np.where(flip, -high, low), np.where(flip, -low, high)
    mass = ndtr(last) * -np.expm1(np.minimum(log_ndtr(first) - log_ndtr(last), 0.0))
    mass = np.maximum(mass, 1e-300)
    at_low, at_high = (np.exp(-(x**2) / 2) / _ROOT_TAU for x in (low, high))
    shift = np.clip((at_low - at_high) / mass, low, high)
    bend = (low * at_low - high * at_high) / mass
    means = np.clip(noisy + deviation * shift, 0.0, ends)
    squares = means**2 + deviation**2 * np.clip(1 + bend - shift**2, 0.0, 1.0)
    return mass / ends, means, squares


def _most_likely(density: FloatArray) -> FloatArray:
    """Returns EM weights of the uniform laws, smoothed by an even prior."""
    count = density.shape[1]
    scaled = density / np.maximum(density.max(axis=1, keepdims=True), 1e-300)
    weights = np.full(count, 1 / count)
    for _ in range(_ROUNDS):
        shares = weights * scaled
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
        weights = (shares.sum(axis=0) + _EVEN / count) / (len(density) + _EVEN)
    return np.asarray(weights)


@dataclass(frozen=True, kw_only=True, eq=False)
class Places:
    """What is known about visits by site, or by cell of the cover, beside the series.

    Attributes:
        counted: Visits that the series counts at each, if people were alike but for their circles;
            above 0.
        scale: All visits as a multiple of those.
        scale_variance: Variance of each multiple, relative to its square.
        hidden: How much of each number is what such places usually have, and not seen: from 0 where
            it stands out from noise to 1 where noise hides it.
    """

    counted: FloatArray
    variance: FloatArray
    scale: FloatArray
    scale_variance: FloatArray
    hidden: FloatArray


def known_places(circles: FloatArray, variance: float, activity: Activity | None) -> Places:
    """Returns what noisy people by (circle, site) tell; all are alike unless circles stand out."""
    if len(circles) == 1 or activity is None or not activity.people.any():
        together = _clearest(circles)
        noise = variance * len(together)
        everybody = expected_sizes(together.sum(axis=0), np.full(circles.shape[1], noise))
        ones = np.ones(circles.shape[1])
        return Places(
            counted=everybody.values,
            variance=everybody.variance,
            scale=ones,
            scale_variance=0 * ones,
            hidden=_hidden(everybody, noise),
        )
    used = np.flatnonzero(activity.people)
    seen, people = circles[used], activity.people[used]
    visits, each = activity.visits[used], activity.counted[used]
    whole = expected_sizes(seen.sum(axis=0), np.full(seen.shape[1], variance * len(used)))
    spread = [
        _of_circle(seen[k], variance, whole.values * (people[k] / people.sum()))
        for k in range(len(used))
    ]
    heads = np.array([one.values for one in spread])
    doubt = np.array([one.variance for one in spread])
    counted, all_visits = each @ heads, visits @ heads
    scale = all_visits / counted
    astray = ((visits[:, None] - scale * each[:, None]) ** 2 * doubt).sum(axis=0)
    mean = counted / whole.values
    mixed = ((each[:, None] - mean) ** 2 * doubt).sum(axis=0)
    return Places(
        counted=counted,
        variance=whole.variance * mean**2 + mixed,
        scale=scale,
        scale_variance=astray / all_visits**2,
        hidden=_hidden(whole, variance * len(used)),
    )


def _clearest(circles: FloatArray) -> FloatArray:
    """Returns the first circles, as many as have most people for the noise that each adds."""
    people, count = np.cumsum(circles.sum(axis=1)), np.arange(1, len(circles) + 1)
    return circles[: int((people / np.sqrt(count)).argmax()) + 1]


def _hidden(expected: Expected, noise: float) -> FloatArray:
    """Returns how much of each count was expected of all; the rest was told by its noisy count."""
    return np.clip(1 - expected.variance / noise, 0.0, 1.0)


def _of_circle(seen: FloatArray, variance: float, expected: FloatArray) -> Expected:
    """Returns people of one circle by site, shrunk to how everybody is spread (`expected`)."""
    noise = np.full(len(seen), variance)
    squares = float((expected**2).sum())
    beyond = float(((seen - expected) ** 2 - noise).sum()) / squares
    # What the noise hides may be there all the same: it is no reason for more, but for doubt.
    hidden = 2 * float(np.sqrt(2 * (noise**2).sum())) / squares
    own = max(beyond, 0.0) * expected**2
    trust = own / (own + noise)
    values = np.maximum(expected + trust * (seen - expected), 0.01 * expected)
    loose = own + min(hidden, 1.0) * expected**2
    return Expected(values, loose * noise / (loose + noise))
