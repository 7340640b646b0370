"""Many keys, and whether what they choose is uniform.

All keys come from fixed seeds, so a passing test passes for ever; each p-value is held against a
level at which a sound rule fails less than once in a million fresh seeds.
"""

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from hushway.engine.key import PRIME, BoundingKey
from support.goodness_of_fit import chi_square

LEVEL = 1e-7


def keys(seed: int, count: int) -> list[BoundingKey]:
    """Returns keys with coefficients of a seed."""
    drawn = np.random.default_rng(seed).integers(1, PRIME, (count, BoundingKey.WORDS))
    return [BoundingKey(tuple(row)) for row in drawn.tolist()]


def check_sets(found: ArrayLike, count: int, most: int) -> None:
    """Makes sure that every set of so many things is kept equally often; sets come as bits."""
    kept = np.asarray(found)
    sets = [sum(1 << i for i in members) for members in combinations(range(count), most)]
    observed = [int((kept == code).sum()) for code in sets]
    assert sum(observed) == len(kept)
    assert chi_square(observed, np.full(len(sets), 1 / len(sets))) > LEVEL
