"""Ledgers that were put back to an older copy: noticed, refused, and charged again.

Such a ledger is sound in itself. So all entries, without secrets, are kept in a file of the user's
own after each writing. A ledger that no longer holds the last of them is not the one that was
written to, and nothing is spent from it until somebody has said what happened. This helps an honest
steward: the file can be deleted, and another user or machine has not seen what this one has.
"""

import contextlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fcntl import LOCK_EX, flock
from fractions import Fraction
from pathlib import Path
from typing import Any

from hushway.errors import BudgetError, LedgerError
from hushway.numerics.folders import user_folder
from hushway.privacy.bound import Unit
from hushway.privacy.ledger.book import Book, Line, existing, new_account
from hushway.privacy.ledger.entries import (
    SETTLING,
    AccountKey,
    Entry,
    EntryKind,
    account_of,
    amount_from_text,
    entry_of,
)
from hushway.privacy.ledger.schema import AccountRow, EntryRow
from hushway.privacy.ledger.window import Window

Seen = Mapping[int, "SeenAccount"]
"""What was seen of each account, by its number."""


@dataclass(frozen=True, kw_only=True)
class SeenAccount:
    """An account as this user saw it last.

    Attributes:
        chain: Its entries, without secrets; empty if only the last one's hash was kept, as
            versions before did.
    """

    account: AccountRow
    chain: tuple[EntryRow, ...]

    @property
    def label(self) -> str:
        """The account's key, or its number if no more is known."""
        return self.account.label if self.chain else f"number {self.account.number}"


def remember(accounts: Sequence[AccountRow], entries: Sequence[EntryRow]) -> None:
    """Keeps what was seen; where nothing can be kept, nothing is.

    What was seen is replaced only by a ledger that holds it, never by a shorter chain or another.
    """
    if not entries:
        return
    with contextlib.suppress(OSError), _turn(_file(entries[0])) as file:
        seen = recalled(entries[0])
        kept = {lost.account.number: lost for lost in forgotten(seen, entries)}
        present = {account.number: _seen(account, entries) for account in accounts}
        _write(file, present | kept)


def recalled(first_entry: EntryRow | None) -> Seen:
    """Returns what was seen of the ledger that begins with an entry; nothing if nothing was."""
    if first_entry is None:
        return {}
    try:
        kept = json.loads(_file(first_entry).read_text(encoding="utf-8"))
        return {int(number): _read(int(number), facts) for number, facts in kept.items()}
    except (OSError, ValueError, TypeError, AttributeError, LookupError):
        return {}


def forgotten(seen: Seen, entries: Sequence[EntryRow]) -> list[SeenAccount]:
    """Returns what was seen of accounts and is neither in a ledger nor answered for in it.

    Somebody has answered for what was lost when an entry names the last one that was.
    """
    held = {entry.hash for entry in entries}
    answered = {entry.reference for entry in entries if entry.kind == EntryKind.RESTORE}
    return [account for account in seen.values() if account.account.head not in held | answered]


def lost_entries(seen: Seen, entries: Sequence[EntryRow]) -> LedgerError | None:
    """Returns why nothing may be spent from a ledger that has lost entries; None if it has not."""
    labels = ", ".join(account.label for account in forgotten(seen, entries))
    if not labels:
        return None
    return LedgerError(
        f"The ledger has lost entries of account {labels} that you have seen: it was restored from "
        "an older copy, or it is another copy. What was spent since is not in it. Nothing was "
        "spent.",
        advice="Put the newest copy back, or let the ledger be charged for what was lost: "
        "hushway ledger settle PLAN --restored",
    )


def refuse_forgotten(book: Book) -> None:
    """Makes sure that a ledger holds all entries of it that this user has seen.

    The memory is read before the entries, and the transaction must see what was committed between:
    a colleague who writes meanwhile is no reason to refuse.
    """
    seen = recalled(book.first_entry())
    if (refusal := lost_entries(seen, book.entries())) is not None:
        raise refusal


def _seen(account: AccountRow, entries: Sequence[EntryRow]) -> SeenAccount:
    chain = (entry for entry in entries if entry.account == account.number)
    return SeenAccount(account=account, chain=tuple(replace(entry, secret="") for entry in chain))


def _read(number: int, facts: Any) -> SeenAccount:
    if isinstance(facts, dict):
        return SeenAccount(
            account=AccountRow(**facts["account"]),
            chain=tuple(EntryRow(**entry, secret="") for entry in facts["chain"]),
        )
    # Versions before kept the number and the hash of the last entry.
    last, head = facts
    unknown = dict.fromkeys(
        ("dataset", "unit", "period", "measure", "cap", "delta", "opened_at", "spent"), ""
    )
    account = AccountRow(number=number, entries=int(last), head=str(head), **unknown)
    return SeenAccount(account=account, chain=())


def _write(file: Path, seen: Seen) -> None:
    facts = {
        str(number): {
            "account": asdict(account.account),
            "chain": [_without_secret(entry) for entry in account.chain],
        }
        if account.chain
        else [account.account.entries, account.account.head]
        for number, account in seen.items()
    }
    partial = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    with contextlib.suppress(OSError):
        partial.touch(mode=0o600)
        partial.write_text(json.dumps(facts), encoding="utf-8")
        partial.replace(file)


def _without_secret(entry: EntryRow) -> dict[str, object]:
    return {name: fact for name, fact in asdict(entry).items() if name != "secret"}


@contextlib.contextmanager
def _turn(file: Path) -> Iterator[Path]:
    """Lets one process at a time read the memory and write it again."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(file.parent, os.O_RDONLY)
    try:
        # Where a disk knows no locks, two that write at once may keep the older of their memories.
        with contextlib.suppress(OSError):
            flock(handle, LOCK_EX)
        yield file
    finally:
        os.close(handle)


def _file(first_entry: EntryRow) -> Path:
    folder = user_folder("XDG_STATE_HOME", "~/.local/state")
    if folder is None:
        raise FileNotFoundError("this user has no home")
    name = first_entry.hash.removeprefix("sha256:")[:32]
    return folder / "ledgers" / f"{name}.json"


def older(seen: Seen, entries: Sequence[EntryRow]) -> list[str]:
    """Returns that a ledger has lost entries which this user has seen, if it has."""
    missing = [account.label for account in forgotten(seen, entries)]
    if not missing:
        return []
    sentence = (
        f"You have seen entries of account {', '.join(missing)} that are not here: this is an "
        "older copy, or another one. What was spent since is not in it."
    )
    return [sentence]


_BY_HAND = "charged by hand, because the ledger was restored from an older copy"
_NOTE = "restored from an older copy; what was lost is charged for again"


@dataclass(frozen=True, kw_only=True)
class LostRelease:
    """A release that was charged for, and that a restored ledger may not know.

    Attributes:
        window: The days whose rows it may have counted.
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
                span=row.span,
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
