"""Mean speeds of links from noisy steps: all post-processing."""

import numpy as np

from hushway.arrays import FloatArray
from hushway.families.links.public.universe import SPEED_STEP

# A speed that may be off by more than this says nothing, in km/h.
_LARGEST_ERROR = 10.0
_SLOWEST = 1.0
# Links differ by about a step from each other, even where noise hides it. Without this floor all
# speeds could be taken for one, with standard errors that nobody should believe.
_LEAST_SPEED_SPREAD = 1.0


def fitted_speeds(
    steps: FloatArray,
    variance: float,
    counts: FloatArray,
    errors: FloatArray,
    usual: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Returns mean speeds and their standard errors in km/h; NaN where nothing can be told.

    The mean step of a link is its noisy sum over its fitted count. It is drawn towards the mean of
    all links by as much as its own noise outweighs how links differ.

    Args:
        steps: Noisy sums of steps from the usual speed.
        variance: Variance of the noise in each.
        counts: Fitted persons.
        errors: Their standard errors.
        usual: Usual speeds.
    """
    mean = steps / counts
    # A count that is off changes the mean in proportion.
    noise = variance / counts**2 + mean**2 * (errors / counts) ** 2
    weight = 1 / noise
    common = float(weight @ mean / weight.sum()) if len(mean) else 0.0
    differ = float(weight @ ((mean - common) ** 2 - noise) / weight.sum()) if len(mean) else 0.0
    spread = max(differ, _LEAST_SPEED_SPREAD)
    trust = spread / (spread + noise)
    best = common + trust * (mean - common)
    error = SPEED_STEP * np.sqrt(spread * noise / (spread + noise))
    speed = np.maximum(usual + SPEED_STEP * best, _SLOWEST)
    told = SPEED_STEP * np.sqrt(noise) <= _LARGEST_ERROR
    return (
        np.where(told, np.round(speed, 1), np.nan),
        np.where(told, np.maximum(np.round(error, 1), 0.1), np.nan),
    )
