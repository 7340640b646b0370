"""Somebody edits a certificate and seals the folder again: what it says must still add up."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from hushway.errors import ReleaseError
from hushway.families.od.fit.table import ODTable
from hushway.families.verify import verify
from hushway.families.write import write_release
from hushway.privacy.certificate import SOFTWARE, Certificate, canonical_json
from hushway.privacy.randomness import OsSource
from support.certificates import UNPROTECTED, certificate_of
from support.conversions import printed_epsilon, stated_epsilon
from support.forging import failed, forged_release, sentence
from support.mutations import seal
from support.od_scenes import small_certificate
from support.wrong_terms import less_noise

Change = Callable[[dict[str, Any]], object]


def rewrite(release: Path, change: Change) -> None:
    """Changes the facts of a certificate, in the form in which they are always written."""
    path = release / "certificate.json"
    facts = json.loads(path.read_bytes())
    change(facts)
    path.write_bytes(canonical_json(facts))


FALSE_CLAIMS: dict[str, Change] = {
    "a smaller amount": lambda facts: facts["claim"].update(amount="1/1000"),
    "a larger amount": lambda facts: facts["claim"].update(amount="1000"),
    "the same amount in other words": lambda facts: facts["claim"].update(
        amount=f"{float(Fraction(facts['claim']['amount']))}"
    ),
    "another currency": lambda facts: facts["claim"].update(measure="zcdp"),
    "less noise": lambda facts: facts["events"][0].update(scale="1"),
    "a wider bound": lambda facts: facts["events"][0]["bound"].update(cells=9, each=9, total=9),
    "an event more": lambda facts: facts["events"].append(facts["events"][0]),
    "an event that was charged for": lambda facts: facts["events_not_taken"].append(
        facts["events"][0]
    ),
}


DERIVED: dict[str, Change] = {
    "the composition": lambda facts: facts.update(composition="Nothing adds up."),
    "the neighbours": lambda facts: facts.update(adjacency="Add or remove one city."),
    "the variant": lambda facts: facts.update(dp_variant="zcdp"),
    "the stamp": lambda facts: facts.update(stamp="NOT PRIVATE"),
    "the sampler": lambda facts: facts["randomness"].update(sampler="dice"),
    "the floats": lambda facts: facts.update(floating_point="What are floats?"),
    "the tuning": lambda facts: facts["tuning"].update(words="Nothing was tuned."),
    "the digest of the input": lambda facts: facts["input_digest"].update(value="sha256:00"),
    "a further fact": lambda facts: facts.update(luck="good"),
}


ODD: dict[str, Change] = {
    "an entry that is no hash": lambda facts: facts["account"].update(ledger_entry="f" * 64),
    "an entry in capitals": lambda facts: facts["account"].update(
        ledger_entry="sha256:" + "F" * 64
    ),
    "a seed that is said to be private": lambda facts: facts["randomness"].update(source="a seed"),
    "a private source that is said not to be": lambda facts: facts["randomness"].update(
        private=False
    ),
    "tuning in other words": lambda facts: facts["tuning"].update(parameters_chosen="by hand"),
    "tuning without these rows by nobody": lambda facts: facts["tuning"].update(
        parameters_chosen="without these rows"
    ),
    "no events": lambda facts: facts.update(events=[]),
}


EDITED = {
    "claims something else": FALSE_CLAIMS,
    "was edited after it was written": DERIVED,
    "cannot be understood": ODD,
}


@pytest.mark.parametrize(
    ("words", "name"), [(words, name) for words, changes in EDITED.items() for name in changes]
)
def test_a_certificate_that_contradicts_itself_is_not_even_read(
    release: Path, words: str, name: str
) -> None:
    rewrite(release, EDITED[words][name])
    with pytest.raises(ReleaseError, match=words):
        Certificate.from_json((release / "certificate.json").read_bytes())
    seal(release)
    verification = verify(release)
    assert failed(verification) == {"certificate"}
    assert words in sentence(verification, "certificate")


def test_a_seed_cannot_be_hidden_by_taking_off_the_stamp(tmp_path: Path, table: ODTable) -> None:
    certificate = small_certificate(table, randomness=UNPROTECTED)
    folder = write_release(tmp_path / "r", table=table, certificate=certificate)
    assert certificate.randomness.source != OsSource.name

    def hide(facts: dict[str, Any]) -> None:
        facts["stamp"] = None
        facts["randomness"]["private"] = True

    rewrite(folder, hide)
    seal(folder)
    assert failed(verify(folder)) == {"certificate"}


@pytest.mark.parametrize(
    ("words", "check"),
    [
        ("The account has been charged less than this release costs.", "spent"),
        ("The account has passed its budget limit.", "budget_limit"),
    ],
)
def test_an_account_that_could_not_pay_is_found(
    tmp_path: Path, table: ODTable, certificate: Certificate, *, words: str, check: str
) -> None:
    account = replace(certificate.account, **{check: certificate.claim.amount / 2})
    other = replace(certificate, account=account)
    with pytest.raises(ReleaseError, match=words):
        write_release(tmp_path / "r", table=table, certificate=other)
    verification = verify(forged_release(tmp_path / "r", table=table, certificate=other))
    assert failed(verification) == {"account"}
    assert sentence(verification, "account") == words


@pytest.mark.parametrize("change", ["size", "digest"])
def test_other_public_lists_than_those_of_the_certificate_are_found(
    tmp_path: Path, table: ODTable, certificate: Certificate, change: str
) -> None:
    domain = certificate.terms.domain
    others = {"size": domain.size + 1, "digest": "sha256:00"}
    other = certificate_of(certificate.terms, domain=replace(domain, **{change: others[change]}))
    verification = verify(forged_release(tmp_path / "r", table=table, certificate=other))
    assert failed(verification) == {"geography"}
    assert "not those that the certificate was made for" in sentence(verification, "geography")


def test_a_release_of_another_version_is_left_to_that_version(
    tmp_path: Path, table: ODTable
) -> None:
    other = small_certificate(table, software="hushway 0.0.1")
    verification = verify(forged_release(tmp_path / "r", table=table, certificate=other))
    assert failed(verification) == {"software"}
    for version in ("hushway 0.0.1", SOFTWARE):
        assert version in sentence(verification, "software")


def test_an_edited_certificate_ends_the_verification(release: Path) -> None:
    path = release / "certificate.json"
    path.write_bytes(path.read_bytes() + b"\n")
    seal(release)
    assert failed(verify(release)) == {"certificate"}


def test_an_unknown_family_is_found(tmp_path: Path, table: ODTable) -> None:
    other = small_certificate(table, release_type="weather")
    verification = verify(forged_release(tmp_path / "r", table=table, certificate=other))
    assert failed(verification) == {"release type"}


def test_less_noise_than_the_rows_carry_is_found_with_a_claim_to_match(
    tmp_path: Path, table: ODTable, certificate: Certificate
) -> None:
    (event,) = certificate.terms.events
    other = certificate_of(certificate.terms, events=(less_noise(event),))
    assert other.claim.amount == 2 * certificate.claim.amount
    verification = verify(forged_release(tmp_path / "r", table=table, certificate=other))
    assert failed(verification) == {"terms"}
    assert "its events are not what" in sentence(verification, "terms")


def test_a_claim_with_a_delta_is_rechecked(
    tmp_path: Path, table: ODTable, certificate: Certificate
) -> None:
    fair = printed_epsilon(certificate.terms)
    honest = replace(certificate, epsilon_delta=stated_epsilon(fair))
    assert verify(write_release(tmp_path / "fair", table=table, certificate=honest)).passed
    for name, epsilon in (
        ("half", fair / 2),
        ("a little less", fair - Fraction(1, 10**4)),
        ("a little more", fair + Fraction(1, 10**4)),
        ("twice", 2 * fair),
    ):
        other = replace(certificate, epsilon_delta=stated_epsilon(epsilon))
        with pytest.raises(ReleaseError, match="the events cost an epsilon of"):
            write_release(tmp_path / name, table=table, certificate=other)
        folder = forged_release(tmp_path / name, table=table, certificate=other)
        verification = verify(folder)
        assert failed(verification) == {"epsilon and delta"}
        assert "the events cost an epsilon of" in sentence(verification, "epsilon and delta")
