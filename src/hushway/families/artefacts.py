"""The families that can leave the building. Anything else is refused by its type."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hushway.errors import PrivacyError, ReleaseError
from hushway.families.density.files import published as density_files
from hushway.families.density.files.check import check_density
from hushway.families.density.files.contents import DensityContents
from hushway.families.density.mechanism.table import DensityTable
from hushway.families.links.files import published as links_files
from hushway.families.links.files.check import check_links
from hushway.families.links.files.contents import LinksContents
from hushway.families.links.mechanism.table import LinkTable
from hushway.families.od.files import published as od_files
from hushway.families.od.files.check import check_od
from hushway.families.od.files.contents import ODContents
from hushway.families.od.mechanism.table import ODTable
from hushway.families.sequences.files import published as sequences_files
from hushway.families.sequences.files.check import check_sequences
from hushway.families.sequences.files.contents import SequencesContents
from hushway.families.sequences.mechanism.table import SequenceTable
from hushway.privacy.certificate import Certificate
from hushway.privacy.measured import Internal
from hushway.release.finding import Notes
from hushway.release.resource import Contents, Description

PublishedTable = ODTable | SequenceTable | DensityTable | LinkTable
Checker = Callable[[Notes, Path, Certificate, Mapping[str, Any]], Description | None]


def facts_fit(family: str, facts: object) -> bool:
    """Whether the facts of a data package are enough to read the files of a family.

    Of a family that this version does not know nothing is asked: that is a finding of its own.
    """
    if not isinstance(facts, Mapping):
        return False
    return family not in _FAMILIES or _FAMILIES[family].facts_fit(facts)


@dataclass(frozen=True, kw_only=True)
class _Family:
    """How a verifier looks at the releases of a family.

    Attributes:
        check: Checks the files.
        facts_fit: Whether the facts of a data package are enough to read them.
    """

    check: Checker
    facts_fit: Callable[[Mapping[str, Any]], bool]


_FAMILIES = {
    "od": _Family(check=check_od, facts_fit=od_files.facts_fit),
    "sequences": _Family(check=check_sequences, facts_fit=sequences_files.facts_fit),
    "density": _Family(check=check_density, facts_fit=density_files.facts_fit),
    "links": _Family(check=check_links, facts_fit=links_files.facts_fit),
}


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
    if type(table) is SequenceTable:
        return SequencesContents(table)
    if type(table) is DensityTable:
        return DensityContents(table)
    if type(table) is LinkTable:
        return LinksContents(table)
    raise PrivacyError(
        f"A {type(table).__name__} is not a published table.",
        advice="Publish only what a mechanism's `fit` returned.",
    )


def checker_of(family: str) -> tuple[Checker, str]:
    """Returns how the files of a family are checked, and a sentence that says so.

    Raises:
        ReleaseError: The family is not one that this version knows.
    """
    if family not in _FAMILIES:
        raise ReleaseError(
            f"The family {family!r} is not one that this version can check.",
            advice="Verify with the version of hushway that the certificate names.",
        )
    return _FAMILIES[family].check, f"The release is of the family {family!r}."
