"""How much noisy answers speak for one of two worlds, as one whole number a run."""

import numpy as np
from numpy.typing import ArrayLike

from hushway.arrays import FloatArray, IntArray
from hushway.privacy.events import Event
from hushway.privacy.loss import PureLoss

_THOUSAND = 1000


def evidence(values: IntArray, event: Event, one: ArrayLike, other: ArrayLike = 0) -> FloatArray:
    """Returns the logarithm of the likelihood ratio of each noisy count, up to a constant.

    Args:
        values: Noisy counts.
        event: What they cost, and so how noisy they are.
        one: What the counts would be in one world but for the noise, as far as the worlds differ.
        other: The same in the other world.
    """
    here, there = np.asarray(one), np.asarray(other)
    loss, bound = event.loss, event.bound
    if isinstance(loss, PureLoss):
        nearer = np.abs(values - there) - np.abs(values - here)
        return np.asarray(nearer * float(loss.epsilon / bound.l1))
    return np.asarray(float(2 * loss.rho / bound.l2_squared) * ((here - there) * values))


def in_thousandths(numbers: ArrayLike) -> IntArray:
    """Returns real numbers, such as evidence, as outcomes of runs, which are whole ones."""
    return np.rint(_THOUSAND * np.asarray(numbers, dtype=np.float64)).astype(np.int64)
