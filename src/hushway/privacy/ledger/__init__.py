"""The privacy-budget ledger: what may be spent, what was spent, and a chain that shows edits."""

from typing import TYPE_CHECKING, Any

from hushway.face import face

if TYPE_CHECKING:
    from hushway.privacy.ledger.entries import Account, AccountKey, Entry, EntryKind, Unpublished
    from hushway.privacy.ledger.ledger import Ledger
    from hushway.privacy.ledger.people import Lost, People, PeopleLost
    from hushway.privacy.ledger.reservation import Reservation
    from hushway.privacy.ledger.window import Window
    from hushway.privacy.ledger.witness import Witness

__all__ = [
    "Account",
    "AccountKey",
    "Entry",
    "EntryKind",
    "Ledger",
    "Lost",
    "People",
    "PeopleLost",
    "Reservation",
    "Unpublished",
    "Window",
    "Witness",
]

# Days can be named without the library for databases.
_find = face(
    __name__,
    {
        "entries": ("Account", "AccountKey", "Entry", "EntryKind", "Unpublished"),
        "ledger": ("Ledger",),
        "people": ("Lost", "People", "PeopleLost"),
        "reservation": ("Reservation",),
        "window": ("Window",),
        "witness": ("Witness",),
    },
)


def __getattr__(name: str) -> Any:
    return _find(name)


def __dir__() -> list[str]:
    return __all__
