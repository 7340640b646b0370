"""The fitted OD mechanisms by the names that plans and papers use."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from hushway.families.od.fit.tree import geometric_shares
from hushway.families.od.mechanism.cbdp import CBDP
from hushway.families.od.mechanism.hierarchical import Hierarchical
from hushway.families.od.mechanism.laplace import refuse_dense
from hushway.families.od.mechanism.learned import MOST_LEARNED, Learned
from hushway.families.od.mechanism.learned_lazily import check_learnable
from hushway.families.od.mechanism.shares import (
    Weights,
    spends_of,
    uniform_shares,
)
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import (
    Feature,
    destinations_feature,
    origins_feature,
    refuse_idle,
    without_idle,
)
from hushway.geography.locations import Labels, joint_codes
from hushway.privacy.curator import MOST_DENSE_CELLS
from hushway.privacy.loss import Loss

# Beyond this the noise alone would take gigabytes; the lazy form has the same law.
_MOST_DENSE = MOST_DENSE_CELLS // 8


def od_cbdp(  # noqa: PLR0913  one argument for each option of a plan
    universe: ODCells,
    features: Sequence[Feature],
    *,
    budget: Loss,
    shares: Sequence[Fraction] | None = None,
    weights: Weights = Weights.SIZE,
    nest: bool = False,
    controlled: bool = True,
    lazy: bool | None = None,
) -> CBDP:
    """Returns constraint-based privacy over some features.

    Args:
        universe: The public cells.
        features: The coarse features.
        budget: What the release costs.
        shares: The share of each feature and, last, of the cells; equal ones unless given.
        weights: How the features weigh in the fit.
        nest: Whether features are crossed into a hierarchy, as in the ablations O5(a) and O5(b).
        controlled: Whether counts are made whole so that every sum keeps its value.
        lazy: Whether empty cells are drawn only as far as needed; if the universe is large, unless
            given.
    """
    lazily = universe.size > _MOST_DENSE if lazy is None else lazy
    if not lazily:
        refuse_dense(universe)
    refuse_idle(features)
    chosen = nested(features) if nest else tuple(features)
    parts = uniform_shares(chosen) if shares is None else shares
    return CBDP(
        universe=universe,
        features=chosen,
        spends=spends_of(budget, parts),
        weights=weights,
        controlled=controlled,
        lazy=lazily,
    )


def with_ends(universe: ODCells, features: Sequence[Feature]) -> tuple[Feature, ...]:
    """Returns features with trips by origin and by destination, where these tell more."""
    ends = (origins_feature(universe), destinations_feature(universe))
    return without_idle((*features, *ends))


def od_hierarchical(
    universe: ODCells,
    features: Sequence[Feature],
    *,
    budget: Loss,
    shares: Sequence[Fraction] | None = None,
    prune: bool = True,
    prune_early: bool = False,
) -> Hierarchical:
    """Returns the hierarchical baseline over the tree of some features.

    Args:
        universe: The public cells.
        features: The features to branch by, from the root down.
        budget: What the release costs.
        shares: The share of each level and, last, of the cells; geometric ones unless given.
        prune: Whether a node at or below 0 is emptied with everything under it.
        prune_early: Whether that is done, too, before the tree is made consistent.
    """
    refuse_dense(universe)
    refuse_idle(features)
    levels = nested(features)
    parts = geometric_shares(len(levels) + 1) if shares is None else shares
    return Hierarchical(
        universe=universe,
        features=levels,
        spends=spends_of(budget, parts),
        prune=prune,
        prune_early=prune_early,
    )


def od_learned(
    universe: ODCells,
    features: Sequence[Feature],
    *,
    budget: Loss,
    shares: Sequence[Fraction] | None = None,
    lazy: bool | None = None,
) -> Learned:
    """Returns a table that learns from some features and the cells.

    Args:
        universe: The public cells.
        features: The sums to measure; see `with_ends`.
        budget: What the release costs.
        shares: The share of each feature and, last, of the cells; equal ones unless given. See
            `learned_shares` for those that measured best.
        lazy: Whether only cells are looked at that stand out; if the universe is large, unless
            given.
    """
    refuse_idle(features)
    parts = uniform_shares(features) if shares is None else shares
    lazily = universe.size > MOST_LEARNED if lazy is None else lazy
    if lazily:
        check_learnable(features)
    return Learned(
        universe=universe,
        features=tuple(features),
        spends=spends_of(budget, parts),
        lazy=lazily,
    )


def nested(features: Sequence[Feature]) -> tuple[Feature, ...]:
    """Returns features such that each refines the one before it.

    The second becomes the common refinement of the first two, and so on: total, period, period and
    zone pair, period and zone pair and mode. This is the tree of the hierarchical mechanisms.
    """
    levels: list[Feature] = []
    for feature in features:
        levels.append(_crossed(levels[-1], feature) if levels else feature)
    return tuple(levels)


def _crossed(above: Feature, feature: Feature) -> Feature:
    return Feature(
        title=feature.title,
        universe=feature.universe,
        pairs=_joint(above.pairs, feature.pairs),
        periods=_joint(above.periods, feature.periods),
    )


def _joint(first: Labels | None, second: Labels | None) -> Labels | None:
    if first is None or second is None:
        return second if first is None else first
    codes, size = joint_codes(
        [(first.codes, len(first)), (second.codes, len(second))], len(first.codes)
    )
    if size == len(first):
        return first
    if size == len(second):
        return second
    example = np.empty(size, dtype=np.int64)
    example[codes] = np.arange(len(codes))
    names = tuple(
        f"{first.names[first.codes[i]]}, {second.names[second.codes[i]]}" for i in example
    )
    return Labels(column=f"{first.column}, {second.column}", codes=codes, names=names)
