"""The certificate of a release."""

from hushway.privacy.certificate.certificate import SOFTWARE, STAMP, VERSION, Certificate
from hushway.privacy.certificate.parts import (
    AccountStatement,
    Contribution,
    Domain,
    EpsilonDelta,
    MechanismRecord,
    Randomness,
    canonical_json,
    parsed_json,
)
from hushway.privacy.certificate.terms import Terms
from hushway.privacy.tuning import Tuning

__all__ = [
    "SOFTWARE",
    "STAMP",
    "VERSION",
    "AccountStatement",
    "Certificate",
    "Contribution",
    "Domain",
    "EpsilonDelta",
    "MechanismRecord",
    "Randomness",
    "Terms",
    "Tuning",
    "canonical_json",
    "parsed_json",
]
