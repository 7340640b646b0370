"""Who is protected."""

from enum import StrEnum


class Unit(StrEnum):
    """The protected unit: neighbours differ in all records of one unit."""

    PERSON = "person"
    TRIP = "trip"

    @property
    def adjacency(self) -> str:
        """The neighbouring relation in words that fit on a certificate."""
        if self is Unit.PERSON:
            return (
                "Add or remove one person with all of their records in the release window. "
                "What anyone can learn is almost the same with and without that person."
            )
        return (
            "Add or remove ONE TRIP. One trip, not one person, is protected: somebody who made "
            "many trips is protected less, in proportion to their number of trips."
        )
