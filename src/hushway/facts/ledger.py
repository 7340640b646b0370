"""Accounts and entries of a ledger as plain values."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hushway.privacy.bound import Unit

if TYPE_CHECKING:
    from hushway.privacy.ledger import Account, Entry, Lost, PeopleLost

_SINGLE = (
    "Losses of a {unit} are those of ONE {unit}: somebody with k of them may have lost k times as "
    "much, so no sum for a person is guaranteed."
)
_OWNER = (
    "Losses of a {unit} are those of all that belongs to one {unit}: somebody with several may "
    "have lost that much for each."
)


def account_facts(account: "Account") -> dict[str, Any]:
    """Returns an account as it stands."""
    return {
        "dataset": account.key.dataset,
        "unit": account.key.unit,
        "period": account.key.period,
        "measure": account.budget_limit.measure,
        "budget_limit": account.budget_limit.amount,
        "delta": account.delta,
        "limit_at_delta": limit_at_delta(account),
        "spent": account.spent,
        "remaining": account.remaining,
        "opened_at": account.opened_at.isoformat(),
    }


def limit_at_delta(account: "Account") -> str | None:
    """Returns the budget limit as an epsilon with its delta, if the account was opened with one."""
    from hushway.privacy.accounting import epsilon_of_rho
    from hushway.release.wording import budget_text

    if account.delta is None:
        return None
    epsilon = Fraction(epsilon_of_rho(account.budget_limit.amount, account.delta))
    # A rho is kept to 12 digits, so its epsilon is a hair off the one that was asked for.
    return budget_text(epsilon.limit_denominator(10**6), account.delta)


def entry_facts(entry: "Entry") -> dict[str, Any]:
    """Returns an entry, hashes included and secrets left out."""
    return {
        "dataset": entry.key.dataset,
        "unit": entry.key.unit,
        "period": entry.key.period,
        "number": entry.number,
        "at": entry.at.isoformat(),
        "kind": entry.kind,
        "days": entry.window and entry.window.to_text(),
        "amount": entry.amount,
        "release": entry.release,
        "purpose": entry.purpose,
        "spent": entry.spent,
        "secret_digest": entry.secret_digest,
        "reference": entry.reference,
        "previous_hash": entry.previous_hash,
        "hash": entry.hash,
    }


def lost_facts(group: "PeopleLost") -> dict[str, Any]:
    """Returns what one of a group of people may have lost."""
    return {
        "people": group.people.name,
        "datasets": group.people.datasets,
        "lost": [
            {
                "unit": lost.unit,
                "releases": lost.releases,
                "epsilon": lost.epsilon,
                "rho": lost.rho,
                "all_as_rho": lost.together,
                "bounds_a_person": lost.unit is Unit.PERSON,
                "note": note_on(lost),
            }
            for lost in group.lost
        ],
    }


def note_on(lost: "Lost") -> str | None:
    """Returns what a sum of losses does not say, if it is not that of a person."""
    if lost.unit is Unit.PERSON:
        return None
    return (_OWNER if lost.owner else _SINGLE).format(unit=lost.unit)
