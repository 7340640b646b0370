"""A plan's ledger as a statement: what was spent, on what, by whom, and what is left."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from hushway.families.registry import FAMILIES
from hushway.privacy.ledger import Account, Entry, EntryKind, Ledger, PeopleLost
from hushway.release.plans.sections import AnyPlan
from hushway.steward.facts import limit_at_delta, lost_facts

_STATES: dict[str, str] = {EntryKind.PUBLISH: "published", EntryKind.ABANDON: "abandoned"}


def ledger_facts(plan: AnyPlan) -> dict[str, Any]:
    """Returns accounts, charges and what is worth knowing.

    Raises:
        BudgetError: There is no ledger yet.
        LedgerError: It is out of reach or damaged.
    """
    with Ledger.connect(plan.ledger_url(), create=False) as book:
        accounts, entries, lost = book.accounts(), book.entries(), book.lost()
        cautions = book.cautions()
    states = {
        entry.release: _STATES[entry.kind]
        for entry in entries
        if entry.release is not None and entry.kind in _STATES
    }
    charges = [entry for entry in entries if entry.kind is EntryKind.RESERVE]
    return {
        "accounts": [_account(account, charges, lost) for account in accounts],
        "entries": [_charge(entry, states, accounts) for entry in charges],
        "people": [lost_facts(group) for group in lost],
        "cautions": cautions,
    }


def _account(
    account: Account, charges: Sequence[Entry], lost: Sequence[PeopleLost]
) -> dict[str, Any]:
    types = {_release_type(entry) for entry in charges if entry.key == account.key}
    people = [group.people.name for group in lost if account.key.dataset in group.people.datasets]
    limit = account.budget_limit
    return {
        "key": str(account.key),
        "dataset": account.key.dataset,
        "period": account.key.period,
        "unit": account.key.unit,
        "release_type": ", ".join(sorted(filter(None, types))) or None,
        "people": next(iter(people), None),
        "measure": limit.measure,
        "symbol": limit.measure.symbol,
        # With the epsilon that the limit is at this delta: neither says anything alone.
        "delta": _delta(account),
        **_amount("limit", limit.amount),
        **_amount("spent", account.spent),
        **_amount("left", account.remaining),
    }


def _delta(account: Account) -> str | None:
    stated = limit_at_delta(account)
    return None if stated is None else f"{account.delta} ({stated})"


def _charge(entry: Entry, states: dict[str, str], accounts: Sequence[Account]) -> dict[str, Any]:
    symbols = {account.key: account.budget_limit.measure.symbol for account in accounts}
    return {
        "when": entry.at.isoformat(),
        "release": entry.release,
        "release_type": _release_type(entry),
        "purpose": entry.purpose,
        "window": None if entry.window is None else str(entry.window),
        "account": str(entry.key),
        "symbol": symbols.get(entry.key),
        "state": states.get(entry.release or "", "spent, not published"),
        **_amount("amount", entry.amount),
    }


def _release_type(entry: Entry) -> str | None:
    """Returns the release type that the id of a release begins with."""
    name = (entry.release or "").partition("-")[0]
    return name if name in FAMILIES else None


def _amount(name: str, amount: Fraction) -> dict[str, Any]:
    """Returns an amount exactly, and as a number for bars."""
    return {name: str(amount), f"{name}_value": float(amount)}
