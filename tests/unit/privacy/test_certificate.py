import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushway.errors import HushwayError, PrivacyError, ReleaseError
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.certificate import (
    AccountStatement,
    Certificate,
    Contribution,
    Domain,
    EpsilonDelta,
    MechanismRecord,
    Randomness,
    Terms,
    Tuning,
    canonical_json,
    parsed_json,
)
from hushway.privacy.events import GaussianEvent, LaplaceEvent, SelectEvent
from hushway.privacy.loss import Measure, PureLoss, ZCDPLoss
from hushway.privacy.measured import Internal
from hushway.privacy.randomness import OsSource
from support.certificates import ENTRY, UNPROTECTED, certificate_of

BOUND = Bound(cells=2, each=1, total=2)
LAPLACE = LaplaceEvent(query="trips by place", cells=6, bound=BOUND, scale=Fraction(10))
GAUSSIAN = GaussianEvent(
    query="trips by place", cells=6, bound=BOUND, sigma_squared=Fraction(100, 3)
)
SELECT = SelectEvent(query="rarest place", cells=3, bound=BOUND, rate=Fraction(1, 20))


TERMS = Terms(
    release_type="od",
    mechanism=MechanismRecord(name="laplace", parameters={"b": [1, "1/3"], "a": None}),
    unit=Unit.PERSON,
    contribution=Contribution(words="Two trips at most.", limits={"trips": 2}),
    events=(LAPLACE, SELECT),
    domain=Domain(
        cells="trips by place", size=6, digest="sha256:0", assumed_public=("The places.",)
    ),
    not_protected=("What everybody does.",),
    post_processing=(),
    error="About 14 trips.",
)


def made(**changes: Any) -> Certificate:
    return certificate_of(TERMS, **changes)


def account(**changes: Any) -> AccountStatement:
    facts = {
        "dataset": "cards",
        "period": "2026",
        "measure": Measure.PURE,
        "spent": Fraction(1, 2),
        "budget_limit": Fraction(1),
        "ledger_entry": ENTRY,
    }
    return AccountStatement(**(facts | changes))


IN_RHO = account(measure=Measure.ZCDP, spent=Fraction(1))
ZCDP: dict[str, Any] = {"events": (GAUSSIAN, LAPLACE), "account": IN_RHO}


@pytest.mark.parametrize(
    "certificate",
    [
        made(),
        made(**ZCDP),
        made(unit=Unit.TRIP, approver="A. Steward", publisher="Città", intended_use="planning"),
        made(**ZCDP, epsilon_delta=EpsilonDelta(epsilon="1.1", delta="1e-6", method="zcdp")),
        made(tuning=Tuning.WITH_THESE_ROWS),
        made(tuning=Tuning.WITHOUT_THESE_ROWS, approver="A. Steward"),
        made(not_taken=(GAUSSIAN,)),
        made(randomness=UNPROTECTED),
    ],
)
def test_a_certificate_survives_writing_and_reading(certificate: Certificate) -> None:
    data = certificate.to_json()
    assert Certificate.from_json(data) == certificate
    assert Certificate.from_json(data).to_json() == data
    assert data.endswith(b"}\n")


@settings(deadline=None)
@given(st.text(min_size=1))
def test_any_title_survives_or_is_refused_at_once(title: str) -> None:
    try:
        certificate = made(title=title)
    except PrivacyError:
        return
    assert Certificate.from_json(certificate.to_json()) == certificate


def test_the_order_of_parameters_does_not_change_the_bytes() -> None:
    one = made(mechanism=MechanismRecord(name="m", parameters={"a": 1, "b": {"c": 2, "d": 3}}))
    two = made(mechanism=MechanismRecord(name="m", parameters={"b": {"d": 3, "c": 2}, "a": 1}))
    assert one.to_json() == two.to_json()


def test_parameters_cannot_be_changed_from_outside() -> None:
    parameters = {"a": [1]}
    record = MechanismRecord(name="m", parameters=parameters)
    parameters["a"].append(2)
    assert record.parameters == {"a": [1]}


@pytest.mark.parametrize(
    "edit",
    [
        lambda data: data.replace(b'"pure"', b'"PURE"', 1),
        lambda data: data.replace(b"  ", b" ", 1),
        lambda data: data + b" ",
        lambda data: data[:-1],
        lambda data: data.replace(b'"3/10"', b'"0.3"'),
        lambda data: data.replace(b'"3/10"', b'"6/20"'),
        lambda data: data.replace(b'"3/10"', b'"1e999999999"'),
        lambda data: data.replace(b'"size": 6', b'"size": 6.0'),
        lambda data: data.replace(b'"each": 1', b'"each": true'),
        lambda data: data.replace(b'"each": 1', b'"each": NaN'),
        lambda data: data.replace(b'"scale": "10"', b'"scale": "0"'),
        lambda data: data.replace(b'"scale": "10"', b'"scale": "-10"'),
        lambda data: data.replace(b'"scale": "10"', b'"scale": "1e99999999"'),
        lambda data: data.replace(Unit.PERSON.adjacency.encode(), b"Nothing at all."),
        lambda data: data.replace(b"sums of exact", b"guesses of"),
        lambda data: data.replace(b'"stamp": null', b'"stamp": "FINE"'),
        lambda data: data.replace(b'"stamp": null', b'"extra": 1, "stamp": null'),
        lambda data: data.replace(b'"dp_variant": "pure"', b'"dp_variant": "zcdp"'),
        lambda data: data.replace(b'"certificate_version": 3', b'"certificate_version": 2'),
        lambda data: data.replace(b"certified inversion", b"dice"),
        lambda data: data.replace(b"No float takes part", b"Floats take part"),
        lambda data: data.replace(b"Nobody has stated", b"Everybody has stated"),
        lambda data: data.replace(b"AES-256-CTR keyed by the operating system", b"dice"),
        lambda data: data.replace(b'"private": true', b'"private": false'),
        lambda _: b"[" * 100_000,
        lambda _: b"{}",
        lambda _: b"[]",
        lambda _: b"\xff",
        lambda _: b"",
    ],
)
def test_an_edited_certificate_is_refused(edit: Callable[[bytes], bytes]) -> None:
    data = made().to_json()
    edited = edit(data)
    assert edited != data
    with pytest.raises(ReleaseError):
        Certificate.from_json(edited)


def test_any_flipped_byte_is_refused_or_changes_only_free_words() -> None:
    data = made().to_json()
    for position in range(len(data)):
        changed = bytearray(data)
        changed[position] ^= 1
        try:
            other = Certificate.from_json(bytes(changed))
        except ReleaseError:
            continue
        assert other != made()


def test_the_claim_is_the_loss_of_all_that_was_paid_for() -> None:
    assert made().claim == PureLoss(Fraction(3, 10))
    assert made(**ZCDP).claim == ZCDPLoss(Fraction(5, 100))
    assert made(events=(LAPLACE,), not_taken=(SELECT,)).claim == made().claim


@pytest.mark.parametrize(
    ("old", "new"), [(b'"amount": "3/10"', b'"amount": "1/10"'), (b'"measure": "pure"', b'"x": 1')]
)
def test_a_claim_that_is_not_that_of_the_events_is_refused(old: bytes, new: bytes) -> None:
    claim = json.loads(made().to_json())["claim"]
    assert claim["amount"] == "3/10"
    with pytest.raises(ReleaseError):
        Certificate.from_json(made().to_json().replace(old, new))


def test_measuring_less_than_was_announced_does_not_shrink_the_claim() -> None:
    begun = TERMS.measured([4])
    assert [event.cells for event in begun.events] == [4]
    assert begun.not_taken == (SELECT,)
    assert begun.claim == TERMS.claim
    assert begun.measured([4, 3]).events == (replace(LAPLACE, cells=4), SELECT)
    for cells in ([], [1, 1, 1]):
        with pytest.raises(PrivacyError, match="announced"):
            TERMS.measured(cells)


@pytest.mark.parametrize(
    "changes",
    [
        {"release_type": "links"},
        {"mechanism": MechanismRecord(name="laplace", parameters={})},
        {"unit": Unit.TRIP},
        {"contribution": Contribution(words="Two trips at most.", limits={"trips": 1})},
        {"events": (LAPLACE,)},
        {"not_taken": (LAPLACE,)},
        {"not_protected": ("Nothing; everything is protected.",)},
        {"post_processing": ("Magic.",)},
        {"error": "None."},
    ],
)
def test_other_terms_than_those_computed_again_are_a_contradiction(changes: dict[str, Any]) -> None:
    TERMS.check_same(TERMS, software="hushway 0")
    with pytest.raises(ReleaseError, match="contradicts itself"):
        replace(TERMS, **changes).check_same(TERMS, software="hushway 0")


@pytest.mark.parametrize(
    ("epsilon", "method", "holds"),
    [
        ("0.1", "zcdp", False),
        ("2", "zcdp", False),
        ("0.3", "pure", True),
        ("0.300001", "pure", True),
        ("0.29", "pure", False),
        ("1", "pure", False),
    ],
)
def test_the_claimed_epsilon_at_a_delta_is_recomputed(
    epsilon: str, method: str, *, holds: bool
) -> None:
    conversion = EpsilonDelta(epsilon=epsilon, delta="1e-6", method=method)
    certificate = made(epsilon_delta=conversion)
    if holds:
        certificate.check_epsilon_delta()
    else:
        with pytest.raises(ReleaseError, match="epsilon of"):
            certificate.check_epsilon_delta()


@pytest.mark.parametrize(
    ("value", "holds"),
    [(0.5, True), (0.5 * (1 + 1e-12), True), (0.51, False), (0.4, False), (None, False)],
)
def test_an_epsilon_by_pld_is_compared_with_the_accountant(
    monkeypatch: pytest.MonkeyPatch, value: float | None, *, holds: bool
) -> None:
    monkeypatch.setattr(
        "hushway.privacy.certificate.certificate.epsilon_by_pld", lambda _events, _delta: value
    )
    certificate = made(epsilon_delta=EpsilonDelta(epsilon="0.5", delta="1/1000", method="pld"))
    if holds:
        certificate.check_epsilon_delta()
    else:
        with pytest.raises(ReleaseError):
            certificate.check_epsilon_delta()


@pytest.mark.parametrize(
    ("spent", "budget_limit"), [(Fraction(1, 10), Fraction(1)), (Fraction(2), Fraction(1))]
)
def test_an_account_that_cannot_have_paid_is_refused(
    spent: Fraction, budget_limit: Fraction
) -> None:
    with pytest.raises(ReleaseError, match="account"):
        made(account=account(spent=spent, budget_limit=budget_limit)).check_account()


def test_a_pure_release_is_paid_from_an_account_in_rho_event_by_event() -> None:
    """The squares of the epsilons add up, which is less than the square of their sum."""
    exactly = Fraction(1, 5) ** 2 / 2 + Fraction(1, 10) ** 2 / 2
    made(account=account(measure=Measure.ZCDP, spent=exactly)).check_account()
    too_little = account(measure=Measure.ZCDP, spent=exactly - Fraction(1, 10**9))
    with pytest.raises(ReleaseError, match="charged less"):
        made(account=too_little).check_account()


def test_gaussian_noise_cannot_be_paid_in_epsilon() -> None:
    with pytest.raises(ReleaseError, match="currency"):
        made(events=(GAUSSIAN,), account=account()).check_account()


@pytest.mark.parametrize("entry", ["", "f" * 64, "sha256:" + "F" * 64, "sha256:ff", "dice"])
def test_an_account_names_the_entry_that_paid_by_its_hash(entry: str) -> None:
    with pytest.raises(PrivacyError):
        account(ledger_entry=entry)


@pytest.mark.parametrize("private", [True, False])
def test_only_the_operating_systems_bits_are_private(*, private: bool) -> None:
    with pytest.raises(PrivacyError, match="private"):
        Randomness(source="dice" if private else OsSource.name, private=private)


def test_somebody_must_answer_for_parameters_chosen_without_the_rows() -> None:
    with pytest.raises(PrivacyError, match="Nobody is named"):
        made(tuning=Tuning.WITHOUT_THESE_ROWS)
    words = {made(tuning=tuning, approver="A. Steward").tuning.sentence for tuning in Tuning}
    assert len(words) == len(Tuning)
    assert "Nobody has stated" in made().tuning.sentence


def test_noise_that_can_be_drawn_again_is_stamped() -> None:
    certificate = made(randomness=UNPROTECTED)
    assert certificate.stamp == "NOT PRIVATE"
    assert json.loads(certificate.to_json())["stamp"] == "NOT PRIVATE"
    assert made().stamp is None


@pytest.mark.parametrize(
    "changes",
    [
        {"title": Internal("Trips")},
        {"error": Internal(3)},
        {"not_protected": (Internal("x"),)},
        {"events": (Internal(LAPLACE),)},
        {"account": Internal(IN_RHO)},
    ],
)
def test_internal_values_never_enter_a_certificate(changes: dict[str, Any]) -> None:
    with pytest.raises(PrivacyError, match="against the truth"):
        made(**changes)


@pytest.mark.parametrize(
    "parameters", [{"a": Internal(1)}, {"a": [{"b": Internal("x")}]}, {"a": (Internal(None),)}]
)
def test_internal_values_never_enter_parameters(parameters: dict[str, Any]) -> None:
    with pytest.raises(PrivacyError, match="against the truth"):
        MechanismRecord(name="m", parameters=parameters)
    with pytest.raises(PrivacyError, match="against the truth"):
        Contribution(words="w", limits=parameters)


@pytest.mark.parametrize("value", [Fraction(1, 2), object(), b"x", float("nan"), {1: 2}, {"s"}])
def test_parameters_are_plain_json(value: object) -> None:
    with pytest.raises(PrivacyError):
        MechanismRecord(name="m", parameters={"a": value})


@pytest.mark.parametrize(
    "text",
    [
        "/srv/data/cards.parquet",
        "read from /srv/data/cards.parquet",
        "~/cards.csv",
        "C:\\data\\cards.csv",
        "\\\\server\\cards",
        "file:///srv/cards.csv",
    ],
)
def test_paths_of_private_machines_are_refused(text: str) -> None:
    with pytest.raises(PrivacyError, match="path"):
        made(title=text)
    with pytest.raises(PrivacyError, match="path"):
        MechanismRecord(name="m", parameters={"input": [text]})


@pytest.mark.parametrize(
    "text", ["km/h and/or m/s", "America/Detroit", "1/3", "The file: places.csv", "a 9:00 bus"]
)
def test_ordinary_words_are_not_mistaken_for_paths(text: str) -> None:
    assert made(title=text).title == text


@pytest.mark.parametrize(
    "changes",
    [
        {"title": " "},
        {"title": "two\nlines"},
        {"title": "\ud800"},
        {"title": 3},
        {"not_protected": ()},
        {"not_protected": ["a list"]},
        {"events": ()},
        {"created_at": "2026-03-01T12:00:00"},
        {"created_at": "2026-03-01T12:00:00.5+00:00"},
        {"created_at": "2026-03-01T12:00:00+01:00"},
        {"created_at": "yesterday"},
        {"events": (LaplaceEvent(query="q", cells=1, bound=BOUND, scale=Fraction(0)),)},
        {"events": (LaplaceEvent(query="q", cells=0, bound=BOUND, scale=Fraction(1)),)},
    ],
)
def test_an_incomplete_certificate_cannot_be_made(changes: dict[str, Any]) -> None:
    with pytest.raises(PrivacyError):
        made(**changes)


@pytest.mark.parametrize(
    "facts",
    [
        {"epsilon": "0", "delta": "1e-6", "method": "zcdp"},
        {"epsilon": "-1", "delta": "1e-6", "method": "zcdp"},
        {"epsilon": "inf", "delta": "1e-6", "method": "zcdp"},
        {"epsilon": 1.0, "delta": "1e-6", "method": "zcdp"},
        {"epsilon": "1", "delta": "1", "method": "zcdp"},
        {"epsilon": "1", "delta": "1e-6", "method": "hope"},
        {"epsilon": "1e999999999", "delta": "1e-6", "method": "zcdp"},
    ],
)
def test_a_conversion_needs_numbers_and_a_known_method(facts: dict[str, Any]) -> None:
    with pytest.raises(HushwayError):
        EpsilonDelta(**facts)


def test_canonical_json_refuses_what_is_not_json() -> None:
    with pytest.raises(ValueError, match="JSON"):
        canonical_json({"a": float("nan")})


def test_more_events_than_any_plan_has_are_not_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = parsed_json(made().to_json())
    event = facts["events"][0]
    many = canonical_json({**facts, "events": [event] * (1 << 14), "events_not_taken": [event]})
    read: list[object] = []
    monkeypatch.setattr("hushway.privacy.certificate.certificate._event", read.append)
    with pytest.raises(ReleaseError, match="cannot be understood"):
        Certificate.from_json(many)
    assert not read


def test_json_of_strangers_is_bounded() -> None:
    assert parsed_json(b'{"a": [1, 2.5, -3e2]}') == {"a": [1, 2.5, -300.0]}
    for data, words in (
        (b"[" + b"[]," * (1 << 21) + b"[]]", "more lists"),
        (b"[" * 200_000 + b"]" * 200_000, "deep"),
        (b"9" * 401, "long number"),
        (b"1e999", "too large for a float"),
        (b"NaN", "NaN"),
    ):
        with pytest.raises(ValueError, match=words):
            parsed_json(data)
