"""The protected unit, and its sensitivity: how far one unit can move a vector of counts."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from hushway.errors import PrivacyError


@dataclass(frozen=True, kw_only=True)
class Bound:
    """A limit on one unit's contribution, enforced by the code that hands out the bound.

    Privacy:
        The noise is calibrated to `l1` or `l2_squared`; an engine that states a bound must enforce
        it.

    Attributes:
        cells: Most cells one unit touches.
        each: Most it adds to any one cell.
        total: Most it adds over all cells together.
    """

    cells: int
    each: int
    total: int

    def __post_init__(self) -> None:
        parts = (self.cells, self.each, self.total)
        # An int of numpy would overflow in silence where sensitivities are multiplied.
        if not all(type(part) is int and part >= 1 for part in parts):
            raise PrivacyError(
                "A contribution bound must be a whole number, at least 1.",
                advice="Allow every unit at least one record.",
            )

    @classmethod
    def of_records(cls, most: int) -> "Bound":
        """Returns the bound of a unit with so many records, each in one cell, maybe all in one."""
        return cls(cells=most, each=most, total=most)

    @property
    def l1(self) -> int:
        """The L1 sensitivity: the largest sum of absolute changes."""
        return min(self.total, self.cells * self.each)

    @property
    def l2_squared(self) -> int:
        """The squared L2 sensitivity.

        A sum of squares is convex, so the worst unit fills as many cells as it can to the brim and
        puts the remainder into one more.
        """
        each = min(self.each, self.l1)
        full, rest = divmod(self.l1, each)
        return full * each**2 + rest**2


class Reach(NamedTuple):
    """How far one person moves an answer: the parts of a `hushway.privacy.bound.Bound`."""

    cells: int
    each: int
    total: int


class Unit(StrEnum):
    """The protected unit: neighbours differ in all records of one unit.

    Privacy:
        A unit may be named only where code bounds it: a person or a device by a column of ids, a
        record or a trip by counting each of them once.
    """

    PERSON = "person"
    DEVICE = "device"
    RECORD = "record"
    TRIP = "trip"

    @property
    def has_many_records(self) -> bool:
        """Whether a unit is known by an id that many records may carry."""
        return self in (Unit.PERSON, Unit.DEVICE)

    @property
    def adjacency(self) -> str:
        """The neighbouring relation in words that fit on a certificate."""
        return _ADJACENCY[self]


_ADJACENCY = {
    Unit.PERSON: (
        "Add or remove one person with all of their records in the release window. "
        "What anyone can learn is almost the same with and without that person."
    ),
    Unit.DEVICE: (
        "Add or remove ONE DEVICE, such as a phone, a card or a vehicle, with all of its records "
        "in the release window. One device, not one person, is protected: somebody who used "
        "several is protected less, in proportion to their number, and people who share one are "
        "protected together, as if they were one."
    ),
    Unit.RECORD: (
        "Add or remove ONE RECORD, such as what one person did in one day. One record, not one "
        "person, is protected: somebody with many records is protected less, in proportion to "
        "their number of records."
    ),
    Unit.TRIP: (
        "Add or remove ONE TRIP. One trip, not one person, is protected: somebody who made "
        "many trips is protected less, in proportion to their number of trips."
    ),
}
