"""What to count, over which public cells; and who can count it."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hushway.privacy.bound import Bound
from hushway.privacy.unit import Unit

IntArray = NDArray[np.int64]


class Cells(Protocol):
    """A public, gapless numbering 0 .. size-1 of the cells that records may fall into."""

    @property
    def name(self) -> str:
        """What one cell stands for."""
        ...

    @property
    def size(self) -> int:
        """Number of cells."""
        ...

    @property
    def digest(self) -> str:
        """A digest of the public facts that the cells are made of."""
        ...


@dataclass(frozen=True, kw_only=True)
class Query:
    """A declarative question: how many records of the bounded units fall into each public cell."""

    name: str
    cells: Cells


@dataclass(frozen=True, kw_only=True)
class ExactCounts:
    """Exact counts of the cells that are not empty. Lives between an engine and the curator, nowhere else.

    Attributes:
        cells: Ascending, distinct cell numbers.
        values: The count of each, never 0.
    """

    cells: IntArray
    values: IntArray


class Counter(Protocol):
    """What an engine gives: exact counts of units whose contribution it has bounded itself."""

    @property
    def unit(self) -> Unit:
        """Who is protected."""
        ...

    def bound(self, query: Query) -> Bound:
        """Returns the bound that `count` enforces for this query."""
        ...

    def count(self, query: Query) -> ExactCounts:
        """Returns the exact bounded counts."""
        ...
