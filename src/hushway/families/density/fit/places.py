"""Who is seen where: people of each site, each shared among sites by visits, circle by circle.

Busy people count for more visits than the series holds of them. Where they are is told by the
noisy histogram of their circle. For few people that is mostly noise, so each circle is taken to be
spread like everybody, but for as much as stands out from noise and chance. Sees noisy numbers only.
"""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray
from hushway.families.density.fit.activity import Activity
from hushway.families.density.fit.adaptive_shrinkage import Expected, expected_sizes


@dataclass(frozen=True, kw_only=True, eq=False)
class Places:
    """What is known about visits by site, or by cell of the cover, beside the series.

    Attributes:
        counted: Visits that the series counts at each, if people were alike but for their circles;
            above 0.
        variance: Variance of each.
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
