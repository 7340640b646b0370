"""What this user has seen of a ledger, kept apart from it: an older copy is noticed.

A ledger that was put back to an earlier day is sound in itself. So the hash of every account's last
entry is kept in a file of the user's own after each writing, and a ledger that no longer holds one
of them is not the one that was written to. It is a help to an honest steward: the file can be taken
away, and another user or machine has not seen what this one has.
"""

import contextlib
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from hushway.privacy.ledger.rows import AccountRow, EntryRow

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
