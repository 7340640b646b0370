"""What a link is expected to carry, from noisy counts of links of its class and zone."""

import numpy as np

from hushway.geography.od import IntArray
from hushway.geography.plane import FloatArray

# Links of one kind are never quite alike; without this, a group could be taken for a constant.
_LEAST_SPREAD = 1e-3


def expectation(
    counts: FloatArray, variance: float, group: IntArray, groups: int
) -> tuple[FloatArray, FloatArray]:
    """Returns the mean of each item's group, and how far items are from it, as variances.

    Some links carry far more than others of their kind. Where a noisy count is further from the
    mean than the group's spread and the noise explain, its spread is widened by as much, so that
    busy roads are not drawn down to the others.

    Args:
        counts: Noisy counts.
        variance: Variance of the noise in each.
        group: The group of each.
        groups: Number of groups.
    """
    size = np.maximum(np.bincount(group, minlength=groups), 1)
    mean = np.maximum(np.bincount(group, counts, minlength=groups) / size, 0.0)[group]
    apart = (counts - mean) ** 2
    beyond = np.bincount(group, apart, minlength=groups) / size - variance
    spread = np.maximum(beyond, _LEAST_SPREAD * variance)[group]
    return mean, spread * np.maximum(apart / (spread + variance), 1.0)
