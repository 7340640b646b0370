"""Entries: the lines of an account, written once and never changed."""

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from decimal import Context
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING

from hushway.errors import BudgetError, LedgerError
from hushway.privacy.bound import Unit
from hushway.privacy.ledger.names import normal_name
from hushway.privacy.ledger.window import Window
from hushway.privacy.loss import Loss, Measure
from hushway.privacy.public_facts import digest_of

if TYPE_CHECKING:
    from hushway.privacy.ledger.schema import AccountRow, EntryRow, PeopleRow

# The hash chain: every entry is sealed with the terms of its account and the entry before it.
#
# The terms (key, currency, limit) go into every seal, so that a raised limit breaks the whole
# chain. The secret of a release goes in through its own digest, so that a statement can be
# re-checked without it.

GENESIS = ""
_FORMAT = 2


def seal(account: "AccountRow", entry: "EntryRow") -> str:
    """Returns the hash of an entry, which must have every other field filled in."""
    return digest_of(
        {
            "format": _FORMAT,
            "account": {
                "number": account.number,
                "dataset": account.dataset,
                "unit": account.unit,
                "period": account.period,
                "measure": account.measure,
                "cap": account.cap,
                "delta": account.delta,
                "opened_at": account.opened_at,
            },
            "number": entry.number,
            "kind": entry.kind,
            "release": entry.release,
            "amount": entry.amount,
            "spent": entry.spent,
            "purpose": entry.purpose,
            "reference": entry.reference,
            "at": entry.at,
            "days": entry.days,
            "secret": secret_digest(entry.secret),
            "previous": entry.previous_hash,
        }
    )


def is_sealed(account: "AccountRow", entry: "EntryRow") -> bool:
    """Whether an entry still says what it said when it was written."""
    try:
        return entry.hash == seal(account, entry)
    except (AttributeError, TypeError, ValueError):
        # An edited row may hold bytes or broken text where text was written; no seal fits that.
        return False


def seal_people(declaration: "PeopleRow") -> str:
    """Returns the hash of a declaration, which must have every other field filled in."""
    return digest_of(
        {
            "format": _FORMAT,
            "number": declaration.number,
            "people": declaration.people,
            "datasets": declaration.datasets,
            "at": declaration.at,
            "previous": declaration.previous_hash,
        }
    )


def is_sealed_people(declaration: "PeopleRow") -> bool:
    """Whether a declaration still says what it said when it was written."""
    try:
        return declaration.hash == seal_people(declaration)
    except (AttributeError, TypeError, ValueError):
        return False


def secret_digest(secret: str) -> str:
    """Returns the SHA-256 of a secret, or nothing for no secret."""
    return "sha256:" + hashlib.sha256(secret.encode()).hexdigest() if secret else ""


@dataclass(frozen=True, kw_only=True)
class AccountKey:
    """Who is protected, in which data, over which time.

    Privacy:
        Losses add up within one account only. The ledger lets no two accounts of one data set spend
        on the same days, whatever their units and periods are called; data sets under different
        names are kept apart by the steward alone.

    Attributes:
        dataset: The steward's own name for the data, kept in its normal form.
        unit: Who is protected.
        period: The steward's own name for the time that the limit covers, such as 2026-03, kept in
            its normal form.
    """

    dataset: str
    unit: Unit
    period: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "dataset", normal_name("data set", self.dataset))
        object.__setattr__(self, "period", normal_name("period", self.period))

    def __str__(self) -> str:
        return f"{self.dataset} / {self.unit} / {self.period}"


@dataclass(frozen=True, kw_only=True)
class Account:
    """One account as it stands.

    Attributes:
        key: Whose account it is.
        budget_limit: Most that may ever be spent, in the currency of the account.
        delta: The delta that the limit was derived from, kept for display only.
        spent: The exact sum of everything reserved, published or not.
        opened_at: When the account was opened, in UTC.
    """

    key: AccountKey
    budget_limit: Loss
    delta: Fraction | None
    spent: Fraction
    opened_at: datetime

    @property
    def remaining(self) -> Fraction:
        """What may still be spent."""
        return self.budget_limit.amount - self.spent


class EntryKind(StrEnum):
    """What an entry says."""

    OPEN = "open"
    RESERVE = "reserve"
    PUBLISH = "publish"
    ABANDON = "abandon"
    RESTORE = "restore"


SETTLING = (EntryKind.PUBLISH, EntryKind.ABANDON)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One line of an account's statement. It never carries the secret of a release.

    Attributes:
        key: The account.
        number: Position in the account, from 1.
        kind: One of `EntryKind`.
        release: The release it is about; empty for `open`.
        amount: What this entry took out of the account: positive for `reserve`, 0 for all others.
        spent: What the account had spent with this entry included.
        purpose: Why it was reserved or abandoned.
        reference: On `publish` entries the digest of the release's seal, or, in entries that were
            written before seals were noted, of its certificate. On `open` entries random letters
            that tell the account from all others. On a `reserve` entry that was read back into a
            restored ledger the hash of the entry that was lost, and on `restore` entries the hash
            of the last one that was.
        at: When it was written, in UTC, to the second.
        window: The days that the release may cover, on `reserve` entries.
        secret_digest: The SHA-256 of the secret of a `reserve` entry; empty when it has none.
        previous_hash: The hash of the entry before; empty for the first.
        hash: The hash of this entry and, through `previous_hash`, of all before.
    """

    key: AccountKey
    number: int
    kind: str
    release: str
    amount: Fraction
    spent: Fraction
    purpose: str
    reference: str
    at: datetime
    window: Window | None
    secret_digest: str
    previous_hash: str
    hash: str


@dataclass(frozen=True, kw_only=True)
class Unpublished:
    """A release that was charged for and never published.

    Attributes:
        release: The release.
        key: The account that spent.
        amount: What it cost.
        purpose: Why it was reserved.
        state: "reserved" (under way, or its process died) or "abandoned".
        reason: Why it was abandoned.
        reserved_at: When it was charged for, in UTC.
    """

    release: str
    key: AccountKey
    amount: Fraction
    purpose: str
    state: str
    reason: str
    reserved_at: datetime


_WRITTEN = re.compile(r"(0|[1-9][0-9]*)(/[1-9][0-9]*)?")
_SYMBOLS = {Measure.PURE: "epsilon", Measure.ZCDP: "rho"}
_DIGITS = 9


def amount_to_text(amount: Fraction) -> str:
    """Returns an amount exactly, such as "10" or "1/3".

    Raises:
        BudgetError: The fraction is longer than Python writes (4300 digits).
    """
    try:
        return str(amount)
    except ValueError:
        raise BudgetError(
            "An exact amount has become too long to write down; nothing was spent.",
            advice="Round the losses of the release up to a short decimal, which is always safe.",
        ) from None


def amount_from_text(text: str) -> Fraction:
    """Reads an amount back.

    Raises:
        LedgerError: The text is not what `amount_to_text` writes.
    """
    # Only plain digits: Fraction("1e999999999") alone would keep the machine busy for hours.
    if isinstance(text, str) and _WRITTEN.fullmatch(text):
        try:
            return Fraction(text)
        except ValueError:
            pass
    raise LedgerError(
        "An amount in the ledger is not an exact fraction.",
        advice="Compare the ledger with a backup before spending again: it was edited.",
    )


def readable(measure: Measure, amount: Fraction) -> str:
    """Returns an amount with its currency, short enough for a message: rho 0.25, epsilon 1/3."""
    symbol = _SYMBOLS[measure]
    rounded = Context(prec=_DIGITS).divide(amount.numerator, amount.denominator)
    if Fraction(rounded) == amount:
        style = "f" if abs(rounded.adjusted()) <= _DIGITS else "E"
        return f"{symbol} {rounded.normalize():{style}}"
    if max(abs(amount.numerator), amount.denominator) < 10**_DIGITS:
        return f"{symbol} {amount}"
    return f"{symbol} {rounded} (rounded)"
