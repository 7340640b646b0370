"""The hash chain: every entry is sealed with the terms of its account and the entry before it.

The terms (key, currency, cap) go into every seal, so that a raised cap breaks the whole chain. The
secret of a release goes in through its own digest, so that a statement can be re-checked without
it.
"""

import hashlib

from hushway.privacy.digest import digest_of
from hushway.privacy.ledger.rows import AccountRow, EntryRow, PeopleRow

GENESIS = ""
_FORMAT = 2


def seal(account: AccountRow, entry: EntryRow) -> str:
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


def is_sealed(account: AccountRow, entry: EntryRow) -> bool:
    """Whether an entry still says what it said when it was written."""
    try:
        return entry.hash == seal(account, entry)
    except (AttributeError, TypeError, ValueError):
        # An edited row may hold bytes or broken text where text was written; no seal fits that.
        return False


def seal_people(declaration: PeopleRow) -> str:
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


def is_sealed_people(declaration: PeopleRow) -> bool:
    """Whether a declaration still says what it said when it was written."""
    try:
        return declaration.hash == seal_people(declaration)
    except (AttributeError, TypeError, ValueError):
        return False


def secret_digest(secret: str) -> str:
    """Returns the SHA-256 of a secret, or nothing for no secret."""
    return "sha256:" + hashlib.sha256(secret.encode()).hexdigest() if secret else ""
