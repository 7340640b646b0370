"""The features that a certificate names: what was measured beside the cells."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hushway.errors import ReleaseError
from hushway.geography.features import Feature
from hushway.privacy.calibration import noise_for
from hushway.privacy.certificate import Certificate
from hushway.privacy.events import Event, SelectEvent

# Where a mechanism that measures features names them among its public parameters.
PARAMETER = "features"

_ROUNDING = 1e-9


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
    named = certificate.mechanism.parameters.get(PARAMETER, [])
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


def check_certified(certificate: Certificate, features: Sequence[Feature]) -> None:
    """Makes sure that these are the features of the certificate, and that it paid for them.

    Raises:
        ReleaseError: A feature is another one, or no event of the certificate measured it.
    """
    found = tuple(
        CertifiedFeature(title=feature.title, elements=feature.size, digest=feature.digest)
        for feature in features
    )
    if found != certified_features(certificate):
        raise ReleaseError(
            "The sums are not over the features that the certificate was made for.",
            advice="Write each table with its own certificate.",
        )
    for feature in features:
        if not _events_of(certificate, feature):
            raise ReleaseError(
                f"No event of the certificate measured the feature {feature.title!r}.",
                advice="Write each table with its own certificate.",
            )


def check_standard_error(certificate: Certificate, feature: Feature, standard_error: float) -> None:
    """Makes sure that the noise of a feature's sums is that of an event which measured it.

    Raises:
        ReleaseError: The certificate speaks of other noise.
    """
    errors = [
        math.sqrt(noise_for(event.loss, event.bound).variance)
        for event in _events_of(certificate, feature)
    ]
    if not any(math.isclose(error, standard_error, rel_tol=_ROUNDING) for error in errors):
        raise ReleaseError(
            f"The standard error of {feature.title!r} is not that of the noise in the certificate.",
            advice="Write each table with its own certificate.",
        )


def _events_of(certificate: Certificate, feature: Feature) -> list[Event]:
    return [
        event
        for event in certificate.events
        if (event.query, event.cells) == (feature.name, feature.size)
        and not isinstance(event, SelectEvent)
    ]
