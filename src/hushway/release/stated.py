"""Holds what a certificate states against what follows from its own facts."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from hushway.errors import ReleaseError
from hushway.privacy.calibration import noise_for
from hushway.privacy.certificate import SOFTWARE, Certificate, Terms
from hushway.privacy.events import Event, GaussianEvent, LaplaceEvent
from hushway.privacy.query import Cells

TERMS_HOLD = (
    "Events, limits, noise and sentences are those that follow from the mechanism, the limits and "
    "the public lists."
)

_ROUNDING = 1e-9
_ADVICE = "Write each table with its own certificate."


def check_terms(certificate: Certificate, expected: Terms) -> None:
    """Makes sure that a certificate states just the terms that its mechanism and limits give.

    Raises:
        ReleaseError: It states others; the message says which.
    """
    certificate.terms.check_same(expected, software=SOFTWARE)


def check_family(certificate: Certificate, family: str) -> None:
    """Makes sure that a certificate is for a family of releases.

    Raises:
        ReleaseError: It is for another one.
    """
    if certificate.terms.family != family:
        raise ReleaseError(
            f"The certificate is for the family {certificate.terms.family!r}, not for {family}.",
            advice=_ADVICE,
        )


def check_domain(certificate: Certificate, cells: Cells) -> None:
    """Makes sure that a certificate was made for some public lists.

    Raises:
        ReleaseError: It was made for others.
    """
    domain = certificate.terms.domain
    if (domain.digest, domain.size) != (cells.digest, cells.size):
        raise ReleaseError(
            "The public lists are not those that the certificate was made for.", advice=_ADVICE
        )


def check_noise(terms: Terms, noise: Mapping[str, float]) -> None:
    """Makes sure that a table says of every measurement what noise the certificate says.

    Args:
        terms: The terms of the release.
        noise: Standard deviation of the noise in each measurement, by what was asked.

    Raises:
        ReleaseError: The certificate speaks of other measurements or other noise.
    """
    added = {
        event.query: noise_error(event)
        for event in terms.events
        if isinstance(event, LaplaceEvent | GaussianEvent)
    }
    if added.keys() != noise.keys() or not all(is_noise(noise[q], added[q]) for q in added):
        raise ReleaseError(
            "The noise that the table was fitted for is not that of the certificate's events.",
            advice=_ADVICE,
        )


def noise_fits(noise: object) -> bool:
    """Whether a data package states noise as numbers by what was asked."""
    return type(noise) is dict and all(type(error) is float for error in noise.values())


def noise_error(event: Event) -> float:
    """Returns the standard deviation of the noise of an event."""
    return math.sqrt(noise_for(event.loss, event.bound).variance)


def is_noise(stated: object, added: float) -> bool:
    """Whether a stated standard deviation is that of the noise that was added."""
    return isinstance(stated, float) and math.isclose(stated, added, rel_tol=_ROUNDING)


def refuse_numbers(what: str) -> ReleaseError:
    """Returns the error of numbers that another mechanism, or other noise, would have given."""
    return ReleaseError(
        f"The {what} of the table are not those of the mechanism that the certificate states.",
        advice=_ADVICE,
    )


# Where a mechanism that measures features names them among its public parameters.
PARAMETER = "features"


@dataclass(frozen=True, kw_only=True)
class CertifiedFeature:
    """A feature as a certificate names it."""

    title: str
    elements: int
    digest: str

    @property
    def words(self) -> str:
        """Title and number of sums, for readers."""
        return f"{self.title} ({self.elements:,} {'sum' if self.elements == 1 else 'sums'})"


def certified_features(certificate: Certificate) -> tuple[CertifiedFeature, ...]:
    """Returns the features that a certificate names; none if only cells were measured.

    Raises:
        ReleaseError: They are not named as hushway names them.
    """
    named = certificate.terms.mechanism.parameters.get(PARAMETER, [])
    kinds = {"title": str, "elements": int, "digest": str}
    sound = isinstance(named, list) and all(
        isinstance(each, dict) and {key: type(value) for key, value in each.items()} == kinds
        for each in named
    )
    if not sound:
        raise ReleaseError(
            "The certificate does not name its features by title, elements and digest.",
            advice="Verify with the version of hushway that the certificate names.",
        )
    return tuple(CertifiedFeature(**each) for each in named)
