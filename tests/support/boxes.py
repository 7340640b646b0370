"""Cells and counts for tests of queries and curators."""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import IntArray
from hushway.privacy.public_facts import public_facts


@public_facts
@dataclass(frozen=True)
class Boxes:
    """Public cells that are only numbered."""

    size: int = 100
    name: str = "boxes"
    digest: str = "sha256:0"


def ints(*values: int) -> IntArray:
    """Returns whole numbers as arrays of counts have them."""
    return np.array(values, dtype=np.int64)
