"""The privacy-budget ledger: what may be spent, what was spent, and a chain that shows edits."""

from hushway.privacy.ledger.accounts import Account, AccountKey
from hushway.privacy.ledger.entries import Entry, EntryKind, Unpublished
from hushway.privacy.ledger.ledger import Ledger
from hushway.privacy.ledger.reservation import Reservation

__all__ = [
    "Account",
    "AccountKey",
    "Entry",
    "EntryKind",
    "Ledger",
    "Reservation",
    "Unpublished",
]
