"""Public cells for questions about contributions: how many records units have, and which count.

A counter puts the records of every unit into a random order of its own, so that each has a rank
from 0 on. Records of low ranks count in cells; those of higher ranks, which a limit would leave
out, can be asked for too, in sums. With a cap, records that are among so many of their unit in a
cell, chosen at random, come first in that order, and no others count in cells.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from hushway.errors import PrivacyError
from hushway.privacy.bound import Bound
from hushway.privacy.public_facts import digest_of, public_facts
from hushway.privacy.query import Cells

# Limits to choose from: all small ones, then two for every doubling. Records of higher ranks are
# never counted.
_SMALL: Final = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16)
LADDER: Final = (*_SMALL, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)


def ladder_with(limit: int | None) -> tuple[int, ...]:
    """Returns the limits to choose from, with one of a steward's own."""
    return LADDER if limit is None else tuple(sorted({*LADDER, limit}))


@public_facts
@dataclass(frozen=True, kw_only=True)
class UnitsByRecords:
    """Classes of units by their number of records: from each step of a ladder to below the next.

    Attributes:
        ladder: Ascending numbers, the first of which is 1; the last class has no end.
        cap: Most records of a unit in one cell that make up its number; None if all do.
    """

    base: Cells
    ladder: tuple[int, ...]
    cap: int | None = None

    @property
    def name(self) -> str:
        """What one cell stands for."""
        if self.cap is None:
            return "people by number of records"
        return f"people by number of records, at most {self.cap} in a cell"

    @property
    def size(self) -> int:
        """Number of classes."""
        return len(self.ladder)

    @cached_property
    def digest(self) -> str:
        """A digest of the public facts that the classes are made of."""
        facts = {"base": self.base.digest, "ladder": list(self.ladder), "cap": self.cap}
        return digest_of(facts)

    @property
    def bound(self) -> Bound:
        """How far a unit moves these counts: it is in one class."""
        return Bound(cells=1, each=1, total=1)


@public_facts
@dataclass(frozen=True, kw_only=True)
class RankedCells:
    """The cells of a universe, for records whose rank is from `first` to below `last`.

    With a cap, the records of ranks from 0 are only those within it; from any other rank they are
    all that this leaves out, up to `last` in all.
    """

    base: Cells
    first: int
    last: int
    cap: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.first < self.last or (self.cap is not None and self.cap < 1):
            raise PrivacyError(
                "A range of ranks is empty.", advice="Ask for at least one record of a unit."
            )

    @property
    def name(self) -> str:
        """What one cell stands for."""
        if self.first == 0:
            return self.base.name
        return f"{self.base.name}, beyond {self.first} of a person"

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.base.size

    @cached_property
    def digest(self) -> str:
        """A digest of the public facts that the cells are made of."""
        facts = {"base": self.base.digest, "ranks": [self.first, self.last], "cap": self.cap}
        return digest_of(facts)

    @property
    def bound(self) -> Bound:
        """How far a unit moves these counts: by one record of each rank.

        All may be in one cell, if there is no cap. A unit with records beyond its cap or its limit
        has as many within as the smaller of the two at least, which are not among those left out.
        """
        most = self.first or self.last
        within = most if self.cap is None else min(self.cap, most)
        if self.first == 0:
            return Bound(cells=self.last, each=within, total=self.last)
        return Bound.of_records(self.last - within)
