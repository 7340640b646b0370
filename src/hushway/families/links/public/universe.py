"""What can be asked about movements: people on links, and trips that begin and end at nodes.

A person's items of a period are the distinct links that the person was on, and the nodes at which
the person's trips began and ended. At most `max_items` of a person's items of the whole window
count, a uniform choice; each moves one cell by one. That limit may be chosen by noisy answers: then
one pass over rows counts for every limit that there is to choose from.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, Final

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import GeographyError, PrivacyError
from hushway.families.links.public.roads import CLASSES, RoadNetwork
from hushway.geography.period_words import counted_text
from hushway.geography.periods import Periods
from hushway.privacy.bound import Bound, Reach
from hushway.privacy.contribution import UnitsByRecords
from hushway.privacy.public_facts import digest_of, public_facts

# Of speeds, in km/h.
SPEED_STEP: Final = 5.0
# Limits of items to choose from. Each is twice the one before, so that what is counted beyond one
# is what the next one counts in addition.
CHOICES: Final = (8, 16, 32, 64, 128, 256, 512, 1024)
# The fewest items of each class of people; the last class has no end.
ITEM_LADDER: Final = (
    *(1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024),
    *(1536, 2048, 3072, 4096, 8192, 16384),
)


@dataclass(frozen=True, kw_only=True)
class MovementLimits:
    """How much of one person counts: public numbers that an engine enforces.

    Attributes:
        max_items: Most items of one person: links, beginnings and ends of trips together.
        speed_steps: A speed counts by its steps of `SPEED_STEP` from the link's usual speed, at
            most so many up or down.
        left_out: Whether up to `max_items` of a person's other items are counted besides, in counts
            of their own that can be asked for.
        choices: The limits that a question may ask for instead of `max_items`, each twice the one
            before; only `max_items` if there are none.
    """

    max_items: int
    speed_steps: int = 6
    left_out: bool = True
    choices: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        numbers = (self.max_items, self.speed_steps, *self.choices)
        if not all(type(n) is int and n >= 1 for n in numbers):
            raise GeographyError(
                "Limits of movements must be whole numbers, at least 1.",
                advice="Let every person count with at least one link.",
            )
        doubled = all(2 * low == high for low, high in pairwise(self.steps))
        if not (doubled and self.max_items in self.steps and (self.left_out or not self.choices)):
            raise GeographyError(
                "Limits to choose from must double, and what they leave out must be counted.",
                advice="Give limits such as 8, 16 and 32, and left_out = True.",
            )

    @property
    def steps(self) -> tuple[int, ...]:
        """All limits that a question may ask for."""
        return self.choices or (self.max_items,)

    def with_most(self, most: int | None) -> "MovementLimits":
        """Returns the limits of a question: its own limit of items, if it has one.

        Raises:
            PrivacyError: It is none that counts are kept for.
        """
        if most is None:
            return self
        if most not in self.steps:
            raise PrivacyError(
                "This engine does not bound people by the limit of the question.",
                advice="Ask for limits that it was made with.",
            )
        return replace(self, max_items=most)


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class LinkUniverse:
    """All that is public about movements before anything is measured.

    Attributes:
        zone: The public zone of each link, from 0 without gaps.
    """

    roads: RoadNetwork
    periods: Periods
    zone: IntArray
    zones: tuple[str, ...]
    name: ClassVar[str] = "travellers by (period, link)"

    def __post_init__(self) -> None:
        if len(self.zone) != self.roads.links or int(self.zone.max()) >= len(self.zones):
            raise GeographyError(
                "The zones are not those of the links.", advice="Give one zone for each link."
            )

    @property
    def size(self) -> int:
        """Number of published cells."""
        return self.roads.links * len(self.periods)

    @property
    def items(self) -> int:
        """Items of one period: links, then beginnings at nodes, then ends at nodes."""
        return self.roads.links + 2 * self.roads.nodes

    @property
    def counted(self) -> str:
        """Which days a count is of, in words: days are laid over each other before counting."""
        return counted_text(self.periods, together="once per traveller over")

    @cached_property
    def digest(self) -> str:
        """A digest of the roads, the periods and the zones."""
        return digest_of(
            {
                "roads": self.roads.digest,
                "periods": self.periods.digest,
                "zone": self.zone.tolist(),
                "zones": list(self.zones),
            }
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Bounded:
    """Cells that count no more than so many items of a person.

    Attributes:
        most: How many; None for what the counter is made for.
    """

    universe: LinkUniverse
    most: int | None = None
    kind: ClassVar[str]

    @cached_property
    def digest(self) -> str:
        """A digest of the universe, and of the limit where a noisy answer has chosen it."""
        chosen = {} if self.most is None else {"most": self.most}
        return digest_of({"universe": self.universe.digest, "kind": self.kind, **chosen})

    def reach(self, limits: MovementLimits) -> Reach:
        """Returns how far one person moves the counts: so many cells, each by one."""
        most = limits.with_most(self.most).max_items
        return Reach(cells=most, each=1, total=most)


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class MovementCells(_Bounded):
    """Persons by (period, item). Cell number = period * items + item."""

    kind = "movements"
    name: ClassVar[str] = "travellers by (period, link or end of a trip)"

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.universe.items * len(self.universe.periods)


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class SpeedSums(_Bounded):
    """Sums over counted persons of how far their speeds on links were from the usual ones.

    In whole steps of `SPEED_STEP`, down or up. Cell number = period * links + link.
    """

    kind = "speeds"
    name: ClassVar[str] = "steps from the usual speed by (period, link)"

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.universe.size

    def reach(self, limits: MovementLimits) -> Reach:
        """Returns how far one person moves the sums: the same links, each by some steps."""
        most, steps = limits.with_most(self.most).max_items, limits.speed_steps
        return Reach(cells=most, each=steps, total=most * steps)


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class ClassZones:
    """Groups of movement cells: links of one class, zone and period; beginnings; ends.

    A `hushway.privacy.query.Partition` of `MovementCells`. Group number = period * groups of a
    period + group, the last two groups of a period being all beginnings and all ends.
    """

    universe: LinkUniverse
    name: ClassVar[str] = "travellers by (period, zone and class)"

    @cached_property
    def links(self) -> tuple[IntArray, IntArray]:
        """The group of each link within a period, and the (zone, class) of each group in use."""
        roads = self.universe.roads
        codes = self.universe.zone * len(_CLASS_SLOTS) + roads.road_class
        used, group = np.unique(codes, return_inverse=True)
        return group.astype(np.int64), used.astype(np.int64)

    @property
    def groups(self) -> int:
        """Groups of one period."""
        return len(self.links[1]) + 2

    @property
    def size(self) -> int:
        """Number of groups."""
        return self.groups * len(self.universe.periods)

    @cached_property
    def digest(self) -> str:
        """A digest of the universe."""
        return digest_of({"universe": self.universe.digest, "kind": "classes and zones"})

    def of(self, cells: IntArray) -> IntArray:
        """Returns the group of each movement cell."""
        period, item = np.divmod(cells, self.universe.items)
        links, nodes = self.universe.roads.links, self.universe.roads.nodes
        on_link = item < links
        ends = self.groups - 2 + (item >= links + nodes)
        group = np.where(on_link, self.links[0][np.minimum(item, links - 1)], ends)
        return np.asarray(period * self.groups + group, dtype=np.int64)


# Classes are numbered from 1, so there is a slot for 0 that stays empty.
_CLASS_SLOTS = range(6)


# Up to twice the items that count nothing is lost, and up to 17 times nothing on average.
WEIGHTS: Final = (1, 4, 16)


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class LeftOutCells(_Bounded):
    """Persons by (weight, period, item). Cell number = (weight * periods + period) * items + item.

    A weight is named by its place in `WEIGHTS`. As many items of a person as count may be in these.
    """

    kind = "left out"
    name: ClassVar[str] = "travellers beyond the bound by (weight, period, link or end of a trip)"

    @property
    def of_a_weight(self) -> int:
        """Cells of one weight."""
        return self.universe.items * len(self.universe.periods)

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(WEIGHTS) * self.of_a_weight


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class LeftOutClasses:
    """All cells of one weight and class: a `hushway.privacy.query.Partition` of `LeftOutCells`.

    Beginnings and ends of trips are a class of their own, the last one. Element number =
    weight * kinds + class - 1.
    """

    universe: LinkUniverse
    name: ClassVar[str] = "travellers beyond the bound by (weight, class)"

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


def people_by_items(universe: LinkUniverse) -> UnitsByRecords:
    """Returns classes of people by their items."""
    return UnitsByRecords(base=MovementCells(universe=universe), ladder=ITEM_LADDER)


MovementQueryCells = MovementCells | LeftOutCells | SpeedSums | UnitsByRecords


def bound_within(cells: MovementQueryCells, limits: MovementLimits) -> Bound:
    """Returns how far one person moves an answer, as the limits have it."""
    if isinstance(cells, UnitsByRecords):
        return cells.bound
    return Bound(**cells.reach(limits)._asdict())
