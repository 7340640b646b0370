"""The certificate of a density is its own: terms, noise and measurements follow from each other."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from hushway.families.density.fit.table import DensityTable
from hushway.privacy.certificate import Certificate
from support.certificates import noise_in
from support.family_suite import OTHER_NOISE
from support.forging import assert_contradiction

Certify = Callable[..., Certificate]


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
