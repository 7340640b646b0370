"""The features that a certificate names: what was measured beside the cells."""

from dataclasses import dataclass

from hushway.errors import ReleaseError
from hushway.privacy.certificate import Certificate

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
