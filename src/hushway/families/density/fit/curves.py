"""One noisy curve, such as a city's week, smoothed by as much as its noise asks for.

Waves of a curve by day and by hour are put into groups: the usual day and what differs from it,
each by octaves. Every group is shrunk by the share of its power that is noise, which is known.
"""

from typing import NamedTuple

import numpy as np

from hushway.arrays import FloatArray, IntArray


class Smoothed(NamedTuple):
    """A smoothed curve.

    Attributes:
        values: The curve; its sum is that of the noisy one.
        variance: Variance of the noise that is left in each value.
    """

    values: FloatArray
    variance: float


def smoothed(curve: FloatArray, variance: float, parts: int) -> Smoothed:
    """Returns a curve without the waves that noise can explain.

    Args:
        curve: Noisy values, day after day.
        variance: Variance of the noise in each.
        parts: Values of a day; they divide the length of the curve.
    """
    days = len(curve) // parts
    waves = np.fft.fft2(curve.reshape(days, parts), norm="ortho")
    group = _groups(days, parts)
    power = np.bincount(group, (np.abs(waves) ** 2).ravel()) / np.bincount(group)
    kept = np.maximum(1 - variance / np.maximum(power, 1e-300), 0.0)
    # The mean of the curve is known better from elsewhere: it is left alone.
    kept[group[0]] = 1.0
    factor = kept[group]
    values = np.fft.ifft2(waves * factor.reshape(days, parts), norm="ortho").real.ravel()
    return Smoothed(values, variance * float(factor.mean()))


def _groups(days: int, parts: int) -> IntArray:
    """Returns the group of each wave, numbered from 0 without gaps; the mean is its own."""
    by_day, by_part = np.arange(days) > 0, np.arange(parts)
    octave = np.ceil(np.log2(np.maximum(np.minimum(by_part, parts - by_part), 0.5))) + 1
    keys = by_day[:, None] * (octave.max() + 1) + octave
    return np.asarray(np.unique(keys.ravel(), return_inverse=True)[1].astype(np.int64))
