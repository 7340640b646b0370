"""The page, the label and the data package."""

import json
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from hushway.families.od.fit.table import ODTable
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.certificate import Certificate, EpsilonDelta, Tuning
from hushway.privacy.events import GaussianEvent, LaplaceEvent
from hushway.privacy.loss import Measure, ZCDPLoss
from hushway.release.documents.label import render_label
from hushway.release.documents.page import render_page
from hushway.release.formats.yaml import yaml_text
from hushway.release.wording import claim_text, guarantee, loss_text, number_text
from support.certificates import UNPROTECTED
from support.od_scenes import small_certificate

ONE = Bound.of_records(1)
GAUSSIAN = GaussianEvent(query="trips", cells=1, bound=ONE, sigma_squared=Fraction(25))


class Page(HTMLParser):
    """Collects the text of a page and everything it would load."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.words = ""
        self.loads: list[str] = []
        self.tags: list[str] = []
        self.feed(data.decode())
        self.close()

    def handle_data(self, data: str) -> None:
        self.words += data

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [value or "" for name, value in attrs if name in ("src", "href", "srcset")]


def test_the_page_says_what_matters(certificate: Certificate) -> None:
    page, terms = Page(render_page(certificate, b"png")), certificate.terms
    assert "right at most 52.5 times out of 100" in guarantee(certificate)
    for words in (
        certificate.title,
        guarantee(certificate),
        loss_text(certificate.claim),
        terms.unit.adjacency,
        terms.contribution.words,
        terms.error,
        *terms.not_protected,
        *terms.domain.assumed_public,
        *terms.post_processing,
        certificate.composition,
        certificate.sampler,
        certificate.floating_point,
        certificate.tuning.sentence,
        certificate.input_digest,
        certificate.randomness.source,
        certificate.account.ledger_entry,
        "hushway verify",
        "The units differ.",
        "Google Community Mobility",
        "2.64",
    ):
        assert words in page.words
    assert "NOT PRIVATE" not in page.words


def test_the_page_needs_no_network(certificate: Certificate) -> None:
    page = Page(render_page(certificate, b"png"))
    assert page.loads == ["data:image/png;base64,cG5n"]
    assert not {"script", "link", "iframe"} & set(page.tags)


def test_words_are_never_markup(table: ODTable) -> None:
    evil = "<script>alert(1)</script>$title & \"x\" 'y'"
    certificate = small_certificate(
        table,
        title=evil,
        publisher=evil,
        approver=evil,
        intended_use=evil,
        not_protected=(evil,),
        post_processing=(evil,),
        error=evil,
        release_id=evil,
    )
    page = Page(render_page(certificate, b""))
    assert "script" not in page.tags
    assert page.words.count(evil) >= 8


def test_the_same_certificate_gives_the_same_papers(certificate: Certificate) -> None:
    again = Certificate.from_json(certificate.to_json())
    assert render_page(again, b"x") == render_page(certificate, b"x")
    assert render_label(again) == render_label(certificate)
    assert render_page(certificate, b"x") != render_page(certificate, b"y")


def test_an_unprotected_release_is_stamped_everywhere(table: ODTable) -> None:
    certificate = small_certificate(table, randomness=UNPROTECTED)
    page = render_page(certificate, b"")
    assert b'<p class="stamp">NOT PRIVATE</p>' in page
    assert "protects nobody" in Page(page).words
    assert "This release per" not in Page(page).words
    label = render_label(certificate)
    assert label.split(b"\n")[1].startswith(b"# NOT PRIVATE")
    assert yaml.safe_load(label)["deployment"]["basic"]["name"].startswith("NOT PRIVATE: ")


def test_the_label_reads_as_yaml_in_the_form_of_the_registry(certificate: Certificate) -> None:
    label = yaml.safe_load(render_label(certificate))
    assert label["status"] == "Draft"
    deployment = label["deployment"]
    assert deployment["basic"]["name"] == certificate.title
    assert deployment["basic"]["data_curators"] == [certificate.publisher]
    assert deployment["dp_variant"]["variant_name"] == "Pure DP"
    assert deployment["privacy_loss"]["privacy_unit"] == "Person"
    assert deployment["privacy_loss"]["privacy_parameters"] == {
        "epsilon": float(certificate.claim.amount)
    }
    for step in certificate.terms.post_processing:
        assert step in deployment["accounting"]["post_processing"]
    mechanisms = deployment["implementation"]["mechanisms"]
    assert mechanisms.startswith("Mechanism laplace of")
    assert certificate.floating_point in mechanisms
    details = deployment["privacy_loss"]["privacy_unit_details"]
    assert certificate.terms.contribution.words in details
    assert certificate.terms.error in deployment["basic"]["description"]
    assert deployment["deployment_model"]["model_name"] == "Central"


@pytest.mark.parametrize("tuning", Tuning)
def test_the_papers_say_who_answers_for_the_choice_of_parameters(
    table: ODTable, tuning: Tuning
) -> None:
    certificate = small_certificate(table, tuning=tuning, approver="The privacy officer")
    assert tuning.sentence in Page(render_page(certificate, b"")).words
    label = yaml.safe_load(render_label(certificate))["deployment"]["implementation"]
    assert label["preprocessing_and_hyperparameter_tuning"] == tuning.sentence


@pytest.mark.parametrize("unit", Unit)
def test_the_papers_name_the_unit_that_is_protected(table: ODTable, unit: Unit) -> None:
    certificate = small_certificate(table, unit=unit)
    assert claim_text(certificate).endswith(f"per {unit}")
    assert f"any one {unit} is in the data" in guarantee(certificate)
    assert unit.adjacency in Page(render_page(certificate, b"")).words
    loss = yaml.safe_load(render_label(certificate))["deployment"]["privacy_loss"]
    assert loss["privacy_unit"].lower() == unit
    assert loss["privacy_unit_details"].startswith(unit.adjacency)


def test_what_was_paid_for_and_not_measured_stands_on_the_papers(table: ODTable) -> None:
    measured = LaplaceEvent(query="trips", cells=80, bound=ONE, scale=Fraction(10))
    reserved = LaplaceEvent(query="more trips", cells=9, bound=ONE, scale=Fraction(5))
    certificate = small_certificate(table, events=(measured,), not_taken=(reserved,))
    assert certificate.claim.amount == Fraction(3, 10)
    rows = render_page(certificate, b"").decode().split("<tr")
    (row,) = (row for row in rows if "more trips" in row)
    assert "not measured" in row
    assert loss_text(reserved.loss) in row
    (total,) = (row for row in rows if "All together" in row)
    assert loss_text(certificate.claim) in total
    label = yaml.safe_load(render_label(certificate))["deployment"]["implementation"]
    assert "\n- spent, and not measured: more trips" in label["mechanisms"]


def test_a_release_in_rho_shows_rho_epsilon_and_delta(table: ODTable) -> None:
    certificate = small_certificate(
        table,
        events=(GAUSSIAN,),
        epsilon_delta=EpsilonDelta(epsilon="0.97", delta="1e-6", method="zcdp"),
        unit=Unit.TRIP,
    )
    assert certificate.claim == ZCDPLoss(Fraction(1, 50))
    assert certificate.account.measure is Measure.ZCDP
    assert claim_text(certificate) == "ρ = 0.02 (ε = 0.97 at δ = 1e-6) per trip"
    assert "any one trip is in the data is right at most 55 times" in guarantee(certificate)
    label = yaml.safe_load(render_label(certificate))["deployment"]
    assert label["privacy_loss"]["privacy_parameters"] == {
        "rho": 0.02,
        "epsilon": 0.97,
        "delta": 1e-6,
    }
    page = Page(render_page(certificate, b"")).words
    assert "ε = 0.97 at δ = 1e-6" in page
    assert "This release" in page


def test_without_an_epsilon_the_release_is_not_on_the_ruler(table: ODTable) -> None:
    certificate = small_certificate(table, events=(GAUSSIAN,))
    assert "This release per" not in Page(render_page(certificate, b"")).words


@pytest.mark.parametrize(
    ("epsilon", "right"), [("1/1000", "50.1"), ("1", "73.2"), ("10", "100"), ("100000", "100")]
)
def test_the_best_guess_is_never_flattered(table: ODTable, epsilon: str, right: str) -> None:
    event = LaplaceEvent(query="trips", cells=1, bound=ONE, scale=1 / Fraction(epsilon))
    certificate = small_certificate(table, events=(event,))
    assert f"at most {right} times" in guarantee(certificate)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1/2", "0.5"),
        ("10", "10"),
        ("1/3", "0.334"),
        ("1000000", "1000000"),
        ("1234567", "1234567"),
        ("64881598393/2500000000000", "0.026"),
        ("2/3000000000", "6.67e-10"),
    ],
)
def test_numbers_are_short_and_rounded_up(value: str, text: str) -> None:
    assert number_text(Fraction(value)) == text


def test_the_package_describes_every_file(release: Path, certificate: Certificate) -> None:
    package = json.loads((release / "datapackage.json").read_bytes())
    described = {resource["path"] for resource in package["resources"]}
    files = {p.relative_to(release).as_posix() for p in release.rglob("*") if p.is_file()}
    assert files - described == {"datapackage.json", "seal.json"}
    assert package["privacy"]["amount"] == str(certificate.claim.amount)
    assert package["privacy"]["stamp"] is None
    assert package["title"] == certificate.title
    assert "of the trips stand in flows" in package["table"].pop("known")
    assert package["table"] == {
        "rows": 80,
        "cells": 80,
        "dense": True,
        "threshold": None,
        "include_intrazonal": False,
    }
    trips = package["resources"][0]
    # Frictionless would call any number of bytes of a Parquet file wrong.
    assert "bytes" not in trips
    assert package["resources"][1]["bytes"] == (release / "trips.csv").stat().st_size
    assert [f["name"] for f in trips["schema"]["fields"]] == [
        "period",
        "origin",
        "origin_name",
        "destination",
        "destination_name",
        "count",
        "standard_error",
        "low",
        "high",
    ]


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inside: (
        st.lists(inside) | st.dictionaries(st.text(st.characters(codec="ascii")), inside)
    ),
    max_leaves=12,
)


@pytest.mark.long
@settings(deadline=None)
@given(st.dictionaries(st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True), PLAIN, min_size=1))
def test_whatever_is_written_as_yaml_is_read_back(facts: dict[str, object]) -> None:
    assert yaml.safe_load(yaml_text(facts)) == facts


def test_keys_that_look_like_truth_values_stay_text() -> None:
    assert yaml.safe_load(yaml_text({"no": 1, "on": {"null": []}})) == {"no": 1, "on": {"null": []}}
