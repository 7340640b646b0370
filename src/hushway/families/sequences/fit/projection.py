"""The closest consistent prefix tree to a noisy one, exactly.

Minimises the sum of weight * (value - measured)^2 over trees in which no value is negative and none
is below the sum of its children: the sequences that do not go on end there.
"""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.errors import ReleaseError
from hushway.families.sequences.fit.tree_active_set import (
    refuse_misplaced,
    refuse_unlike,
    tight_nodes,
)
from hushway.numerics.compiled import compiled
from hushway.numerics.double_double import Doubled, add, exact_sum, times

_TOLERANCE = 1e-9
# Larger measurements are not doubles.
_MOST = 2**53


@dataclass(frozen=True, kw_only=True, eq=False)
class PrefixFit:
    """The closest consistent tree.

    Attributes:
        values: The value of each node: not negative, and but for the last bit of a float not below
            the sum of its children.
        kkt_residual: What is missing from the conditions of a minimum, as a distance: over all
            measured nodes, the Euclidean distance from the exact minimum is at most this.
        relative: The residual as a share of the fitted total, or of 1 if that is less.
        steps: How many nodes had to be held to the sum of their children, or at 0.
    """

    values: FloatArray
    kkt_residual: float
    relative: float
    steps: int


def project_prefixes(parent: IntArray, measured: IntArray, weights: FloatArray) -> PrefixFit:
    """Returns the closest consistent tree.

    Args:
        parent: The node above each node, -1 for none; parents stand before their children.
        weights: One over the variance of each count; 0 where nothing was measured, which is then
            fitted as the sum of its children.

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
    fit = certified_tree(parent, tight_nodes(parent, counts, weights), counts, weights)
    # Written so that a residual that is not a number is refused too.
    if not fit.relative <= _TOLERANCE:
        raise ReleaseError(
            f"The fitted prefix tree is within {fit.relative:.1e} of the exact one, as a share of "
            f"its total; {_TOLERANCE:.0e} is expected.",
            advice="Bring the weights of the steps closer together.",
        )
    return fit


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


# The consistent tree that follows from its tight nodes, and its distance from the closest one.
#
# Once it is known which nodes are tight, the prices follow from two passes. Values and prices are
# then made to fulfil nearly all conditions of a minimum without exception: no price is negative, a
# tight node is the exact sum of its children, a loose node is no less and has price 0. What is left
# are residuals of the equations weight * (x - measured) = price - price above. So the tree is the
# exact minimum for slightly other measurements, moved by residual / weight. A minimum moves by no
# more than its measurements do, in the norm that weighs squares like the fit: this bounds the
# distance from the exact minimum whether or not the tight nodes were the right ones. Values, prices
# and residuals are double-double numbers.

# Values are rounded from double-double to double, and each is off by at most this share of itself.
_LAST_ROUNDING = 2.0**-53
# Square roots and sums of doubles in the bound itself.
_UPWARDS = 1 + 1e-9
# Worse than this share of the total, prices are corrected by what their rounding left.
_FINE = 1e-13


def certified_tree(
    parent: IntArray, tight: BoolArray, measured: FloatArray, weights: FloatArray
) -> PrefixFit:
    """Returns the tree that follows from a guess of its tight nodes, right or wrong."""
    high = _prices(parent, tight, measured, weights)
    prices = np.stack([high, np.zeros_like(high)])
    values, residuals, bound = _fitted(parent, tight, prices, measured, weights)
    total = max(1.0, float(values[parent < 0].sum()))
    if bound > _FINE * total:
        moved = -np.divide(residuals, weights, out=np.zeros_like(weights), where=weights > 0)
        prices[1] = _prices(parent, tight, moved, weights)
        values, _, bound = _fitted(parent, tight, prices, measured, weights)
    return PrefixFit(
        values=values, kkt_residual=bound, relative=bound / total, steps=int(tight.sum())
    )


@compiled
def _prices(
    parent: IntArray, tight: BoolArray, measured: FloatArray, weights: FloatArray
) -> FloatArray:
    """Returns the prices for which all tight nodes are the sums of their children; else 0."""
    nodes = len(parent)
    below = np.zeros(nodes)
    fall = np.zeros(nodes)
    for v in range(nodes - 1, -1, -1):
        if parent[v] < 0:
            continue
        if tight[v]:
            stretch = 1 + weights[v] * fall[v]
            below[parent[v]] += (below[v] + weights[v] * fall[v] * measured[v]) / stretch
            fall[parent[v]] += fall[v] / stretch
        else:
            below[parent[v]] += measured[v]
            fall[parent[v]] += 1 / weights[v]
    prices = np.zeros(nodes)
    for v in range(nodes):
        if tight[v]:
            above = prices[parent[v]] if parent[v] >= 0 else 0.0
            lacking = weights[v] * (below[v] - measured[v])
            prices[v] = (above + lacking) / (1 + weights[v] * fall[v])
    return prices


@compiled
def _fitted(
    parent: IntArray,
    tight: BoolArray,
    prices: FloatArray,
    measured: FloatArray,
    weights: FloatArray,
) -> tuple[FloatArray, FloatArray, float]:
    """Returns the tree that follows from prices, its residuals and the bound on its distance."""
    nodes = len(parent)
    high = np.zeros(nodes)
    low = np.zeros(nodes)
    residuals = np.empty(nodes)
    squares, sizes, lightest = 0.0, 0.0, np.inf
    for v in range(nodes - 1, -1, -1):
        # Here the entries of v hold the sum of its children.
        weight = weights[v]
        above_high, above_low = _price(prices, parent[v])
        if not tight[v]:
            left_over = (measured[v] - above_high / weight - high[v]) - (
                low[v] + above_low / weight
            )
            high[v], low[v] = add(high[v], low[v], max(0.0, left_over), 0.0)
        if parent[v] >= 0:
            u = parent[v]
            high[u], low[u] = add(high[u], low[u], high[v], low[v])
        off_high, off_low = add(high[v], low[v], -measured[v], 0.0)
        off_high, off_low = times(off_high, off_low, weight)
        own_high, own_low = _price(prices, v)
        price_high, price_low = add(above_high, above_low, -own_high, -own_low)
        residuals[v] = add(off_high, off_low, price_high, price_low)[0]
        if weight > 0:
            squares += residuals[v] * residuals[v] / weight
            lightest = min(lightest, weight)
        elif residuals[v] != 0:
            squares = np.inf
        sizes += high[v] * high[v]
    distance = np.sqrt(squares / lightest) if squares > 0 else 0.0
    return high, residuals, _UPWARDS * (distance + _LAST_ROUNDING * np.sqrt(sizes))


@compiled
def _price(prices: FloatArray, v: int) -> Doubled:
    """Returns the price of a node, or 0 if that is negative or there is no node."""
    if v < 0:
        return 0.0, 0.0
    high, low = exact_sum(prices[0, v], prices[1, v])
    if high < 0:
        return 0.0, 0.0
    return high, low
