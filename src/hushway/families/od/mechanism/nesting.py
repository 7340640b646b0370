"""Features made into a hierarchy: each level tells apart what the one above it does, and more."""

from collections.abc import Sequence

import numpy as np

from hushway.families.od.public.features import Feature
from hushway.geography.labels import Labels, joint_codes


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
