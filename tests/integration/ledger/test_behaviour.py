"""What a ledger guarantees, in either database."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

import pytest

from hushway.errors import BudgetError, LedgerError
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.events import GaussianEvent, LaplaceEvent
from hushway.privacy.ledger import AccountKey, Ledger, Reservation
from hushway.privacy.loss import Loss, Measure, PureLoss, ZCDPLoss
from hushway.release.job import window_of_days

KEY = AccountKey(dataset="métro", unit=Unit.PERSON, period="2026-03")
OTHER = AccountKey(dataset="bus", unit=Unit.TRIP, period="2026-03")
MARCH = window_of_days(date(2026, 3, 1), date(2026, 3, 31), "Europe/Paris")
CERTIFICATE = "sha256:" + "0" * 64


def epsilon(amount: str) -> Loss:
    return PureLoss(Fraction(amount))


def rho(amount: str) -> Loss:
    return ZCDPLoss(Fraction(amount))


def reserve(ledger: Ledger, release: str, *losses: Loss, key: AccountKey = KEY) -> Reservation:
    return ledger.reserve(key, release=release, losses=losses, purpose="weekly table", window=MARCH)


def test_an_opened_account_is_remembered_exactly(ledger: Ledger) -> None:
    before = datetime.now(UTC)
    opened = ledger.open_account(KEY, rho("1/3"), delta=Fraction(1, 10**6))
    assert opened == ledger.account(KEY)
    assert opened.key == KEY
    assert opened.budget_limit == rho("1/3")
    assert opened.delta == Fraction(1, 10**6)
    assert opened.spent == 0
    assert opened.remaining == Fraction(1, 3)
    assert (
        before - timedelta(minutes=1) < opened.opened_at < datetime.now(UTC) + timedelta(minutes=1)
    )


def test_an_account_is_opened_only_once(ledger: Ledger) -> None:
    ledger.open_account(KEY, rho("1"))
    with pytest.raises(BudgetError, match="open already"):
        ledger.open_account(KEY, rho("100"))
    assert ledger.account(KEY).budget_limit == rho("1")
    assert ledger.check() == []


def test_accounts_that_differ_in_one_part_of_the_key_are_strangers(ledger: Ledger) -> None:
    keys = [
        KEY,
        OTHER,
        AccountKey(dataset="métro", unit=Unit.TRIP, period="2026-03"),
        AccountKey(dataset="métro", unit=Unit.PERSON, period="2026-04"),
    ]
    for key in keys:
        ledger.open_account(key, epsilon("1"))
    reserve(ledger, "r1", epsilon("1"))
    assert [account.key for account in ledger.accounts()] == keys
    assert [account.spent for account in ledger.accounts()] == [1, 0, 0, 0]


def test_a_missing_account_is_refused_with_the_command_that_opens_one(ledger: Ledger) -> None:
    for attempt in (lambda: ledger.account(KEY), lambda: reserve(ledger, "r1", epsilon("1"))):
        with pytest.raises(BudgetError, match="no account métro / person / 2026-03") as refusal:
            attempt()
        assert "hushway ledger open" in refusal.value.advice


@pytest.mark.parametrize(
    ("budget_limit", "delta"),
    [
        (rho("1"), Fraction(0)),
        (rho("1"), Fraction(1)),
        (epsilon("1"), Fraction(1, 10)),
        (rho("1"), 0.1),
    ],
)
def test_a_delta_that_makes_no_sense_is_refused(
    ledger: Ledger, budget_limit: Loss, delta: Fraction
) -> None:
    with pytest.raises(BudgetError, match="delta"):
        ledger.open_account(KEY, budget_limit, delta=delta)
    assert ledger.accounts() == []


def test_three_thirds_fill_a_cap_of_one_and_not_a_billionth_more_fits(ledger: Ledger) -> None:
    ledger.open_account(KEY, epsilon("1"))
    for number in range(3):
        reserve(ledger, f"third-{number}", epsilon("1/3"))
    assert ledger.account(KEY).remaining == 0
    with pytest.raises(BudgetError):
        reserve(ledger, "one-more", epsilon("1/1000000000"))
    assert ledger.account(KEY).spent == 1
    assert ledger.check() == []


def test_ten_tenths_fill_a_cap_of_one(ledger: Ledger) -> None:
    ledger.open_account(KEY, rho("1"))
    reserve(ledger, "tenths", *[rho("0.1")] * 10)
    assert ledger.account(KEY).spent == 1


def test_an_overspend_says_what_is_asked_left_and_allowed(ledger: Ledger) -> None:
    ledger.open_account(KEY, rho("2"))
    reserve(ledger, "r1", rho("1.75"))
    with pytest.raises(
        BudgetError, match=r"asks for rho 1/3, .* rho 0\.25 left .* budget limit of rho 2"
    ) as no:
        reserve(ledger, "r2", rho("1/3"))
    assert "Nothing was spent" in no.value.advice
    assert [entry.release for entry in ledger.entries()] == ["", "r1"]


def test_a_pure_loss_costs_half_its_square_in_an_account_of_rho(ledger: Ledger) -> None:
    ledger.open_account(KEY, rho("1"))
    reservation = reserve(ledger, "r1", epsilon("1/3"), rho("1/2"))
    assert reservation.measure is Measure.ZCDP
    assert reservation.amount == Fraction(1, 18) + Fraction(1, 2)
    assert ledger.account(KEY).spent == reservation.amount


def test_a_rho_is_refused_by_an_account_of_epsilon_and_burns_nothing(ledger: Ledger) -> None:
    ledger.open_account(KEY, epsilon("1"))
    with pytest.raises(BudgetError, match="no pure epsilon"):
        reserve(ledger, "r1", epsilon("1/2"), rho("1/1000"))
    assert ledger.account(KEY).spent == 0
    assert len(ledger.entries()) == 1


def test_a_release_without_any_loss_is_refused(ledger: Ledger) -> None:
    ledger.open_account(KEY, epsilon("1"))
    with pytest.raises(BudgetError, match="without any loss"):
        reserve(ledger, "r1")


def test_a_release_is_reserved_only_once_in_the_whole_ledger(ledger: Ledger) -> None:
    ledger.open_account(KEY, epsilon("1"))
    ledger.open_account(OTHER, epsilon("1"))
    reserve(ledger, "r1", epsilon("1/10"))
    for key in (KEY, OTHER):
        with pytest.raises(BudgetError, match="reserved before"):
            reserve(ledger, "r1", epsilon("1/10"), key=key)
    assert [account.spent for account in ledger.accounts()] == [Fraction(1, 10), 0]


def test_two_accounts_that_race_for_one_release_grant_it_once(ledger: Ledger) -> None:
    keys = [AccountKey(dataset=f"d{n}", unit=Unit.TRIP, period="p") for n in range(8)]
    for key in keys:
        ledger.open_account(key, epsilon("1"))

    def attempt(key: AccountKey) -> str:
        try:
            reserve(ledger, "contested", epsilon("1"), key=key)
        except BudgetError as refusal:
            return str(refusal)
        return "granted"

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(attempt, keys))
    assert sorted(outcomes)[:7] == ["Release contested was reserved before; nothing was spent."] * 7
    assert outcomes.count("granted") == 1
    assert sum(account.spent for account in ledger.accounts()) == 1
    assert ledger.check() == []


def test_accounts_that_are_opened_at_the_same_time_all_find_a_place(ledger: Ledger) -> None:
    keys = [AccountKey(dataset=f"d{n}", unit=Unit.TRIP, period="p") for n in range(24)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda key: ledger.open_account(key, epsilon("1")), keys))
    assert {account.key for account in ledger.accounts()} == set(keys)
    assert ledger.check() == []


def test_a_reservation_is_a_budget_that_stops_at_its_amount(ledger: Ledger) -> None:
    ledger.open_account(KEY, rho("10"))
    reservation = reserve(ledger, "r1", rho("1/2"), epsilon("1"))
    bound = Bound(cells=1, each=1, total=1)
    gaussian = GaussianEvent(query="q", cells=9, bound=bound, sigma_squared=Fraction(1))
    laplace = LaplaceEvent(query="q", cells=9, bound=bound, scale=Fraction(1))
    reservation.charge(gaussian)
    reservation.charge(laplace)
    assert reservation.charged == reservation.amount == 1
    with pytest.raises(BudgetError, match="with rho 0 left"):
        reservation.charge(laplace)
    assert reservation.charged == 1


def test_publishing_adds_an_entry_and_takes_nothing_more(ledger: Ledger) -> None:
    ledger.open_account(KEY, rho("1"))
    reservation = reserve(ledger, "r1", rho("1/4"))
    entry = ledger.publish(reservation, reference=CERTIFICATE)
    assert (entry.kind, entry.release, entry.amount, entry.spent) == (
        "publish",
        "r1",
        0,
        Fraction(1, 4),
    )
    assert entry.reference == CERTIFICATE
    assert entry.previous_hash == reservation.entry_hash
    assert ledger.account(KEY).spent == Fraction(1, 4)
    assert ledger.unpublished() == []


def test_a_published_reservation_takes_no_further_charge(ledger: Ledger) -> None:
    ledger.open_account(KEY, epsilon("1"))
    reservation = reserve(ledger, "r1", epsilon("1"))
    ledger.publish(reservation, reference=CERTIFICATE)
    bound = Bound(cells=1, each=1, total=1)
    with pytest.raises(BudgetError, match="settled"):
        reservation.charge(LaplaceEvent(query="q", cells=9, bound=bound, scale=Fraction(9)))


def publish(ledger: Ledger) -> object:
    return ledger.publish("r1", reference=CERTIFICATE)


def abandon(ledger: Ledger) -> object:
    return ledger.abandon("r1", reason="the disk was full")


@pytest.mark.parametrize("first", [publish, abandon])
@pytest.mark.parametrize("second", [publish, abandon])
def test_a_release_is_settled_only_once(
    ledger: Ledger, first: Callable[[Ledger], object], second: Callable[[Ledger], object]
) -> None:
    ledger.open_account(KEY, rho("1"))
    reserve(ledger, "r1", rho("1/4"))
    first(ledger)
    with pytest.raises(BudgetError, match="settled already"):
        second(ledger)
    assert len(ledger.entries()) == 3
    assert ledger.check() == []


@pytest.mark.parametrize("verb", [publish, abandon, lambda ledger: ledger.secret("r1")])
def test_a_release_that_was_never_reserved_is_unknown(
    ledger: Ledger, verb: Callable[[Ledger], object]
) -> None:
    ledger.open_account(KEY, rho("1"))
    with pytest.raises(BudgetError, match="never reserved"):
        verb(ledger)


def test_abandoning_refunds_nothing(ledger: Ledger) -> None:
    ledger.open_account(KEY, rho("1"))
    reserve(ledger, "r1", rho("3/4"))
    abandon(ledger)
    assert ledger.account(KEY).spent == Fraction(3, 4)
    with pytest.raises(BudgetError):
        reserve(ledger, "r2", rho("1/2"))


def test_what_was_paid_and_not_published_stays_visible(ledger: Ledger) -> None:
    ledger.open_account(KEY, rho("1"))
    ledger.open_account(OTHER, epsilon("1"))
    for number in (1, 2, 3):
        reserve(ledger, f"r{number}", rho("1/10"))
    reserve(ledger, "other", epsilon("1/7"), key=OTHER)
    publish(ledger)
    ledger.abandon("r2", reason="wrong month")
    waiting = ledger.unpublished()
    assert [(u.release, u.state, u.reason, u.key, u.amount) for u in waiting] == [
        ("r2", "abandoned", "wrong month", KEY, Fraction(1, 10)),
        ("r3", "reserved", "", KEY, Fraction(1, 10)),
        ("other", "reserved", "", OTHER, Fraction(1, 7)),
    ]
    assert waiting[0].purpose == "weekly table"


def test_entries_form_one_chain_per_account(ledger: Ledger) -> None:
    ledger.open_account(KEY, rho("1"))
    ledger.open_account(OTHER, rho("1"))
    for number in (1, 2):
        reserve(ledger, f"r{number}", rho("1/10"))
        reserve(ledger, f"s{number}", rho("1/10"), key=OTHER)
    publish(ledger)
    for key in (KEY, OTHER):
        chain = ledger.entries(key)
        assert [entry.number for entry in chain] == list(range(1, len(chain) + 1))
        assert [entry.previous_hash for entry in chain] == ["", *(e.hash for e in chain[:-1])]
        assert chain[-1].spent == sum(entry.amount for entry in chain) == Fraction(1, 5)
    assert ledger.entries() == ledger.entries(KEY) + ledger.entries(OTHER)
    assert [entry.kind for entry in ledger.entries(KEY)] == [
        "open",
        "reserve",
        "reserve",
        "publish",
    ]
    assert ledger.check() == []


def test_entries_of_a_missing_account_are_refused(ledger: Ledger) -> None:
    with pytest.raises(BudgetError, match="no account"):
        ledger.entries(KEY)


def test_a_secret_is_kept_and_shows_in_no_statement(ledger: Ledger) -> None:
    secret = "b7e1-very-random-salt"  # noqa: S105
    ledger.open_account(KEY, rho("1"))
    reservation = ledger.reserve(
        KEY, release="r1", losses=[rho("1/2")], purpose="p", window=MARCH, secret=secret
    )
    reserve(ledger, "r2", rho("1/2"))
    publish(ledger)
    assert ledger.secret("r1") == secret
    assert ledger.secret("r2") == ""
    statements = [asdict(entry) for entry in ledger.entries()]
    waiting = [asdict(entry) for entry in ledger.unpublished()]
    shown = (
        f"{statements} {waiting} {ledger.accounts()} {ledger.check()} {ledger!r} {reservation!r}"
    )
    assert secret not in shown
    assert ledger.entries()[1].secret_digest.startswith("sha256:")


def test_a_ledger_that_is_opened_again_knows_everything(ledger: Ledger, ledger_url: str) -> None:
    ledger.open_account(KEY, rho("1"), delta=Fraction(1, 10**6))
    reserve(ledger, "r1", rho("1/7"))
    accounts, entries = ledger.accounts(), ledger.entries()
    ledger.close()
    with Ledger.connect(ledger_url) as again:
        assert (again.accounts(), again.entries()) == (accounts, entries)
        publish(again)
        assert again.check() == []


def test_a_closed_ledger_does_nothing_more(ledger: Ledger) -> None:
    ledger.close()
    with pytest.raises(LedgerError, match="closed"):
        ledger.accounts()


@pytest.mark.parametrize("release", ["", "  ", "r1\n", "r\x00", "r\u200b1", "\ud800", "r" * 201])
def test_a_release_id_that_could_be_confused_is_refused(ledger: Ledger, release: str) -> None:
    ledger.open_account(KEY, rho("1"))
    with pytest.raises(BudgetError, match="release id"):
        reserve(ledger, release, rho("1/2"))
    assert ledger.account(KEY).spent == 0


def test_fractions_too_long_to_write_down_are_refused_before_they_are_spent(ledger: Ledger) -> None:
    ledger.open_account(KEY, epsilon("1"))
    with pytest.raises(BudgetError, match="too long"):
        reserve(ledger, "r1", PureLoss(Fraction(1, 10**5000)))
    assert ledger.account(KEY).spent == 0
    assert ledger.check() == []


def test_text_of_any_script_survives(ledger: Ledger) -> None:
    key = AccountKey(dataset="Öffis 東京 🚋", unit=Unit.TRIP, period="mars '26; --")
    ledger.open_account(key, rho("1"))
    purpose = 'a "quoted" %s purpose\\'
    ledger.reserve(key, release="ré-1", losses=[rho("1")], purpose=purpose, window=MARCH)
    assert ledger.entries(key)[1].purpose == purpose
    assert ledger.check() == []
