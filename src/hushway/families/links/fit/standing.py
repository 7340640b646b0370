"""Which noisy counts noise alone does not explain: all post-processing."""

from typing import Final

import numpy as np
from scipy.special import erfc

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.privacy.events import LaplaceEvent
from hushway.privacy.measured import Measured

# Of the links that stand out, at most this part is expected to be empty.
MOST_EMPTY: Final = 0.1


def standing_out(items: Measured, cells: IntArray) -> BoolArray:
    """Says which of some cells stand out from noise, among as many.

    The rule of Benjamini and Hochberg (1995): so many cells as have a noisy count at least as large
    as the least that stands out, noise alone would show at most `MOST_EMPTY` times as often. Where
    nobody was, nothing stands out but once in ten releases.

    Args:
        items: Noisy counts.
        cells: Which of them are looked at.
    """
    chance = chance_of(items)[cells]
    order = np.argsort(chance, kind="stable")
    allowed = MOST_EMPTY * np.arange(1, len(cells) + 1) / len(cells)
    passing = np.flatnonzero(chance[order] <= allowed)
    least = chance[order[passing[-1]]] if len(passing) else -1.0
    return np.asarray(chance <= least)


def chance_of(items: Measured) -> FloatArray:
    """Returns how likely noise alone is at least as large as each noisy count."""
    values = items.values.astype(np.float64)
    event = items.event
    if isinstance(event, LaplaceEvent):
        ratio = np.exp(-1 / float(event.scale))
        above = ratio ** np.maximum(values, 1.0) / (1 + ratio)
        below = 1 - ratio ** np.maximum(1 - values, 1.0) / (1 + ratio)
        return np.asarray(np.where(values >= 1, above, below))
    # Of a discrete Gaussian as of a continuous one from half a person below.
    return np.asarray(erfc((values - 0.5) / np.sqrt(2 * float(items.variance))) / 2)
