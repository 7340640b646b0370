"""What a family is built from, under one roof: `from hushway import families as hw`.

The four families here are built from the same parts, imported from where they live. Whoever writes
one of their own, or studies one, finds them together; `CONTRIBUTING.md` says how.
"""

from typing import Any

from hushway.lazy_exports import face

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

_find = face(
    __name__,
    {
        "audit.harness": ("Trial", "World", "as_many"),
        "audit.product": ("filled_budget",),
        "audit.suite": ("Mutant", "Suite"),
        "engine.key": ("BoundingKey",),
        "geography.periods": ("Periods",),
        "privacy.accounting": ("rho_for",),
        "privacy.bound": ("Bound", "Unit"),
        "privacy.calibration": ("noise_for",),
        "privacy.certificate": ("Certificate", "Contribution", "Terms"),
        "privacy.curator": ("Curator",),
        "privacy.ledger": ("Window",),
        "privacy.loss": ("PureLoss", "ZCDPLoss", "exact"),
        "privacy.public_facts": ("digest_of", "public_facts"),
        "privacy.query": ("ExactCounts", "Query"),
        "privacy.randomness": ("SeededSource", "os_source"),
        "release.untrusted.limits": ("LIST_BYTES", "csv_rows", "read_plain"),
        "release.family": ("Example", "Family"),
        "release.forecast.study_budget": ("StudyBudget",),
        "release.job": ("Job", "Wording"),
        "release.mechanism": ("FixedQuestions", "Forecast", "Question"),
        "release.plans.sections": ("AnyPlan",),
        "release.folder.published_file": ("Description", "Resource", "table_schema"),
        "release.terms": ("check_domain", "check_terms", "rebuilt", "terms_of"),
        "tables.check": ("RowsChecked",),
    },
    below="hushway",
)


def __getattr__(name: str) -> Any:
    return _find(name)


def __dir__() -> list[str]:
    return __all__
