"""The public universe of an origin-destination table: every (period, origin, destination)."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import GeographyError
from hushway.geography.locations import Locations
from hushway.geography.period_words import counted_text
from hushway.geography.periods import Periods
from hushway.privacy.public_facts import digest_of, public_facts

# Cell numbers are 64-bit integers, and engines multiply on the way to them.
_MOST_CELLS = 1 << 62


@public_facts
@dataclass(frozen=True, kw_only=True)
class ODCells:
    """Cells (period, origin, destination), numbered without gaps."""

    locations: Locations
    periods: Periods
    include_intrazonal: bool = False
    name: ClassVar[str] = "trips by (period, origin, destination)"

    def __post_init__(self) -> None:
        if not 0 < self.size < _MOST_CELLS:
            raise GeographyError(
                "The places and periods make no cells, or more than can be numbered.",
                advice="Give at least two places, or set include_intrazonal = true.",
            )

    @cached_property
    def pairs(self) -> int:
        """Number of (origin, destination) pairs."""
        places = len(self.locations)
        return places * places if self.include_intrazonal else places * (places - 1)

    @cached_property
    def size(self) -> int:
        """Number of cells."""
        return self.pairs * len(self.periods)

    @cached_property
    def digest(self) -> str:
        """A digest of the public facts that the cells are made of."""
        return digest_of(
            {
                "locations": self.locations.digest,
                "periods": self.periods.digest,
                "include_intrazonal": self.include_intrazonal,
            }
        )

    @property
    def counted(self) -> str:
        """Which days a count is of, in words."""
        return counted_text(self.periods)

    def encode(self, period: IntArray, origin: IntArray, destination: IntArray) -> IntArray:
        """Returns the cell of each (period, origin, destination)."""
        places = len(self.locations)
        if self.include_intrazonal:
            return (period * places + origin) * places + destination
        return (period * places + origin) * (places - 1) + destination - (destination > origin)

    def decode(self, cells: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Returns (period, origin, destination) of each cell: the inverse of `encode`."""
        places = len(self.locations)
        width = places if self.include_intrazonal else places - 1
        rest, destination = np.divmod(cells, width)
        period, origin = np.divmod(rest, places)
        if not self.include_intrazonal:
            destination = destination + (destination >= origin)
        return period, origin, destination
