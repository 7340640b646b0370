"""The hash chain of each account: how entries are sealed, and the walk that finds edits."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations

from hushway.errors import LedgerError
from hushway.privacy.ledger.entries import (
    SETTLING,
    EntryKind,
    account_of,
    amount_from_text,
    charges_of,
    limit_from_text,
    secret_digest,
)
from hushway.privacy.ledger.people import datasets_from_text
from hushway.privacy.ledger.schema import AccountRow, EntryRow, LedgerRow, PeopleRow
from hushway.privacy.ledger.window import Window
from hushway.privacy.public_facts import digest_of

# The terms of the account (key, currency, limit) go into every seal, so that a raised limit breaks
# the whole chain. The secret of a release goes in through its own digest, so that a statement can
# be checked without it.

GENESIS = ""
_FORMAT = 2
_TERMS = ("number", "dataset", "unit", "period", "measure", "cap", "delta", "opened_at")
_SAID = ("number", "kind", "release", "amount", "spent", "purpose", "reference", "at", "days")
_DECLARED = ("number", "people", "datasets", "at")


def seal(account: AccountRow, entry: EntryRow) -> str:
    """Returns the hash of an entry, which must have every other field filled in."""
    return digest_of(
        {
            "format": _FORMAT,
            "account": _facts(account, _TERMS),
            **_facts(entry, _SAID),
            "secret": secret_digest(entry.secret),
            "previous": entry.previous_hash,
        }
    )


def seal_people(declaration: PeopleRow) -> str:
    """Returns the hash of a declaration, which must have every other field filled in."""
    facts = {"format": _FORMAT, **_facts(declaration, _DECLARED)}
    return digest_of(facts | {"previous": declaration.previous_hash})


def _facts(row: AccountRow | EntryRow | PeopleRow, names: Sequence[str]) -> dict[str, object]:
    return {name: getattr(row, name) for name in names}


def is_sealed(account: AccountRow, entry: EntryRow) -> bool:
    """Whether an entry still says what it said when it was written."""
    return _fits(entry.hash, partial(seal, account, entry))


def _fits(written: str, sealed: Callable[[], str]) -> bool:
    try:
        return written == sealed()
    except (AttributeError, TypeError, ValueError):
        # An edited row may hold bytes or broken text where text was written; no seal fits that.
        return False


def findings(
    whole: LedgerRow,
    accounts: Sequence[AccountRow],
    entries: Sequence[EntryRow],
    declarations: Sequence[PeopleRow],
) -> list[str]:
    """Returns everything that is wrong with a ledger, in words; nothing when it is sound."""
    chains: dict[int, list[EntryRow]] = defaultdict(list)
    for entry in entries:
        chains[entry.account].append(entry)
    found = list(_missing_accounts(whole.accounts, accounts, chains))
    for account in accounts:
        found += [
            f"Account {account.label}: {what}" for what in walk(account, chains[account.number])
        ]
    found += _repeated_releases(entries)
    found += _shared_days(accounts, chains)
    found += _declared(whole, declarations)
    return found


def _missing_accounts(
    account_count: int, accounts: Sequence[AccountRow], chains: dict[int, list[EntryRow]]
) -> Iterator[str]:
    present = {account.number for account in accounts}
    opened = set(range(1, account_count + 1))
    for number in sorted(opened - present):
        yield f"Account number {number} was removed."
    for number in sorted(present - opened, key=str):
        yield f"Account number {number} was added or renumbered from outside."
    for number in sorted(set(chains) - present, key=str):
        yield f"There are entries of account number {number}, but no such account."


def walk(account: AccountRow, chain: Sequence[EntryRow]) -> Iterator[str]:
    """Yields everything that is wrong with one account and its entries."""
    yield from _terms(account)
    yield from _places(account, chain)
    yield from _seals(account, chain)
    yield from _sums(account, chain)
    yield from _life_cycle(chain)


def _terms(account: AccountRow) -> Iterator[str]:
    try:
        account_of(account)
    except LedgerError:
        yield "its key, currency, budget limit, sum or opening time cannot be read."


def _places(account: AccountRow, chain: Sequence[EntryRow]) -> Iterator[str]:
    """Entries are numbered 1, 2, 3 ... up to the number that the account remembers."""
    numbers = [entry.number for entry in chain]
    last = account.entries if isinstance(account.entries, int) else len(chain)
    for number in sorted(set(range(1, last + 1)) - set(numbers)):
        yield f"entry {number} is missing."
    for number in numbers:
        if not isinstance(number, int) or not 1 <= number <= last:
            yield f"entry {number} is not one that the account knows of."
    if not isinstance(account.entries, int):
        yield "its number of entries cannot be read."
    if account.head != (chain[-1].hash if chain else GENESIS):
        yield "its head is not the hash of its last entry; the end was cut off, added to or edited."


def _seals(account: AccountRow, chain: Sequence[EntryRow]) -> Iterator[str]:
    broken = [entry.number for entry in chain if not is_sealed(account, entry)]
    if broken and len(broken) == len(chain):
        yield (
            "its key, currency, budget limit, delta or opening time was edited: no entry fits "
            "the account."
        )
    else:
        for number in broken:
            yield f"entry {number} was edited."
    previous = GENESIS
    for entry in chain:
        if entry.previous_hash != previous:
            yield f"entry {entry.number} does not follow the entry before it."
        previous = entry.hash


def _sums(account: AccountRow, chain: Sequence[EntryRow]) -> Iterator[str]:
    try:
        total = Fraction(0)
        for entry in chain:
            total += amount_from_text(entry.amount)
            if amount_from_text(entry.spent) != total:
                yield f"entry {entry.number} states a sum that its amounts do not add up to."
        if amount_from_text(account.spent) != total:
            yield "what it says it spent is not the sum of its entries."
        limit, span = limit_from_text(account.cap)
        if span is None and total > limit:
            yield "more was spent than its budget limit allows."
        if span is not None and span.fullest(charges_of(chain)) > limit:
            yield f"more was spent in {span} than its budget limit allows."
    except LedgerError:
        yield "an amount cannot be read."


def _life_cycle(chain: Sequence[EntryRow]) -> Iterator[str]:
    """An account opens once; a release is reserved, then settled once."""
    reserved: set[str] = set()
    settled: set[str] = set()
    for position, entry in enumerate(chain):
        name = f"entry {entry.number} ({entry.kind} {entry.release})".replace(" )", ")")
        if (position == 0) != (entry.kind == EntryKind.OPEN):
            yield f"{name} stands in the wrong place: an account opens once, with its first entry."
        if (entry.kind == EntryKind.RESERVE) != (entry.amount != "0"):
            yield f"{name} has an amount that such an entry cannot have."
        readable = _window(entry) is not None
        if not (readable if entry.kind == EntryKind.RESERVE else entry.days == ""):
            yield f"{name} has days that such an entry cannot have."
        if entry.kind == EntryKind.RESERVE:
            reserved.add(entry.release)
        elif entry.kind in SETTLING:
            if entry.release not in reserved:
                yield f"{name} settles a release that was not reserved before."
            if entry.release in settled:
                yield f"{name} settles a release that was settled already."
            settled.add(entry.release)
        elif entry.kind not in (EntryKind.OPEN, EntryKind.RESTORE):
            yield f"{name} is of a kind that hushway does not write."


def _repeated_releases(entries: Sequence[EntryRow]) -> Iterator[str]:
    counts = Counter(entry.release for entry in entries if entry.kind == EntryKind.RESERVE)
    for release, times in sorted(counts.items(), key=str):
        if times > 1:
            yield f"Release {release} was reserved {times} times."


def _shared_days(
    accounts: Sequence[AccountRow], chains: dict[int, list[EntryRow]]
) -> Iterator[str]:
    """No two accounts of a data set spend on the same days."""
    windows = {
        account.number: {window for entry in chains[account.number] if (window := _window(entry))}
        for account in accounts
    }
    for one, other in combinations(accounts, 2):
        if one.dataset == other.dataset and any(
            mine.overlaps(yours) for mine in windows[one.number] for yours in windows[other.number]
        ):
            yield f"Accounts {one.label} and {other.label} were charged for the same days."


def _declared(whole: LedgerRow, declarations: Sequence[PeopleRow]) -> Iterator[str]:
    """Declarations about people are a chain of their own."""
    numbers = [declaration.number for declaration in declarations]
    if numbers != list(range(1, len(numbers) + 1)) or len(numbers) != whole.declarations:
        yield "Declarations about people were removed, added or renumbered from outside."
    previous = GENESIS
    for declaration in declarations:
        name = f"Declaration {declaration.number} about people"
        if not _fits(declaration.hash, partial(seal_people, declaration)):
            yield f"{name} was edited."
        elif declaration.previous_hash != previous:
            yield f"{name} does not follow the one before it."
        try:
            datasets_from_text(declaration.datasets)
        except LedgerError:
            yield f"{name} cannot be read."
        previous = declaration.hash
    if whole.people_head != previous:
        yield "The last declaration about people is not the one that the ledger remembers."


def _window(entry: EntryRow) -> Window | None:
    """Returns the days of an entry, or None if it has none or they cannot be read."""
    try:
        return Window.from_text(entry.days)
    except LedgerError:
        return None
