"""A rough forecast of what lies above a shift, for tables that are mostly noise.

Noise of the double-exponential kind loses the same share of its tail with every step away from 0.
A forecast is only used to choose where to look first, so nothing depends on its being right.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.od.fit.problem import Tails


@dataclass(frozen=True, kw_only=True, eq=False)
class TailForecast:
    """Exponential tails on both sides of 0.

    Attributes:
        sizes: Number of cells in each group.
        counts: How many are above 0.
        excess: Their sum.
        scale: The distance over which a tail shrinks by a factor of e.
        steps: How many Newton steps from 0 to follow this law: few if showing too many cells is
            cheaper than having to ask again.
    """

    sizes: IntArray
    counts: FloatArray
    excess: FloatArray
    scale: float
    steps: int = 30

    def tails(self, shifts: FloatArray) -> Tails:
        """Returns the number and excess of cells expected above each group's shift."""
        fade = np.exp(-np.abs(shifts) / self.scale)
        below = self.sizes - self.counts
        up = shifts >= 0
        counts = np.where(up, self.counts * fade, self.sizes - below * fade)
        down = self.excess - shifts * self.sizes - below * self.scale * (1 - fade)
        return Tails(counts=counts, excess=np.where(up, self.excess * fade, down))


def noise_forecast(sizes: IntArray, scale: float) -> TailForecast:
    """Returns the forecast for cells that are nothing but noise.

    Args:
        sizes: Number of cells in each group.
        scale: The mean absolute value of the noise.
    """
    half = sizes / 2
    return TailForecast(sizes=sizes, counts=half, excess=half * scale, scale=scale)


@runtime_checkable
class Foreseeable(Protocol):
    """A source of cells that can say roughly what it would show, before it shows anything."""

    def forecast(self) -> TailForecast:
        """Returns the forecast."""
        ...
