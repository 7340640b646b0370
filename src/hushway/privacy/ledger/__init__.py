"""The privacy-budget ledger: what may be spent, what was spent, and a chain that shows edits."""

from typing import TYPE_CHECKING

from hushway.lazy_exports import attach

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
    "Span",
    "Unpublished",
    "Window",
    "Witness",
]

# Plans are read without the library for databases.
if TYPE_CHECKING:
    from hushway.privacy.ledger.charging import Reservation
    from hushway.privacy.ledger.entries import Account, AccountKey, Entry, EntryKind, Unpublished
    from hushway.privacy.ledger.inspection import Witness
    from hushway.privacy.ledger.ledger import Ledger
    from hushway.privacy.ledger.people import Lost, People, PeopleLost
    from hushway.privacy.ledger.recovery import LostRelease
    from hushway.privacy.ledger.span import Span
    from hushway.privacy.ledger.window import Window
else:
    __getattr__, __dir__ = attach(__name__, __all__)
