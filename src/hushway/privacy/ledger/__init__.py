"""The privacy-budget ledger: what may be spent, what was spent, and a chain that shows edits."""

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
