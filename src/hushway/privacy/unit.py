"""Who is protected."""

from enum import StrEnum


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
