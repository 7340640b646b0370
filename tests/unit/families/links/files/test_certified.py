"""The certificate of links is its own: terms, noise and measurements follow from each other."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from hushway.families.links.fit.table import LinkTable
from hushway.privacy.certificate import Certificate
from support.certificates import noise_in
from support.family_suite import OTHER_NOISE
from support.forging import assert_contradiction

Build = Callable[..., LinkTable]
Certify = Callable[..., Certificate]


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
