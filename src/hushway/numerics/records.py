"""Rows of several numbers side by side in memory, as compiled code reads them fastest.

A function that takes a row array takes one thing; with a column each it would take a dozen, and
both compiling and calling it would take many times as long.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Compiled code reads a field as an attribute, which types cannot follow.
Rows = NDArray[Any]


def rows(count: int, **fields: type[np.generic]) -> Rows:
    """Returns rows of zeros with the named fields."""
    return np.zeros(count, dtype=np.dtype(list(fields.items())))


def rows_of(**columns: NDArray[Any]) -> Rows:
    """Returns rows made of columns of the same length."""
    size = len(next(iter(columns.values())))
    made = np.empty(size, dtype=np.dtype([(name, c.dtype) for name, c in columns.items()]))
    for name, column in columns.items():
        made[name] = column
    return made
