"""What is not wrong with a ledger and yet worth knowing before it is trusted."""

import contextlib
import json
import os
import secrets
import stat
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from hushway.privacy.ledger.schema import AccountRow, EntryRow, now_text

# What this user has seen of a ledger, kept apart from it: an older copy is noticed.
#
# A ledger that was put back to an earlier day is sound in itself. So the hash of every account's
# last entry is kept in a file of the user's own after each writing, and a ledger that no longer
# holds one of them is not the one that was written to. It is a help to an honest steward: the file
# can be taken away, and another user or machine has not seen what this one has.

Heads = Mapping[int, tuple[int, str]]
"""For each account the number of its last entry, and the hash of that."""


def remember(accounts: Sequence[AccountRow], first_entry: str) -> None:
    """Keeps what was seen; where nothing can be kept, nothing is."""
    seen = dict(recalled(first_entry))
    for account in accounts:
        if account.entries >= seen.get(account.number, (0, ""))[0]:
            seen[account.number] = account.entries, account.head
    with contextlib.suppress(OSError):
        file = _file(first_entry)
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
        partial.write_text(json.dumps({str(number): head for number, head in seen.items()}))
        partial.replace(file)


def recalled(first_entry: str) -> Heads:
    """Returns what was seen of the ledger that begins with an entry; nothing if nothing was."""
    try:
        kept = json.loads(_file(first_entry).read_text())
        return {int(number): (int(entry), str(head)) for number, (entry, head) in kept.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def forgotten(seen: Heads, entries: Sequence[EntryRow]) -> list[int]:
    """Returns the accounts of which a ledger no longer holds what was seen."""
    held = {(entry.account, entry.number): entry.hash for entry in entries}
    return [number for number, (last, head) in seen.items() if held.get((number, last)) != head]


def _file(first_entry: str) -> Path:
    state = os.environ.get("XDG_STATE_HOME", "")
    if not state.startswith("/"):
        state = os.path.expanduser("~/.local/state")  # noqa: PTH111  has an answer without a home
    if not state.startswith("/"):
        raise FileNotFoundError("this user has no home")
    return Path(state) / "hushway" / "ledgers" / f"{first_entry.removeprefix('sha256:')[:32]}.json"


def cautions(
    *,
    file: Path | None,
    seen: Heads,
    accounts: Sequence[AccountRow],
    entries: Sequence[EntryRow],
) -> list[str]:
    """Returns what a steward should know about a ledger, one sentence each.

    Args:
        file: Where it lies, if it is a file.
        seen: What this user has seen of it before.
        accounts: Its accounts.
        entries: Their entries, in order.
    """
    labels = {account.number: account.label for account in accounts}
    return [*_open_file(file), *_older(seen, labels, entries), *_clock(labels, entries)]


def _open_file(file: Path | None) -> Iterator[str]:
    if file is None or not file.exists():
        return
    mode = stat.S_IMODE(file.stat().st_mode)
    if mode & (stat.S_IWGRP | stat.S_IWOTH):
        yield (
            f"Others may write to {file.name}, and so to the budget: take that right away "
            f"(chmod 600 {file.name})."
        )
    elif mode & (stat.S_IRGRP | stat.S_IROTH):
        yield (
            f"Others may read {file.name}, and with it the keys that decide whose rows count: take "
            f"that right away (chmod 600 {file.name})."
        )


def _older(seen: Heads, labels: dict[int, str], entries: Sequence[EntryRow]) -> Iterator[str]:
    missing = [labels.get(number, f"number {number}") for number in forgotten(seen, entries)]
    if missing:
        yield (
            f"You have seen entries of account {', '.join(missing)} that are not here: this is an "
            "older copy, or another one. What was spent since is not in it."
        )


def _clock(labels: dict[int, str], entries: Sequence[EntryRow]) -> Iterator[str]:
    back = {
        after.account
        for before, after in pairwise(entries)
        if before.account == after.account and after.at < before.at
    }
    for number in sorted(back):
        yield f"The clock went back between two entries of account {labels.get(number, number)}."
    latest = max((entry.at for entry in entries), default="")
    if latest > now_text():
        yield "The last entry lies in the future: the clock of this machine, or of another, is off."
