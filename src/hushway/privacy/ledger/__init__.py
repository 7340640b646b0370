"""The privacy-budget ledger: what may be spent, what was spent, and a chain that shows edits."""

from typing import TYPE_CHECKING, Any

from hushway.lazy_exports import face

if TYPE_CHECKING:
    from hushway.privacy.ledger.entries import Account, AccountKey, Entry, EntryKind, Unpublished
    from hushway.privacy.ledger.inspection import Witness
    from hushway.privacy.ledger.ledger import Ledger
    from hushway.privacy.ledger.people import Lost, People, PeopleLost
    from hushway.privacy.ledger.recovery import LostRelease
    from hushway.privacy.ledger.reservation import Reservation
    from hushway.privacy.ledger.window import Window

__all__ = [
    "Account",
    "AccountKey",
    "Entry",
    "EntryKind",
    "Ledger",
    "Lost",
    "LostRelease",
    "People",
    "PeopleLost",
    "Reservation",
    "Unpublished",
    "Window",
    "Witness",
]

# Imported when first used: plans are read without the library for databases.
_find = face(
    __name__,
    {
        "entries": ("Account", "AccountKey", "Entry", "EntryKind", "Unpublished"),
        "inspection": ("Witness",),
        "ledger": ("Ledger",),
        "people": ("Lost", "People", "PeopleLost"),
        "recovery": ("LostRelease",),
        "reservation": ("Reservation",),
        "window": ("Window",),
    },
)


def __getattr__(name: str) -> Any:
    return _find(name)


def __dir__() -> list[str]:
    return __all__
