"""A certificate against its ledger: what a restored old copy gets wrong."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from fractions import Fraction

import pytest

from hushway.privacy.bound import Unit
from hushway.privacy.ledger import AccountKey, Ledger, Witness
from hushway.privacy.loss import Measure, ZCDPLoss
from hushway.release.job import window_of_days

KEY = AccountKey(dataset="metro", unit=Unit.PERSON, period="2026-03")
MARCH = window_of_days(date(2026, 3, 1), date(2026, 3, 31), "Europe/Paris")
CERTIFICATE = "sha256:" + "1" * 64
SEAL = "seal-sha256:" + "2" * 64


def pay(ledger: Ledger, release: str = "r1") -> str:
    losses = [ZCDPLoss(Fraction(1, 4))]
    paid = ledger.reserve(KEY, release=release, losses=losses, purpose="", window=MARCH)
    return paid.entry_hash


def certificate_of(ledger: Ledger) -> Witness:
    """What a certificate says that was written right after r1 was charged for."""
    ledger.open_account(KEY, ZCDPLoss(Fraction(1)))
    return Witness(
        release="r1",
        entry_hash=pay(ledger),
        reference=SEAL,
        certificate=CERTIFICATE,
        key=KEY,
        measure=Measure.ZCDP,
        spent=Fraction(1, 4),
        budget_limit=Fraction(1),
    )


@pytest.fixture
def witness(ledger: Ledger) -> Witness:
    found = certificate_of(ledger)
    ledger.publish("r1", reference=SEAL)
    return found


def test_a_ledger_agrees_with_the_certificate_it_paid_for(ledger: Ledger, witness: Witness) -> None:
    assert ledger.witness(witness) == []
    assert ledger.witness(replace(witness, release="R1")) == []
    pay(ledger, "r2")
    assert ledger.witness(witness) == []


def test_an_entry_that_notes_a_certificate_alone_binds_less(ledger: Ledger) -> None:
    witness = certificate_of(ledger)
    ledger.publish("r1", reference=CERTIFICATE)
    assert ledger.witness(replace(witness, reference="seal-sha256:0")) == []
    assert not ledger.binds_files("r1")
    assert ledger.witness(replace(witness, certificate="sha256:0")) != []


def test_a_certificate_may_have_been_written_after_another_release_was_paid_for(
    ledger: Ledger, witness: Witness
) -> None:
    pay(ledger, "r2")
    assert ledger.witness(replace(witness, spent=Fraction(1, 2))) == []


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda said: replace(said, release="r9"), "does not know release r9"),
        (lambda said: replace(said, entry_hash="sha256:0"), "another hash than the certificate"),
        (lambda said: replace(said, reference="seal-sha256:0"), "published with other files"),
        (
            lambda said: replace(said, key=replace(KEY, unit=Unit.TRIP)),
            "charged account metro / person / 2026-03; the certificate names metro / trip",
        ),
        (lambda said: replace(said, key=replace(KEY, dataset="bus")), "certificate names bus"),
        (lambda said: replace(said, key=replace(KEY, period="x")), "names metro / person / x"),
        (
            lambda said: replace(said, budget_limit=Fraction(2)),
            "budget limit of rho 1; the certificate says rho 2",
        ),
        (
            lambda said: replace(said, measure=Measure.PURE),
            "budget limit of rho 1; the certificate says epsilon 1",
        ),
        (
            lambda said: replace(said, spent=Fraction(1, 8)),
            r"had spent rho 0\.125; with the release it had spent rho 0\.25",
        ),
        (
            lambda said: replace(said, spent=Fraction(3, 4)),
            r"has spent rho 0\.25, less than the rho 0\.75 .* restored from a copy",
        ),
    ],
)
def test_each_contradiction_is_told_by_itself(
    ledger: Ledger, witness: Witness, change: Callable[[Witness], Witness], said: str
) -> None:
    (finding,) = ledger.witness(change(witness))
    assert re.search(said, finding), finding


def test_a_release_that_was_abandoned_cannot_have_a_certificate(ledger: Ledger) -> None:
    witness = certificate_of(ledger)
    ledger.abandon("r1", reason="x")
    (finding,) = ledger.witness(witness)
    assert "abandoned, and yet here is its certificate" in finding


def test_a_copy_from_between_paying_and_publishing_is_noticed(ledger: Ledger) -> None:
    (finding,) = ledger.witness(certificate_of(ledger))
    assert "reserved and never published" in finding


def test_an_edited_entry_is_noticed(ledger: Ledger, witness: Witness) -> None:
    with ledger._store.writing() as connection:
        connection.exec_driver_sql("UPDATE hushway_entry SET purpose = 'x' WHERE number = 2")
    assert ledger.witness(witness) == ["The entry that reserved the release was edited."]
