"""A ledger that was restored from an older copy is charged again for what it has lost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from hushway.errors import BudgetError, LedgerError
from hushway.privacy.bound import Unit
from hushway.privacy.ledger.book import Book, Line, new_account
from hushway.privacy.ledger.entries import (
    SETTLING,
    AccountKey,
    Entry,
    EntryKind,
    amount_from_text,
)
from hushway.privacy.ledger.memory import SeenAccount, forgotten, recalled
from hushway.privacy.ledger.people import account_of, entry_of
from hushway.privacy.ledger.reader import existing
from hushway.privacy.ledger.schema import AccountRow, EntryRow
from hushway.privacy.ledger.window import Window

_BY_HAND = "charged by hand, because the ledger was restored from an older copy"
_NOTE = "restored from an older copy; what was lost is charged for again"


@dataclass(frozen=True, kw_only=True)
class LostRelease:
    """A release that was charged for, and that a restored ledger may not know.

    Attributes:
        key: The account that spent.
        release: The id of the release.
        amount: What it cost, in the currency of the account.
        window: The days whose rows it may have counted.
        purpose: What it was for, in words.
        entry_hash: The hash of the entry that charged for it; empty if nobody knows.
        reference: The digest of what was published; empty if nobody knows of any.
    """

    key: AccountKey
    release: str
    amount: Fraction
    window: Window
    purpose: str
    entry_hash: str = ""
    reference: str = ""


def restore(book: Book, found: Sequence[LostRelease]) -> list[Entry]:
    """Writes what is missing, as it was seen and as it was found; the whole must be locked.

    Privacy:
        Every release is charged once and in full, also where that passes a limit or meets days that
        another account has spent on meanwhile: it was spent.

    Raises:
        BudgetError: Nothing is missing, or a release fits no account.
        LedgerError: Entries are missing, and nobody knows which; or the ledger is damaged.
    """
    lost = forgotten(recalled(book.first_entry()), book.entries())
    if any(not account.chain for account in lost) and not found:
        raise LedgerError(
            "The ledger has lost entries, and it is not known what was spent by them.",
            advice="Name the releases that you have published since, with --release, or state what "
            "was spent, with --charge.",
        )
    written = [entry for account in lost for entry in _read_back(book, account)]
    written += [entry for release in found for entry in _charged(book, release)]
    written += [_noted(book, account) for account in lost]
    if not written:
        raise BudgetError(
            "Nothing is missing from this ledger that you have seen or named.",
            advice="If releases were published since the copy was made, name them with --release.",
        )
    return written


def _read_back(book: Book, seen: SeenAccount) -> Iterator[Entry]:
    """Writes the entries of an account that a ledger does not have, in the order they had."""
    if not seen.chain:
        return
    row = account_of(seen.account)
    if book.lock_account(row.key) is None:
        book.open_account(
            new_account(
                row.key,
                measure=seen.account.measure,
                budget_limit=row.budget_limit.amount,
                delta=row.delta,
            )
        )
    for entry in seen.chain:
        if _is_missing(book, entry):
            yield _append(book, row.key, _again(entry))


def _is_missing(book: Book, entry: EntryRow) -> bool:
    if entry.kind == EntryKind.RESERVE:
        return book.reserved(entry.release) is None
    if entry.kind in SETTLING:
        return book.settled(entry.release) is None
    # That an account was restored before must not be forgotten either.
    return entry.kind == EntryKind.RESTORE and not any(
        other.kind == EntryKind.RESTORE and other.reference == entry.reference
        for other in book.entries()
    )


def _again(entry: EntryRow) -> Line:
    charged = entry.kind == EntryKind.RESERVE
    return Line(
        kind=EntryKind(entry.kind),
        release=entry.release,
        amount=amount_from_text(entry.amount),
        purpose=entry.purpose,
        # Certificates name the entry that was lost.
        reference=(entry.reference or entry.hash) if charged else entry.reference,
        days=Window.from_text(entry.days).to_text() if charged else "",
    )


def _charged(book: Book, lost: LostRelease) -> Iterator[Entry]:
    if book.reserved(lost.release) is not None:
        return
    charge = Line(
        kind=EntryKind.RESERVE,
        release=lost.release,
        amount=lost.amount,
        purpose=lost.purpose,
        reference=lost.entry_hash,
        days=lost.window.to_text(),
    )
    end = (
        Line(kind=EntryKind.PUBLISH, release=lost.release, reference=lost.reference)
        if lost.reference
        else Line(kind=EntryKind.ABANDON, release=lost.release, purpose=_BY_HAND)
    )
    yield _append(book, lost.key, charge)
    yield _append(book, lost.key, end)


def _noted(book: Book, seen: SeenAccount) -> Entry:
    line = Line(kind=EntryKind.RESTORE, purpose=_NOTE, reference=seen.account.head)
    return _append(book, _key_for(book, seen.account), line)


def _key_for(book: Book, seen: AccountRow) -> AccountKey:
    """Returns the account that notes the loss of another: the same one, if its key is known."""
    rows = book.accounts()
    same = [row for row in rows if row.label == seen.label or not seen.dataset]
    row = next((row for row in same if row.number == seen.number), (same or rows)[0])
    return AccountKey(dataset=row.dataset, unit=Unit(row.unit), period=row.period)


def _append(book: Book, key: AccountKey, line: Line) -> Entry:
    return entry_of(key, book.append(existing(book.lock_account(key), key), line))
