"""How much one candidate of a step speaks for a person's records, whether it was kept or not."""

import math

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.audit.chance import gaussian_tail
from hushway.privacy.events import Event, GaussianEvent, LaplaceEvent


def evidence_of(values: IntArray, threshold: int, event: Event, records: int) -> FloatArray:
    """Returns the logarithm of the likelihood ratio of each noisy count.

    A candidate that was not kept speaks against the records by the odds of missing it.

    Args:
        values: Noisy counts; 0 for those that did not reach the threshold.
        threshold: The threshold, at least 1.
        event: What the step cost.
        records: How many records are looked for.
    """
    if isinstance(event, LaplaceEvent):
        rate = float(1 / event.scale)
        shown = rate * (values - np.abs(values - records))
        below = [_laplace_below(least, rate) for least in (threshold - records, threshold)]
    else:
        assert isinstance(event, GaussianEvent)  # noqa: S101  what trees pay with otherwise
        shown = records * (values - records / 2) / float(event.sigma_squared)
        below = [
            1 - gaussian_tail(event.sigma_squared, least)
            for least in (threshold - records, threshold)
        ]
    return np.where(values > 0, shown, math.log(below[0] / below[1]))


def _laplace_below(value: int, rate: float) -> float:
    """Returns the chance that discrete Laplace noise is below a value."""
    ratio = math.exp(-rate)
    if value <= 0:
        return ratio ** (1 - value) / (1 + ratio)
    return 1 - ratio**value / (1 + ratio)
