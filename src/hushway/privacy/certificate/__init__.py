"""The certificate of a release."""

from hushway.privacy.certificate.certificate import STAMP, VERSION, Certificate
from hushway.privacy.certificate.parts import (
    AccountStatement,
    Contribution,
    Domain,
    EpsilonDelta,
    MechanismRecord,
    Randomness,
)
from hushway.privacy.certificate.plain import canonical_json, parsed_json

__all__ = [
    "STAMP",
    "VERSION",
    "AccountStatement",
    "Certificate",
    "Contribution",
    "Domain",
    "EpsilonDelta",
    "MechanismRecord",
    "Randomness",
    "canonical_json",
    "parsed_json",
]
