"""The certificate of a density is its own: terms, noise and measurements follow from each other."""

import dataclasses
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from hushway.errors import PrivacyError, ReleaseError
from hushway.families.density.fit.table import DensityTable
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

Certify = Callable[..., Certificate]


def test_every_density_needs_its_own_certificate(
    tmp_path: Path,
    density: DensityTable,
    plain_density: DensityTable,
    certify_density: Certify,
) -> None:
    terms = certify_density(density).terms
    elsewhere = dataclasses.replace(terms.domain, digest="sha256:00")
    for certificate, words in (
        (certificate_of(terms, release_type="od"), "release type 'od'"),
        (certificate_of(terms, domain=elsewhere), "public lists are not those"),
        (certify_density(plain_density), "public lists are not those"),
    ):
        with pytest.raises(ReleaseError, match=words):
            write_release(tmp_path / "r", table=density, certificate=certificate)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", WRONG_TERMS)
def test_terms_that_do_not_follow_from_the_mechanism_are_found(
    tmp_path: Path, density: DensityTable, certify_density: Certify, name: str
) -> None:
    change, words = WRONG_TERMS[name]
    terms = certify_density(density).terms
    other = certificate_of(terms, **change(terms))
    assert_contradiction(tmp_path / "r", table=density, certificate=other, words=words)


def bounded(event: Event, **changes: int) -> Event:
    """Returns a measurement at the same price with noise for another bound."""
    bound = dataclasses.replace(event.bound, **changes)
    return counting_event(event.query, event.cells, event.loss, bound)


def wrong_events(events: tuple[Event, ...]) -> dict[str, tuple[Event, ...]]:
    sites, people, visits, totals, series = events
    parts, visit = series.bound.total, series.bound.each
    one = counting_event("heads", 1, series.loss, Bound.of_records(1))
    return {
        "no series": (sites, people, visits, totals),
        "two series": (*events, series),
        "no histogram": (people, visits, totals, series),
        "no activity": (sites, visits, totals, series),
        "no total": (sites, people, totals, series),
        "no totals of clusters": (sites, people, visits, series),
        "another order": (series, sites, people, visits, totals),
        "fewer clusters": (sites, people, visits, totals, dataclasses.replace(series, cells=8)),
        "a cluster for every cell": (
            sites,
            people,
            visits,
            totals,
            dataclasses.replace(series, cells=24),
        ),
        "half the parts": (sites, people, visits, totals, bounded(series, each=visit // 2)),
        "parts of a visit left over": (
            sites,
            people,
            visits,
            totals,
            bounded(series, total=parts - 1),
        ),
        "more visits than periods": (
            sites,
            people,
            visits,
            totals,
            bounded(series, total=9 * visit),
        ),
        "fewer cells touched": (sites, people, visits, totals, bounded(series, cells=1)),
        "two visits a person": (bounded(sites, each=2, total=2), people, visits, totals, series),
        "a person in two classes": (
            sites,
            bounded(people, cells=2, total=2),
            visits,
            totals,
            series,
        ),
        "other sites": (dataclasses.replace(sites, cells=3), people, visits, totals, series),
        "other classes": (sites, dataclasses.replace(people, cells=3), visits, totals, series),
        "two totals": (sites, people, dataclasses.replace(visits, cells=2), totals, series),
        "other totals of clusters": (
            sites,
            people,
            visits,
            dataclasses.replace(totals, cells=5),
            series,
        ),
        "something else": (*events, one),
        "something else instead": (sites, people, visits, one, series),
        "a choice instead of a measurement": (sites, people, visits, totals, choice_of(series)),
        "a choice that is a measurement": (
            sites,
            people,
            visits,
            totals,
            dataclasses.replace(series, query="coefficients of each cluster"),
            series,
        ),
    }


SOME = counting_event("q", 1, ZCDPLoss(Fraction(1, 50)), Bound.of_records(12))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", list(wrong_events((SOME,) * 5)))
def test_the_events_are_those_of_the_published_numbers(
    tmp_path: Path, density: DensityTable, certify_density: Certify, name: str
) -> None:
    terms = certify_density(density).terms
    events = wrong_events(terms.events)[name]
    assert events != terms.events
    assert_contradiction(
        tmp_path / "r",
        table=density,
        certificate=certificate_of(terms, events=events),
        words="contradicts itself: its events are not what",
    )


def test_nothing_that_was_measured_is_said_not_to_have_been(
    tmp_path: Path, density: DensityTable, certify_density: Certify
) -> None:
    terms = certify_density(density).terms
    *first, last = terms.events
    other = certificate_of(terms, events=tuple(first), not_taken=(last,))
    assert other.claim == terms.claim
    assert_contradiction(
        tmp_path / "r", table=density, certificate=other, words="its events are not what"
    )


OTHER_NOISE = "The noise that the table was fitted for is not that of"
OTHER_MEASUREMENTS = "The measurements of the table are not those of"


def test_what_is_measured_is_published(
    tmp_path: Path, plain_density: DensityTable, certify_density: Certify
) -> None:
    certificate = certify_density(plain_density, histogram=True)
    assert_contradiction(
        tmp_path / "r", table=plain_density, certificate=certificate, words=OTHER_NOISE
    )
    noise = noise_in(certificate.terms)
    fitted = dataclasses.replace(plain_density, noise=noise)
    assert_contradiction(
        tmp_path / "s", table=fitted, certificate=certificate, words=OTHER_MEASUREMENTS
    )


def test_what_is_published_was_measured(
    tmp_path: Path, density: DensityTable, certify_density: Certify
) -> None:
    certificate = certify_density(density, histogram=False)
    assert_contradiction(tmp_path / "r", table=density, certificate=certificate, words=OTHER_NOISE)
    fitted = dataclasses.replace(density, noise=noise_in(certificate.terms))
    assert_contradiction(
        tmp_path / "s", table=fitted, certificate=certificate, words=OTHER_MEASUREMENTS
    )


@pytest.mark.parametrize("name", ["measured_sites", "measured_total"])
def test_sites_and_total_are_published_together(
    tmp_path: Path, density: DensityTable, certify_density: Certify, name: str
) -> None:
    fewer = dataclasses.replace(density, **{name: None})
    assert_contradiction(
        tmp_path / "r", table=fewer, certificate=certify_density(density), words=OTHER_MEASUREMENTS
    )


def test_a_visit_has_the_parts_that_the_certificate_states(
    tmp_path: Path, density: DensityTable, certify_density: Certify
) -> None:
    other = dataclasses.replace(density, quanta=density.quanta + 1)
    assert_contradiction(
        tmp_path / "r", table=other, certificate=certify_density(density), words=OTHER_MEASUREMENTS
    )


def test_cells_are_merged_only_by_totals_that_were_measured(
    tmp_path: Path, density: DensityTable, certify_density: Certify
) -> None:
    certificate = certify_density(density, clustered=False)
    merged = dataclasses.replace(density, noise=noise_in(certificate.terms))
    assert_contradiction(
        tmp_path / "r", table=merged, certificate=certificate, words=OTHER_MEASUREMENTS
    )


NOISES: dict[str, Callable[[dict[str, float]], Any]] = {
    "more": lambda noise: {name: 1.001 * error for name, error in noise.items()},
    "less in one": lambda noise: {**noise, "all visits": noise["all visits"] / 2},
    "a measurement less": lambda noise: dict(list(noise.items())[1:]),
    "a measurement more": lambda noise: {**noise, "heads": 1.0},
    "another name": lambda noise: {name.upper(): error for name, error in noise.items()},
    "none": lambda _: {},
}


@pytest.mark.parametrize("name", NOISES)
def test_a_density_was_fitted_for_the_noise_that_was_paid_for(
    tmp_path: Path, density: DensityTable, certify_density: Certify, name: str
) -> None:
    other = dataclasses.replace(density, noise=NOISES[name](dict(density.noise)))
    assert_contradiction(
        tmp_path / "r", table=other, certificate=certify_density(density), words=OTHER_NOISE
    )


@pytest.mark.parametrize("kind", [str, Internal, int, lambda _: float("nan")])
def test_noise_that_is_no_number_is_not_published(
    tmp_path: Path, density: DensityTable, certify_density: Certify, kind: Callable[[float], Any]
) -> None:
    noise = {query: kind(error) for query, error in density.noise.items()}
    other = dataclasses.replace(density, noise=noise)
    with pytest.raises((ReleaseError, PrivacyError)):
        write_release(tmp_path / "r", table=other, certificate=certify_density(density))
    assert not (tmp_path / "r").exists()
