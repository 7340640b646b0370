"""A ledger that was restored from an older copy spends nothing until what it lost is charged."""

from dataclasses import replace
from datetime import date
from fractions import Fraction

import pytest

from hushway.errors import BudgetError, LedgerError
from hushway.privacy.bound import Unit
from hushway.privacy.ledger import AccountKey, Ledger, LostRelease, Witness
from hushway.privacy.loss import Measure, PureLoss
from hushway.release.job import window_of_days
from support.restored import backed_up, put_back

KEY = AccountKey(dataset="metro", unit=Unit.PERSON, period="2026-03")
OTHER = replace(KEY, dataset="bus")
MARCH = window_of_days(date(2026, 3, 1), date(2026, 3, 31), "Europe/Paris")


def pay(ledger: Ledger, release: str, amount: int = 2, key: AccountKey = KEY) -> str:
    losses = [PureLoss(Fraction(amount))]
    paid = ledger.reserve(key, release=release, losses=losses, purpose="x", window=MARCH)
    return paid.entry_hash


@pytest.fixture
def restored(ledger: Ledger) -> Ledger:
    """Limit 4; 2 are spent, the ledger is backed up, 2 more are spent, the backup is put back."""
    ledger.open_account(KEY, PureLoss(Fraction(4)))
    pay(ledger, "first")
    old = backed_up(ledger)
    pay(ledger, "second")
    ledger.publish("second", reference="seal-sha256:2")
    put_back(ledger, old)
    return ledger


def test_a_restored_ledger_spends_nothing(restored: Ledger) -> None:
    for _ in range(2):
        with pytest.raises(LedgerError, match="has lost entries of account metro"):
            pay(restored, "third")
        with pytest.raises(LedgerError, match="has lost entries"):
            restored.open_account(OTHER, PureLoss(Fraction(4)))
        with pytest.raises(LedgerError, match="has lost entries"):
            restored.refuse_restored()
        assert "lost entries" in (restored.obstacle(KEY, MARCH) or "")
        assert ["older copy" in finding for finding in restored.check()] == [True]
    assert restored.account(KEY).spent == 2


def test_what_was_settled_since_does_not_hide_the_loss(restored: Ledger) -> None:
    restored.abandon("first", reason="given up after the restoration")
    with pytest.raises(LedgerError, match="has lost entries"):
        pay(restored, "third")


def test_what_was_lost_is_charged_again_as_it_was(restored: Ledger) -> None:
    written = restored.restore()
    assert [entry.kind for entry in written] == ["reserve", "publish", "restore"]
    assert restored.account(KEY).spent == 4
    assert restored.check() == []
    with pytest.raises(BudgetError, match="epsilon 0 left"):
        pay(restored, "third")
    with pytest.raises(BudgetError, match="Nothing is missing"):
        restored.restore()
    assert [found.release for found in restored.unpublished()] == ["first"]


def test_the_certificate_of_a_lost_release_agrees_again(ledger: Ledger) -> None:
    ledger.open_account(KEY, PureLoss(Fraction(4)))
    old = backed_up(ledger)
    witness = Witness(
        release="first",
        entry_hash=pay(ledger, "first"),
        reference="seal-sha256:1",
        certificate="sha256:1",
        key=KEY,
        measure=Measure.PURE,
        spent=Fraction(2),
        budget_limit=Fraction(4),
    )
    ledger.publish("first", reference="seal-sha256:1")
    put_back(ledger, old)
    assert ledger.witness(witness) != []
    for _ in range(2):
        ledger.restore()
        assert ledger.witness(witness) == []
        put_back(ledger, old)


def test_an_account_that_was_lost_is_opened_on_its_old_terms(ledger: Ledger) -> None:
    ledger.open_account(KEY, PureLoss(Fraction(4)))
    old = backed_up(ledger)
    ledger.open_account(OTHER, PureLoss(Fraction(3)))
    pay(ledger, "bus", key=OTHER)
    put_back(ledger, old)
    ledger.restore()
    account = ledger.account(OTHER)
    assert (account.budget_limit, account.spent) == (PureLoss(Fraction(3)), 2)
    assert ledger.check() == []


def test_what_another_user_spent_meanwhile_is_added_and_may_pass_the_limit(
    restored: Ledger, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", f"{tmp_path}/another-user")
        pay(restored, "third")
    restored.restore()
    assert restored.account(KEY).spent == 6
    assert restored.check() == [
        "Account metro / person / 2026-03: more was spent than its budget limit allows."
    ]
    with pytest.raises(BudgetError, match="left"):
        pay(restored, "fourth", 1)


def test_releases_that_only_their_folders_know_are_charged(
    restored: Ledger, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", f"{tmp_path}/another-user")
    lost = LostRelease(
        key=KEY,
        release="second",
        amount=Fraction(2),
        window=MARCH,
        purpose="x",
        entry_hash="sha256:2",
        reference="seal-sha256:2",
    )
    assert [entry.kind for entry in restored.restore([lost])] == ["reserve", "publish"]
    assert restored.account(KEY).spent == 4
    by_hand = replace(lost, release="by hand", entry_hash="", reference="")
    assert [entry.kind for entry in restored.restore([by_hand])] == ["reserve", "abandon"]
    with pytest.raises(BudgetError, match="Nothing is missing"):
        restored.restore([lost])


def test_a_ledger_that_is_restored_twice_is_refused_twice(ledger: Ledger) -> None:
    ledger.open_account(KEY, PureLoss(Fraction(9)))
    old = backed_up(ledger)
    pay(ledger, "first")
    put_back(ledger, old)
    ledger.restore()
    pay(ledger, "second")
    put_back(ledger, old)
    with pytest.raises(LedgerError, match="has lost entries"):
        pay(ledger, "third")
    ledger.restore()
    assert ledger.account(KEY).spent == 4
    assert ledger.check() == []
    pay(ledger, "third")
