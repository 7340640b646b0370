"""What speaks against trusting a ledger: published certificates, lost entries, rights and clocks.

The chain in a ledger shows edits, and cannot show that the whole ledger was put back to an earlier
day. Published certificates can: each names its entry by hash.
"""

import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

from hushway.privacy.ledger.book import Book
from hushway.privacy.ledger.chain import is_sealed
from hushway.privacy.ledger.entries import (
    Account,
    AccountKey,
    EntryKind,
    account_of,
    amount_from_text,
    readable,
)
from hushway.privacy.ledger.names import normal_name
from hushway.privacy.ledger.recovery import Seen, older
from hushway.privacy.ledger.schema import AccountRow, EntryRow, now_text
from hushway.privacy.loss import Measure


@dataclass(frozen=True, kw_only=True)
class Witness:
    """What a published certificate says about its ledger.

    Attributes:
        reference: The digest of the release's seal, as it is noted when a release is published.
        certificate: The digest of the certificate, which was noted before seals were.
        spent: What the account had spent for good when the certificate was written.
        span: What a rolling limit is about, as it is stored.
    """

    release: str
    entry_hash: str
    reference: str
    certificate: str
    key: AccountKey
    measure: Measure
    spent: Fraction
    budget_limit: Fraction
    span: str | None = None


def contradictions(book: Book, witness: Witness) -> list[str]:
    """Returns everything in which a ledger contradicts a certificate; nothing if they agree."""
    release = normal_name("release id", witness.release)
    entry = book.reserved(release)
    if entry is None:
        words = f"The ledger does not know release {release}: it is another ledger, or it was "
        return [words + "restored from a copy that is older than the release."]
    row = next((row for row in book.accounts() if row.number == entry.account), None)
    if row is None:
        return [f"The account that was charged for release {release} is missing from the ledger."]
    return [
        *_about_entry(row, entry, witness),
        *_about_end(book.settled(release), witness),
        *_about_account(account_of(row), entry, witness),
    ]


def _about_entry(account: AccountRow, entry: EntryRow, witness: Witness) -> Iterator[str]:
    # An entry that was read back into a restored ledger names the one that was lost.
    if witness.entry_hash not in (entry.hash, entry.reference):
        yield (
            "The entry that reserved the release has another hash than the certificate says: one "
            "of them was made anew."
        )
    if not is_sealed(account, entry):
        yield "The entry that reserved the release was edited."


def _about_end(end: EntryRow | None, witness: Witness) -> Iterator[str]:
    if end is None:
        yield (
            "The ledger says that the release was reserved and never published: publishing broke "
            "off, or the ledger was restored from a copy that is older."
        )
    elif end.kind == EntryKind.ABANDON:
        yield "The ledger says that the release was abandoned, and yet here is its certificate."
    elif end.reference not in (witness.reference, witness.certificate):
        yield (
            "The ledger says that the release was published with other files or another "
            "certificate."
        )


def binds_files(end: EntryRow | None) -> bool:
    """Whether the end of a release notes its seal, and not its certificate alone."""
    return end is not None and end.reference.startswith("seal-")


def _about_account(account: Account, entry: EntryRow, witness: Witness) -> Iterator[str]:
    measure = account.budget_limit.measure
    if account.key != witness.key:
        yield f"The ledger charged account {account.key}; the certificate names {witness.key}."
    if (measure, account.budget_limit.amount) != (witness.measure, witness.budget_limit):
        yield (
            "The account has a budget limit of "
            f"{readable(measure, account.budget_limit.amount)}; the certificate "
            f"says {readable(witness.measure, witness.budget_limit)}."
        )
    span = None if account.span is None else account.span.to_text()
    if span != witness.span:
        yield "The limit of the account is for another span than the certificate says."
    if measure is not witness.measure:
        return
    if witness.spent < amount_from_text(entry.spent) and not entry.reference:
        yield (
            f"The certificate says that the account had spent {readable(measure, witness.spent)}; "
            f"with the release it had spent {readable(measure, amount_from_text(entry.spent))}."
        )
    if witness.spent > account.spent:
        yield (
            f"The account has spent {readable(measure, account.spent)}, less than the "
            f"{readable(measure, witness.spent)} that the certificate says: the ledger was "
            "restored from a copy that is older than the certificate."
        )


def cautions(
    *, file: Path | None, seen: Seen, accounts: Sequence[AccountRow], entries: Sequence[EntryRow]
) -> list[str]:
    """Returns what a steward should know about a ledger, one sentence each."""
    labels = {account.number: account.label for account in accounts}
    return [*_open_file(file), *older(seen, entries), *_clock(labels, entries)]


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
