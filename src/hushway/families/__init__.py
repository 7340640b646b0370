"""What a family is built from, under one roof: `from hushway import families as hw`.

The four families here are built from the same parts, imported from where they live. Whoever writes
one of their own finds them together; `CONTRIBUTING.md` says how.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hushway.audit.files import filled_purse
    from hushway.audit.harness import Trial, World, as_many
    from hushway.audit.suite import Mutant, Suite
    from hushway.privacy.bound import Bound
    from hushway.privacy.calibration import noise_for
    from hushway.privacy.certificate import Certificate, Contribution, Terms
    from hushway.privacy.curator import Curator
    from hushway.privacy.digest import digest_of
    from hushway.privacy.ledger import Window
    from hushway.privacy.loss import PureLoss, ZCDPLoss, exact
    from hushway.privacy.public_facts import public_facts
    from hushway.privacy.query import ExactCounts, Query
    from hushway.privacy.randomness import os_source
    from hushway.privacy.unit import Unit
    from hushway.release.bounded import LIST_BYTES, csv_rows, read_plain
    from hushway.release.family import Example, Family
    from hushway.release.job import Job, Wording
    from hushway.release.mechanism import FixedQuestions, Forecast, Question
    from hushway.release.plan_sections import AnyPlan
    from hushway.release.resource import Description, Resource, table_schema
    from hushway.release.stated import check_domain, check_terms
    from hushway.release.stated_mechanism import rebuilt
    from hushway.release.terms import terms_of

_HOMES = {
    "audit.files": ("filled_purse",),
    "audit.harness": ("Trial", "World", "as_many"),
    "audit.suite": ("Mutant", "Suite"),
    "privacy.bound": ("Bound",),
    "privacy.calibration": ("noise_for",),
    "privacy.certificate": ("Certificate", "Contribution", "Terms"),
    "privacy.curator": ("Curator",),
    "privacy.digest": ("digest_of",),
    "privacy.ledger": ("Window",),
    "privacy.loss": ("PureLoss", "ZCDPLoss", "exact"),
    "privacy.public_facts": ("public_facts",),
    "privacy.query": ("ExactCounts", "Query"),
    "privacy.randomness": ("os_source",),
    "privacy.unit": ("Unit",),
    "release.bounded": ("LIST_BYTES", "csv_rows", "read_plain"),
    "release.family": ("Example", "Family"),
    "release.job": ("Job", "Wording"),
    "release.mechanism": ("FixedQuestions", "Forecast", "Question"),
    "release.plan_sections": ("AnyPlan",),
    "release.resource": ("Description", "Resource", "table_schema"),
    "release.stated": ("check_domain", "check_terms"),
    "release.stated_mechanism": ("rebuilt",),
    "release.terms": ("terms_of",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Imports a part when it is first used: most commands need few of them."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"hushway.{_HOME_OF[name]}"), name)
