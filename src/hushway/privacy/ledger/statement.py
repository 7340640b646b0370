"""From stored rows to the values that the rest of hushway reads."""

from datetime import datetime

from hushway.errors import HushwayError, LedgerError
from hushway.privacy.ledger.accounts import Account, AccountKey
from hushway.privacy.ledger.amounts import amount_from_text
from hushway.privacy.ledger.chain import secret_digest
from hushway.privacy.ledger.entries import SETTLING, Entry, EntryKind, Unpublished
from hushway.privacy.ledger.rows import AccountRow, EntryRow
from hushway.privacy.ledger.window import Window
from hushway.privacy.loss import Measure, loss_of
from hushway.privacy.unit import Unit


def account_of(row: AccountRow) -> Account:
    """Reads an account.

    Raises:
        LedgerError: The row is not one that hushway wrote.
    """
    try:
        return Account(
            key=AccountKey(dataset=row.dataset, unit=Unit(row.unit), period=row.period),
            cap=loss_of(Measure(row.measure), amount_from_text(row.cap)),
            delta=amount_from_text(row.delta) if row.delta else None,
            spent=amount_from_text(row.spent),
            opened_at=datetime.fromisoformat(row.opened_at),
        )
    except (HushwayError, AttributeError, TypeError, ValueError):
        raise damaged("An account") from None


def entry_of(key: AccountKey, row: EntryRow) -> Entry:
    """Reads an entry.

    Raises:
        LedgerError: The row is not one that hushway wrote.
    """
    try:
        return Entry(
            key=key,
            number=row.number,
            kind=EntryKind(row.kind),
            release=row.release,
            amount=amount_from_text(row.amount),
            spent=amount_from_text(row.spent),
            purpose=row.purpose,
            reference=row.reference,
            at=datetime.fromisoformat(row.at),
            window=Window.from_text(row.days) if row.days else None,
            secret_digest=secret_digest(row.secret),
            previous_hash=row.previous_hash,
            hash=row.hash,
        )
    except (HushwayError, AttributeError, TypeError, ValueError):
        raise damaged("An entry") from None


def unpublished_among(entries: list[Entry]) -> list[Unpublished]:
    """Returns the releases that were reserved and not published, in the order of the entries."""
    settled = {entry.release: entry for entry in entries if entry.kind in SETTLING}
    waiting = []
    for entry in entries:
        end = settled.get(entry.release)
        if entry.kind != EntryKind.RESERVE or (end and end.kind == EntryKind.PUBLISH):
            continue
        waiting.append(
            Unpublished(
                release=entry.release,
                key=entry.key,
                amount=entry.amount,
                purpose=entry.purpose,
                state="abandoned" if end else "reserved",
                reason=end.purpose if end else "",
                reserved_at=entry.at,
            )
        )
    return waiting


def damaged(what: str) -> LedgerError:
    """Returns the error for a row that hushway did not write."""
    return LedgerError(
        f"{what} of the ledger was edited or is damaged.",
        advice="Publish nothing from this ledger until it was compared with a backup.",
    )
