"""The families that can leave the building. Anything else is refused by its type."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hushway.artefact.finding import Notes
from hushway.artefact.od import ODContents
from hushway.artefact.od_check import check_od
from hushway.artefact.resource import Contents, Description
from hushway.errors import PrivacyError, ReleaseError
from hushway.privacy.certificate import Certificate
from hushway.privacy.internal import Internal
from hushway.releases.od.table import ODTable

Checker = Callable[[Notes, Path, Certificate, Mapping[str, Any]], Description | None]

_CHECKERS: dict[str, Checker] = {"od": check_od}


def contents_of(table: object) -> Contents:
    """Returns a published table as something that can be written.

    Raises:
        PrivacyError: It was computed against the truth, or is not a published table at all.
    """
    if isinstance(table, Internal):
        raise PrivacyError(
            "The table was computed against the truth.",
            advice="Internal values carry no guarantee and never leave the building.",
        )
    # The very class: a subclass might carry more than the columns that a mechanism may publish.
    if type(table) is ODTable:
        return ODContents(table)
    raise PrivacyError(
        f"A {type(table).__name__} is not a published table.",
        advice="Publish only what a mechanism's `fit` returned.",
    )


def checker_of(family: str) -> tuple[Checker, str]:
    """Returns how the files of a family are checked, and a sentence that says so.

    Raises:
        ReleaseError: The family is not one that this version knows.
    """
    if family not in _CHECKERS:
        raise ReleaseError(
            f"The family {family!r} is not one that this version can check.",
            advice="Verify with the version of hushway that the certificate names.",
        )
    return _CHECKERS[family], f"The release is of the family {family!r}."
