"""Entries: the lines of an account, written once and never changed."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from fractions import Fraction

from hushway.privacy.ledger.accounts import AccountKey
from hushway.privacy.ledger.window import Window


class EntryKind(StrEnum):
    """What an entry says."""

    OPEN = "open"
    RESERVE = "reserve"
    PUBLISH = "publish"
    ABANDON = "abandon"


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
        reference: The digest of the certificate, on `publish` entries.
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
    """A release that was paid for and never published.

    Attributes:
        release: The release.
        key: The account that paid.
        amount: What it cost.
        purpose: Why it was reserved.
        state: "reserved" (under way, or its process died) or "abandoned".
        reason: Why it was abandoned.
        reserved_at: When it was paid for, in UTC.
    """

    release: str
    key: AccountKey
    amount: Fraction
    purpose: str
    state: str
    reason: str
    reserved_at: datetime
