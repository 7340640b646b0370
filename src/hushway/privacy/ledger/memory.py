"""What this user has seen of a ledger, kept apart from it: an older copy is noticed.

A ledger that was put back to an earlier day is sound in itself. So all entries, without secrets,
are kept in a file of the user's own after each writing, and a ledger that no longer holds the last
of them is not the one that was written to: nothing is spent from it until somebody has said what
happened. It is a help to an honest steward: the file can be taken away, and another user or machine
has not seen what this one has.
"""

import contextlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any

from hushway.errors import LedgerError
from hushway.numerics.user_folders import user_folder
from hushway.privacy.ledger.book import Book
from hushway.privacy.ledger.entries import EntryKind
from hushway.privacy.ledger.schema import AccountRow, EntryRow

Seen = Mapping[int, "SeenAccount"]
"""What was seen of each account, by its number."""


@dataclass(frozen=True, kw_only=True)
class SeenAccount:
    """An account as this user saw it last.

    Attributes:
        account: The account, as it stood.
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

    Raises:
        LedgerError: It does not.
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
