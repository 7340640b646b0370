"""The certificate of links is its own: terms, noise and measurements follow from each other."""

import dataclasses
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from hushway.errors import PrivacyError, ReleaseError
from hushway.families.links.fit.table import LinkTable
from hushway.families.write import write_release
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import counting_event
from hushway.privacy.certificate import Certificate
from hushway.privacy.events import Event
from hushway.privacy.loss import ZCDPLoss
from hushway.privacy.measured import Internal
from support.certificates import certificate_of, noise_in
from support.forging import assert_contradiction
from support.wrong_terms import WRONG_TERMS, choice_of

Build = Callable[..., LinkTable]
Certify = Callable[..., Certificate]


def test_every_table_needs_its_own_certificate(
    tmp_path: Path, links: LinkTable, fast_links: LinkTable, certify_links: Certify
) -> None:
    terms = certify_links(links).terms
    elsewhere = dataclasses.replace(terms.domain, digest="sha256:00")
    for certificate, words in (
        (certificate_of(terms, release_type="od"), "release type 'od'"),
        (certificate_of(terms, domain=elsewhere), "public lists are not those"),
        (certify_links(fast_links), "public lists are not those"),
    ):
        with pytest.raises(ReleaseError, match=words):
            write_release(tmp_path / "r", table=links, certificate=certificate)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", WRONG_TERMS)
def test_terms_that_do_not_follow_from_the_mechanism_are_found(
    tmp_path: Path, links: LinkTable, certify_links: Certify, name: str
) -> None:
    change, words = WRONG_TERMS[name]
    terms = certify_links(links).terms
    other = certificate_of(terms, **change(terms))
    assert_contradiction(tmp_path / "r", table=links, certificate=other, words=words)


def bounded(event: Event, **changes: int) -> Event:
    """Returns a measurement at the same price with noise for another bound."""
    bound = dataclasses.replace(event.bound, **changes)
    return counting_event(event.query, event.cells, event.loss, bound)


def wrong_events(events: tuple[Event, ...]) -> dict[str, tuple[Event, ...]]:
    items, classes, fast = events
    most, steps = items.bound.total, fast.bound.each
    fewer = most - 1
    one = counting_event("heads", 1, items.loss, Bound.of_records(1))
    return {
        "no items": (classes, fast),
        "two of items": (items, *events),
        "no classes": (items, fast),
        "two of classes": (*events, classes),
        "no speeds": (items, classes),
        "another order": (classes, items, fast),
        "other cells": (dataclasses.replace(items, cells=47), classes, fast),
        "other groups": (items, dataclasses.replace(classes, cells=3), fast),
        "other links": (items, classes, dataclasses.replace(fast, cells=3)),
        "an item that counts twice": (bounded(items, each=2), classes, fast),
        "fewer cells than items": (bounded(items, cells=fewer), classes, fast),
        "fewer items in all": (bounded(items, total=fewer), classes, fast),
        "fewer items by class": (items, bounded(classes, each=fewer, total=fewer), fast),
        "one item by class": (items, bounded(classes, each=1), fast),
        "fewer speeds": (items, classes, bounded(fast, total=fewer * steps)),
        "fewer links with speeds": (
            items,
            classes,
            bounded(fast, cells=fewer, total=fewer * steps),
        ),
        "something else": (*events, one),
        "something else instead": (items, one, fast),
        "a choice instead of a measurement": (choice_of(items), classes, fast),
    }


SOME = counting_event("q", 9, ZCDPLoss(Fraction(1, 50)), Bound.of_records(9))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", list(wrong_events((SOME,) * 3)))
def test_the_events_are_those_of_the_published_numbers(
    tmp_path: Path, build: Build, certify_links: Certify, name: str
) -> None:
    table = build(speeds=True)
    terms = certify_links(table).terms
    events = wrong_events(terms.events)[name]
    assert events != terms.events
    assert_contradiction(
        tmp_path / "r",
        table=table,
        certificate=certificate_of(terms, events=events),
        words="contradicts itself: its events are not what",
    )


def test_nothing_that_was_measured_is_said_not_to_have_been(
    tmp_path: Path, links: LinkTable, certify_links: Certify
) -> None:
    terms = certify_links(links).terms
    first, last = terms.events
    other = certificate_of(terms, events=(first,), not_taken=(last,))
    assert other.claim == terms.claim
    assert_contradiction(
        tmp_path / "r", table=links, certificate=other, words="its events are not what"
    )


OTHER_NOISE = "The noise that the table was fitted for is not that of"
OTHER_ROWS = "The rows and measurements of the table are not those of"


@pytest.mark.parametrize("kind", ["classes", "speeds"])
def test_what_is_measured_is_published(
    tmp_path: Path, build: Build, certify_links: Certify, kind: str
) -> None:
    table = build(classes=False)
    certificate = certify_links(table, **{kind: True})
    assert_contradiction(tmp_path / "r", table=table, certificate=certificate, words=OTHER_NOISE)
    fitted = dataclasses.replace(table, noise=noise_in(certificate.terms))
    assert_contradiction(tmp_path / "s", table=fitted, certificate=certificate, words=OTHER_ROWS)


@pytest.mark.parametrize("kind", ["classes", "speeds"])
def test_what_is_published_was_measured(
    tmp_path: Path, build: Build, certify_links: Certify, kind: str
) -> None:
    table = build(speeds=True)
    certificate = certify_links(table, **{kind: False})
    assert_contradiction(tmp_path / "r", table=table, certificate=certificate, words=OTHER_NOISE)
    fitted = dataclasses.replace(table, noise=noise_in(certificate.terms))
    assert_contradiction(tmp_path / "s", table=fitted, certificate=certificate, words=OTHER_ROWS)


@pytest.mark.parametrize("by", [-0.5, 0.5])
def test_links_show_from_the_threshold_on_that_the_certificate_states(
    tmp_path: Path, links: LinkTable, certify_links: Certify, by: float
) -> None:
    other = dataclasses.replace(links, threshold=links.threshold + by)
    assert_contradiction(
        tmp_path / "r", table=other, certificate=certify_links(links), words=OTHER_ROWS
    )


NOISES: dict[str, Callable[[dict[str, float]], Any]] = {
    "more": lambda noise: {name: 1.001 * error for name, error in noise.items()},
    "a measurement less": lambda noise: dict(list(noise.items())[1:]),
    "a measurement more": lambda noise: {**noise, "heads": 1.0},
    "another name": lambda noise: {name.upper(): error for name, error in noise.items()},
    "none": lambda _: {},
}


@pytest.mark.parametrize("name", NOISES)
def test_counts_were_fitted_for_the_noise_that_was_paid_for(
    tmp_path: Path, links: LinkTable, certify_links: Certify, name: str
) -> None:
    other = dataclasses.replace(links, noise=NOISES[name](dict(links.noise)))
    assert_contradiction(
        tmp_path / "r", table=other, certificate=certify_links(links), words=OTHER_NOISE
    )


@pytest.mark.parametrize("kind", [str, Internal, int, lambda _: float("nan")])
def test_noise_that_is_no_number_is_not_published(
    tmp_path: Path, links: LinkTable, certify_links: Certify, kind: Callable[[float], Any]
) -> None:
    noise = {query: kind(error) for query, error in links.noise.items()}
    other = dataclasses.replace(links, noise=noise)
    with pytest.raises((ReleaseError, PrivacyError)):
        write_release(tmp_path / "r", table=other, certificate=certify_links(links))
    assert not (tmp_path / "r").exists()
