"""Places that are not as they were in other steps of a series: closed, opened, or of another size.

Privacy:
    Everything here is computed from noisy values and public places: no row, no budget.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.families.sequences.fit.laying import Laid, Overlay, margins_of
from hushway.families.sequences.fit.stray import learn_stray
from hushway.numerics.breaks import surprise_of, unchanged_by

# A place has changed if what four numbers say of it differs by so many squared deviations.
_BREAK: Final = 16.0
# None of them counts for more, or the tail of one noise would do.
_AT_MOST: Final = 9.0
# Where a step does not know a place, its noise is taken to be so many times that of others.
_UNKNOWN: Final = 1e8


def unchanged_places(overlays: Sequence[Overlay], away: IntArray) -> BoolArray:
    """Returns by (step, place) which places are in other steps as they are in this one.

    Args:
        away: How many steps each other step is away.
    """
    own = overlays[0].own
    lines = [
        _line(steps)
        for steps in zip(margins_of(own), *(both.margins() for both in overlays), strict=True)
    ]

    def surprise(order: IntArray) -> FloatArray:
        rows = np.append(0, 1 + order)
        return surprise_of([(values[rows], noise[rows]) for values, noise in lines], _AT_MOST)

    return unchanged_by(away, surprise, len(own.places), _BREAK) > 0


def _line(steps: Sequence[Laid]) -> tuple[FloatArray, FloatArray]:
    """Returns what all steps say of places, this one first, and how sure each number is."""
    values = np.array([one.values for one in steps])
    known = np.array([one.known for one in steps])
    noise = np.array([one.variance for one in steps])
    noise[~known] = _UNKNOWN * noise[known].min(initial=1e300) if known.any() else 1.0
    sure = 1 / noise[1:]
    weight = sure.sum(axis=0)
    usual = (sure * values[1:]).sum(axis=0) / weight
    level = np.maximum(usual, 0.0)
    stray = learn_stray(values[0] - usual, noise[0] + 1 / weight, level)
    return values, noise + stray.of(level)
