"""Which tables can be learnt, cell by cell or lazily."""

from collections.abc import Sequence
from typing import Final

from hushway.families.od.public.feature_structure import pair_ends
from hushway.families.od.public.features import Feature
from hushway.privacy.curator import MOST_DENSE_CELLS

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
