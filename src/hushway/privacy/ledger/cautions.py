"""What is not wrong with a ledger and yet worth knowing before it is trusted."""

import stat
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from hushway.privacy.ledger.memory import Heads, forgotten
from hushway.privacy.ledger.rows import AccountRow, EntryRow, now_text


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
