"""Standard errors of prefixes, calibrated against the last question.

Variances of single nodes do not tell how far their errors are correlated. The last question does:
its own sums over a subtree are free of that. How far they are from what is published, less their
noise, more what noise they share, is an unbiased estimate of the squared error (Stein). Over many
prefixes that are alike it says by how much errors are to be inflated. Only noisy answers are read.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray

SURE: Final = 2.5
"""A prefix is published from this many standard errors on, if the one it continues is."""

# Bins of prefixes of about one size.
_BIN: Final = 80
_MOST_BINS: Final = 40
# The first two stops were asked about together, so longer prefixes are wrong by more.
_ASKED_TOGETHER: Final = 2
# Standard errors that are added to what is learnt of a bin: by chance it may be too little, and
# then hardly any error of that bin would hold.
_CAUTION: Final = 0.2
# Of counts that are just sure, those are published that noise made larger. So their errors are
# enlarged by this part, and by less and less up to a count of so many standard errors.
_JUST_SURE: Final = 0.1
_WELL_SURE: Final = 4.5
# The variance of rounding to whole numbers.
_ROUNDED: Final = 1 / 12
_TINY: Final = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class PublishedPrefixes:
    """What is published of every prefix, the empty one first, beside what was measured.

    Attributes:
        through: How many records are published that begin with it.
        measured: The same number as the last question alone gives it.
        noise: The variance of the noise in that.
        own: The variance of what is published, as if errors of nodes were independent.
    """

    through: FloatArray
    depth: IntArray
    measured: FloatArray
    noise: FloatArray
    own: FloatArray


def standard_errors(held: PublishedPrefixes, steady: BoolArray) -> FloatArray:
    """Returns the standard error of each prefix that is steady, whether it is published or not."""
    squared = (held.through - held.measured) ** 2 - held.noise + 2 * held.own
    larger = np.ones(len(held.own))
    is_long = held.depth > _ASKED_TOGETHER
    for alike in (~is_long, is_long):
        at = np.flatnonzero(alike & steady & (held.depth > 0))
        order = at[np.argsort(held.through[at], kind="stable")]
        for part in np.array_split(order, max(1, min(_MOST_BINS, len(order) // _BIN))):
            larger[part] = enlargement(squared[part], held.own[part], held.noise[part])
    error: FloatArray = np.sqrt(larger * held.own + _ROUNDED)
    return error


def enlargement(squared: FloatArray, own: FloatArray, noise: FloatArray) -> float:
    """Returns the variance inflation, at least 1, given unbiased estimates of squared errors."""
    if not len(own):
        return 1.0
    trust = 1 / np.maximum(noise + own, _TINY)
    each = trust * squared
    unsure = float(np.std(each)) * math.sqrt(len(each))
    return max((float(each.sum()) + _CAUTION * unsure) / max(float(trust @ own), _TINY), 1.0)


def once_chosen(counts: FloatArray, errors: FloatArray) -> FloatArray:
    """Returns errors of counts that were published because they were significant."""
    short_of = (_WELL_SURE - counts / errors) / (_WELL_SURE - SURE)
    chosen: FloatArray = errors * (1 + _JUST_SURE * np.clip(short_of, 0.0, 1.0))
    return chosen
