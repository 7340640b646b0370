"""How features lie to each other: trees of refinements, and labels of pairs made of their ends."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from hushway.errors import PrivacyError
from hushway.families.od.public.features import Feature
from hushway.geography.locations import Labels, PairEnds, joint_codes
from hushway.privacy.curator import MOST_DENSE_CELLS


def is_learnable(feature: Feature) -> bool:
    """Returns whether the elements of a feature follow from classes of origins and destinations."""
    return feature.pairs is None or feature.pairs.ends is not None


def pair_ends(feature: Feature) -> PairEnds:
    """Returns the classes of origins and destinations that a feature is made of.

    Raises:
        PrivacyError: The feature labels pairs of places one by one.
    """
    if feature.pairs is None:
        alike = np.zeros(len(feature.universe.locations), dtype=np.int32)
        return PairEnds(origin=alike, destination=alike, between=np.zeros((1, 1), dtype=np.int32))
    if feature.pairs.ends is None:
        raise PrivacyError(
            f"The published total {feature.title!r} labels pairs of places one by one; a table of "
            f"{feature.universe.size:,} cells is too large to learn from such sums.",
            advice='Leave it out, or use mechanism "cbdp".',
        )
    return feature.pairs.ends


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


LEARNED: Final = "learned"
# A posterior of every cell is held in memory: up to 230 bytes for each while counts are made whole.
MOST_LEARNED: Final = MOST_DENSE_CELLS // 8
# Of a huge table about so many cells without trips show by chance.
EXPECTED_FALSE: Final = float(1 << 20)


def check_learnable(features: Sequence[Feature]) -> None:
    """Refuses sums that a huge table cannot be learnt from.

    Raises:
        PrivacyError: A feature labels pairs of places one by one.
    """
    for feature in features:
        pair_ends(feature)
