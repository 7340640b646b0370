"""The closest consistent prefix tree to a noisy one, exactly.

Minimises the sum of weight * (value - measured)^2 over trees in which no value is negative and none
is below the sum of its children: the sequences that do not go on end there.
"""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import ReleaseError
from hushway.families.sequences.mechanism.forest import refuse_misplaced, refuse_unlike
from hushway.families.sequences.mechanism.optimality import certified_tree
from hushway.families.sequences.mechanism.pooling_events import tight_nodes

_TOLERANCE = 1e-9
# Larger measurements are not doubles.
_MOST = 2**53


@dataclass(frozen=True, kw_only=True)
class PrefixOptimality:
    """How close a fitted tree is to the exact minimum.

    Attributes:
        kkt_residual: What is missing from the conditions of a minimum, as a distance: over all
            measured nodes, the Euclidean distance from the exact minimum is at most this.
        relative: The residual as a share of the fitted total, or of 1 if that is less.
        steps: How many nodes had to be held to the sum of their children, or at 0.
    """

    kkt_residual: float
    relative: float
    steps: int


@dataclass(frozen=True, kw_only=True, eq=False)
class PrefixFit:
    """The closest consistent tree.

    Attributes:
        values: The value of each node: not negative, and but for the last bit of a float not below
            the sum of its children.
        optimality: How close this is to the exact minimum.
    """

    values: FloatArray
    optimality: PrefixOptimality


def project_prefixes(parent: IntArray, measured: IntArray, weights: FloatArray) -> PrefixFit:
    """Returns the closest consistent tree.

    Args:
        parent: The node above each node, -1 for none; parents stand before their children.
        measured: The noisy count of each node.
        weights: One over the variance of each count. Where it is 0, nothing was measured; such a
            node is fitted as the sum of its children.

    Privacy:
        Everything here is computed from noisy counts: post-processing, which costs nothing.

    Raises:
        ReleaseError: The input does not fit together, or the result could not be shown to be within
            1e-9 of its total from the exact minimum.
    """
    refuse_misplaced(parent)
    refuse_unlike(parent, measured)
    refuse_unlike(parent, weights)
    _refuse_unweighable(measured, weights)
    counts = measured.astype(np.float64)
    tight = tight_nodes(parent, counts, weights)
    tree = certified_tree(parent, tight, counts, weights)
    optimality = PrefixOptimality(
        kkt_residual=tree.bound, relative=tree.relative, steps=int(tight.sum())
    )
    _refuse_if_far(optimality)
    return PrefixFit(values=tree.values, optimality=optimality)


def _refuse_unweighable(measured: IntArray, weights: FloatArray) -> None:
    if not np.all(np.isfinite(weights) & (weights >= 0)):
        raise ReleaseError(
            "A weight of the prefix tree is negative or not finite.",
            advice="Give one over the variance of each count, or 0 for what was not measured.",
        )
    if len(measured) and not -_MOST < measured.min() <= measured.max() < _MOST:
        raise ReleaseError(
            "A count of the prefix tree is 2^53 or more in size.",
            advice="Measure with less noise, or a smaller window.",
        )


def _refuse_if_far(optimality: PrefixOptimality) -> None:
    # Written so that a residual that is not a number is refused too.
    if not optimality.relative <= _TOLERANCE:
        raise ReleaseError(
            f"The fitted prefix tree is within {optimality.relative:.1e} of the exact one, as a "
            f"share of its total; {_TOLERANCE:.0e} is expected.",
            advice="Bring the weights of the steps closer together.",
        )
