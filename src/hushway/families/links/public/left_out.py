"""What can be asked about items beyond those that count: as many again, each with a weight.

Of a person with n items, m count. Of the n - m others, again up to m are counted, in counts of
their own, and each stands for so many of the others as its weight says. Weights are whole numbers
of a short public list. A person's weight is one of the two around (n - m) / m, by a draw that makes
it right on average, so that counts and weighted counts together are right on average, too.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from hushway.arrays import IntArray
from hushway.families.links.public.roads import CLASSES
from hushway.families.links.public.universe import (
    LinkUniverse,
    MovementCells,
    MovementLimits,
    SpeedSums,
)
from hushway.privacy.bound import Reach
from hushway.privacy.public_facts import digest_of, public_facts

# Up to twice the items that count nothing is lost, and up to 17 times nothing on average.
WEIGHTS: Final = (1, 4, 16)


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class LeftOutCells:
    """Persons by (weight, period, item). Cell number = (weight * periods + period) * items + item.

    A weight is named by its place in `WEIGHTS`.
    """

    universe: LinkUniverse

    @property
    def name(self) -> str:
        """What one cell stands for."""
        return "travellers beyond the bound by (weight, period, link or end of a trip)"

    @property
    def of_a_weight(self) -> int:
        """Cells of one weight."""
        return self.universe.items * len(self.universe.periods)

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(WEIGHTS) * self.of_a_weight

    @cached_property
    def digest(self) -> str:
        """A digest of the universe."""
        return digest_of({"universe": self.universe.digest, "kind": "left out"})

    def reach(self, limits: MovementLimits) -> Reach:
        """Returns how far one person moves the counts: so many cells, each by one."""
        return Reach(cells=limits.max_items, each=1, total=limits.max_items)


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class LeftOutClasses:
    """All cells of one weight and class: a `hushway.privacy.query.Partition` of `LeftOutCells`.

    Beginnings and ends of trips are a class of their own, the last one. Element number =
    weight * kinds + class - 1.
    """

    universe: LinkUniverse

    @property
    def name(self) -> str:
        """What one element stands for."""
        return "travellers beyond the bound by (weight, class)"

    @property
    def kinds(self) -> int:
        """Elements of one weight."""
        return len(CLASSES) + 1

    @property
    def size(self) -> int:
        """Number of elements."""
        return len(WEIGHTS) * self.kinds

    @cached_property
    def digest(self) -> str:
        """A digest of the universe."""
        return digest_of({"universe": self.universe.digest, "kind": "classes of left out"})

    def kind(self, item: IntArray) -> IntArray:
        """Returns the class of items of a period, from 0; the last one for ends of trips."""
        roads = self.universe.roads
        of_link = roads.road_class[np.minimum(item, roads.links - 1)] - 1
        return np.where(item < roads.links, of_link, self.kinds - 1).astype(np.int64)

    def of(self, cells: IntArray) -> IntArray:
        """Returns the element of each cell."""
        weight, rest = np.divmod(cells, LeftOutCells(universe=self.universe).of_a_weight)
        return np.asarray(weight * self.kinds + self.kind(rest % self.universe.items))


MovementQueryCells = MovementCells | LeftOutCells | SpeedSums
