"""What a family is built from, under one roof: `from hushway import families as hw`.

The four families here are built from the same parts, imported from where they live. Whoever writes
one of their own, or studies one, finds them together; `CONTRIBUTING.md` says how.
"""

from typing import TYPE_CHECKING

from hushway.lazy_exports import attach

__all__ = [
    "LIST_BYTES",
    "AnyPlan",
    "Bound",
    "BoundingKey",
    "Certificate",
    "Contribution",
    "Curator",
    "Description",
    "ExactCounts",
    "Example",
    "Family",
    "FixedQuestions",
    "Forecast",
    "Job",
    "Mutant",
    "Periods",
    "PureLoss",
    "Query",
    "Question",
    "Resource",
    "RowsChecked",
    "SeededSource",
    "StudyBudget",
    "Suite",
    "Terms",
    "Trial",
    "Unit",
    "Window",
    "Wording",
    "World",
    "ZCDPLoss",
    "as_many",
    "check_domain",
    "check_terms",
    "csv_rows",
    "digest_of",
    "exact",
    "filled_budget",
    "noise_for",
    "os_source",
    "public_facts",
    "read_plain",
    "rebuilt",
    "rho_for",
    "table_schema",
    "terms_of",
]

if TYPE_CHECKING:
    from hushway.auditing.harness import Trial, World, as_many
    from hushway.auditing.product import filled_budget
    from hushway.auditing.suite import Mutant, Suite
    from hushway.engine.key import BoundingKey
    from hushway.geography.periods import Periods
    from hushway.privacy.accounting import rho_for
    from hushway.privacy.bound import Bound, Unit
    from hushway.privacy.calibration import noise_for
    from hushway.privacy.certificate import Certificate, Contribution, Terms
    from hushway.privacy.curator import Curator
    from hushway.privacy.ledger import Window
    from hushway.privacy.loss import PureLoss, ZCDPLoss, exact
    from hushway.privacy.public_facts import digest_of, public_facts
    from hushway.privacy.query import ExactCounts, Query
    from hushway.privacy.randomness import SeededSource, os_source
    from hushway.release.family import Example, Family
    from hushway.release.folder.published_file import Description, Resource, table_schema
    from hushway.release.forecast.study_budget import StudyBudget
    from hushway.release.job import Job, Wording
    from hushway.release.mechanism import FixedQuestions, Forecast, Question
    from hushway.release.plans.sections import AnyPlan
    from hushway.release.terms import check_domain, check_terms, rebuilt, terms_of
    from hushway.release.untrusted.limits import LIST_BYTES, csv_rows, read_plain
    from hushway.tables.check import RowsChecked
else:
    __getattr__, __dir__ = attach(__name__, __all__)
