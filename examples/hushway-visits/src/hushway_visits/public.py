"""The public universe: a cell for every stop and period, and the sums that are measured beside it.

A curator lets these classes near exact counts, so they are declared `public_facts`: frozen, made of
public values alone, and without a memory of what they are asked.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from hushway import families as hw


@hw.public_facts
@dataclass(frozen=True, kw_only=True)
class StopHours:
    """The cells: cell = stop * periods + period.

    Attributes:
        stops: The public stops.
        periods: The public periods.
    """

    stops: hw.Locations
    periods: hw.Periods

    @property
    def name(self) -> str:
        """What one cell stands for."""
        return "visits of a stop in a period"

    @property
    def shape(self) -> tuple[int, int]:
        """Number of stops, and of periods."""
        return len(self.stops), len(self.periods)

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.stops) * len(self.periods)

    @cached_property
    def digest(self) -> str:
        """A digest of both lists."""
        return hw.digest_of({"stops": self.stops.digest, "periods": self.periods.digest})


@hw.public_facts
@dataclass(frozen=True, kw_only=True)
class Totals:
    """Sums of the cells: one for each stop, or one for each period.

    Attributes:
        base: The cells.
        by: What there is a sum for.
    """

    base: StopHours
    by: Literal["stop", "period"]

    @property
    def name(self) -> str:
        """What one sum stands for."""
        return f"all visits of a {self.by}"

    @property
    def size(self) -> int:
        """Number of sums."""
        return self.base.shape[0 if self.by == "stop" else 1]

    @cached_property
    def digest(self) -> str:
        """A digest of the lists, and of which sums these are."""
        return hw.digest_of({"base": self.base.digest, "by": self.by})

    def of(self, cells: hw.IntArray) -> hw.IntArray:
        """Returns the sum that each cell belongs to."""
        periods = len(self.base.periods)
        sums: hw.IntArray = cells // periods if self.by == "stop" else cells % periods
        return sums
