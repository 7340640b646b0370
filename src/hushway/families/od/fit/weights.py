"""How much each measured total weighs in a projection, relative to a cell."""

from collections.abc import Sequence
from enum import StrEnum

from hushway.families.od.public.features import Feature


class Weights(StrEnum):
    """The weightings that a plan can name.

    `size` is the paper's: one over the number of elements, so that every feature counts as much as
    all cells together. `inverse_variance` is that of least squares; with non-negative cells it lets
    totals drift upwards, because it trusts a million clipped cells as much as one total.
    `size_over_variance` is the paper's, with unequal noise taken into account.
    """

    SIZE = "size"
    UNIFORM = "uniform"
    INVERSE_VARIANCE = "inverse_variance"
    SIZE_OVER_VARIANCE = "size_over_variance"


def margin_weights(
    weights: Weights, features: Sequence[Feature], variances: Sequence[float]
) -> tuple[float, ...]:
    """Returns the weight of each feature relative to a cell; the cells' variance comes last."""
    *margins, cells = variances
    return tuple(
        _size(weights, feature) * _precision(weights, cells / variance)
        for feature, variance in zip(features, margins, strict=True)
    )


def _size(weights: Weights, feature: Feature) -> float:
    if weights in (Weights.SIZE, Weights.SIZE_OVER_VARIANCE):
        return feature.universe.size / feature.size
    return 1.0


def _precision(weights: Weights, ratio: float) -> float:
    return ratio if weights in (Weights.INVERSE_VARIANCE, Weights.SIZE_OVER_VARIANCE) else 1.0
