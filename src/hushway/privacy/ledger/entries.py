"""Entries: the lines of an account, written once and never changed."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Context
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING

from hushway.errors import BudgetError, HushwayError, LedgerError
from hushway.privacy.bound import Unit
from hushway.privacy.ledger.names import normal_name
from hushway.privacy.ledger.span import Charged, Span
from hushway.privacy.ledger.window import Window
from hushway.privacy.loss import Loss, Measure, loss_of

if TYPE_CHECKING:
    from hushway.privacy.ledger.schema import AccountRow, EntryRow


@dataclass(frozen=True, kw_only=True)
class AccountKey:
    """Who is protected, in which data, over which time.

    Privacy:
        Losses add up within one account only. The ledger lets no two accounts of one data set spend
        on the same days, whatever their units and periods are called; data sets under different
        names are kept apart by the steward alone.

    Attributes:
        dataset: The steward's own name for the data, kept in its normal form.
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
        delta: The delta that the limit was derived from, kept for display only.
        spent: What counts towards the limit: the exact sum of everything reserved, published or
            not; of a rolling limit what the fullest span holds, of all or of those asked about.
        lifetime: The exact sum of everything reserved.
        span: What a rolling limit is about; None if the limit is for good.
    """

    key: AccountKey
    budget_limit: Loss
    delta: Fraction | None
    spent: Fraction
    lifetime: Fraction
    opened_at: datetime
    span: Span | None = None

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
        release: The release it is about; empty for `open`.
        amount: What this entry took out of the account: positive for `reserve`, 0 for all others.
        reference: On `publish` entries the digest of the release's seal, or, in entries that were
            written before seals were noted, of its certificate. On `open` entries random letters
            that tell the account from all others. On a `reserve` entry that was read back into a
            restored ledger the hash of the entry that was lost, and on `restore` entries the hash
            of the last one that was.
        at: When it was written, in UTC, to the second.
        window: The days that the release may cover, on `reserve` entries.
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
        state: "reserved" (under way, or its process died) or "abandoned".
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
    """Returns an amount exactly, such as "10" or "1/3"."""
    try:
        return str(amount)
    except ValueError:
        raise BudgetError(
            "An exact amount has become too long to write down; nothing was spent.",
            advice="Round the losses of the release up to a short decimal, which is always safe.",
        ) from None


def amount_from_text(text: str) -> Fraction:
    """Reads an amount back."""
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


_PER = " per "


def limit_to_text(amount: Fraction, span: Span | None) -> str:
    """Returns a limit exactly, such as "10", or "1/3 per 12 month" if it is rolling."""
    text = amount_to_text(amount)
    return text if span is None else text + _PER + span.to_text()


def limit_from_text(text: str) -> tuple[Fraction, Span | None]:
    """Reads a limit back."""
    amount, per, span = text.partition(_PER) if isinstance(text, str) else (text, "", "")
    return amount_from_text(amount), Span.from_text(span) if per else None


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


def secret_digest(secret: str) -> str:
    """Returns the SHA-256 of a secret, or nothing for no secret."""
    return "sha256:" + hashlib.sha256(secret.encode()).hexdigest() if secret else ""


def account_of(row: "AccountRow") -> Account:
    """Reads an account."""
    try:
        limit, span = limit_from_text(row.cap)
        lifetime = amount_from_text(row.spent)
        return Account(
            key=AccountKey(dataset=row.dataset, unit=Unit(row.unit), period=row.period),
            budget_limit=loss_of(Measure(row.measure), limit),
            delta=amount_from_text(row.delta) if row.delta else None,
            spent=lifetime,
            lifetime=lifetime,
            opened_at=datetime.fromisoformat(row.opened_at),
            span=span,
        )
    except (HushwayError, AttributeError, TypeError, ValueError):
        raise damaged("An account") from None


def standing(
    account: Account, chain: Sequence["EntryRow"], window: Window | None = None
) -> Account:
    """Returns an account with what counts towards its limit, for some days or for all.

    Args:
        account: The account as its row says.
        chain: Its entries.
        window: Days of a release; only spans count that hold one of them.
    """
    if account.span is None:
        return account
    return replace(account, spent=account.span.fullest(charges_of(chain), window))


def charges_of(chain: Sequence["EntryRow"]) -> list[Charged]:
    """Returns the days and the price of every reservation of an account."""
    return [
        (Window.from_text(row.days), amount_from_text(row.amount))
        for row in chain
        if row.kind == EntryKind.RESERVE
    ]


def entry_of(key: AccountKey, row: "EntryRow") -> Entry:
    """Reads an entry."""
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
