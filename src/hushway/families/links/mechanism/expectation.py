"""What a link is expected to carry, from noisy counts of links of its class and zone."""

import numpy as np

from hushway.arrays import FloatArray, IntArray

# Streets of one kind differ by about as much as their mean. Without such a floor a group of quiet
# ones could be taken for a constant, with standard errors that nobody should believe.
_LEAST_VARIATION = 1.0
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
    middle = np.maximum(np.bincount(group, counts, minlength=groups) / size, 0.0)
    mean = middle[group]
    apart = (counts - mean) ** 2
    beyond = np.bincount(group, apart, minlength=groups) / size - variance
    floor = (_LEAST_VARIATION * middle) ** 2 + _LEAST_SPREAD * variance
    spread = np.maximum(beyond, floor)[group]
    return mean, spread * np.maximum(apart / (spread + variance), 1.0)
