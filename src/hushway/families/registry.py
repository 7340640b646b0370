"""The one list of families: those of hushway, and those that installed packages bring.

A package brings a family by an entry point of the group `hushway.families`, whose name is the
release type and whose value is a class below `Family`.
"""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Final

from hushway.errors import AuditError, PlanError, PrivacyError, ReleaseError
from hushway.families.density.family import DensityFamily
from hushway.families.links.family import LinksFamily
from hushway.families.od.family import ODFamily
from hushway.families.sequences.family import SequencesFamily
from hushway.release.family import Family

if TYPE_CHECKING:
    from hushway.auditing.suite import Suite
    from hushway.release.folder.published_file import Contents

_OWN = (ODFamily(), SequencesFamily(), DensityFamily(), LinksFamily())
_GROUP: Final = "hushway.families"
_NOISE: Final = "noise"


def _installed(own: Mapping[str, Family]) -> Iterator[Family]:
    """Yields the families of other packages.

    A package can neither replace a family of hushway nor keep hushway from starting: one that does
    not load is left out, and the reason is logged.
    """
    for point in entry_points(group=_GROUP):
        if point.name in own:
            _refused(point, "hushway has a release type of that name")
            continue
        try:
            family = point.load()()
        except Exception as problem:  # noqa: BLE001  a stranger's package may fail in any way
            _refused(point, f"{type(problem).__name__}: {problem}")
            continue
        if not isinstance(family, Family) or family.name != point.name:
            _refused(point, "it is not a Family of that name")
            continue
        yield family


def _refused(point: EntryPoint, reason: str) -> None:
    package = "?" if point.dist is None else point.dist.name
    logging.getLogger(__name__).warning(
        "The release type %s of the package %s is left out: %s.", point.name, package, reason
    )


def package_of(family: Family) -> str | None:
    """Returns the package that brings a family, with its version; None for those of hushway."""
    if type(family).__module__.startswith("hushway."):
        return None
    points = (point for point in entry_points(group=_GROUP) if point.name == family.name)
    dist = next((point.dist for point in points), None)
    return type(family).__module__ if dist is None else f"{dist.name} {dist.version}"


def outside_words(family: Family) -> str | None:
    """Says that a release type is not part of hushway; None for those of hushway."""
    package = package_of(family)
    return None if package is None else f"the package {package}, which is not part of hushway"


_BUILT_IN = {family.name: family for family in _OWN}
FAMILIES: dict[str, Family] = {
    **_BUILT_IN,
    **{family.name: family for family in _installed(_BUILT_IN)},
}


def family_names() -> str:
    """Returns the names of all families, for a sentence."""
    *others, last = FAMILIES
    return f"{', '.join(others)} or {last}"


def family_named(name: object) -> Family:
    """Returns a family that a steward names.

    Raises:
        PlanError: There is no such family.
    """
    if not isinstance(name, str) or name not in FAMILIES:
        raise PlanError(
            f"release_type: must be one of {', '.join(FAMILIES)}.",
            advice="Start from a template: hushway plan new od > plan.toml",
        )
    return FAMILIES[name]


def family_certified(name: str) -> Family:
    """Returns the family that a certificate names.

    Raises:
        ReleaseError: The family is not one that this version knows.
    """
    if name not in FAMILIES:
        raise ReleaseError(
            f"The release type {name!r} is not one that this version can check.",
            advice="Verify with the version of hushway that the certificate names.",
        )
    return FAMILIES[name]


def contents_of(table: object) -> "Contents":
    """Returns a published table as something that can be written.

    Raises:
        PrivacyError: It was computed against the truth, or is not a published table at all.
    """
    from hushway.privacy.measured import Internal

    if isinstance(table, Internal):
        raise PrivacyError(
            "The table was computed against the truth.",
            advice="Internal values carry no guarantee and never leave the building.",
        )
    # Whose package it is from is asked first: the others need not be loaded then.
    home = type(table).__module__
    nearest = sorted(FAMILIES.values(), key=lambda family: not home.startswith(_package_of(family)))
    for family in nearest:
        # The very class: a subclass might carry more than the columns that a mechanism may publish.
        if type(table) in family.tables:
            return family.contents(table)
    raise PrivacyError(
        f"A {type(table).__name__} is not a published table.",
        advice="Publish only what a mechanism's `fit` returned.",
    )


def _package_of(family: Family) -> str:
    return f"{type(family).__module__.rpartition('.')[0]}."


def facts_fit(name: str, facts: object) -> bool:
    """Whether the facts of a data package are enough to read the files of a family.

    Of a family that this version does not know nothing is asked: that is a finding of its own.
    """
    from hushway.release.forecast.known import KNOWN

    if not isinstance(facts, Mapping) or not isinstance(facts.get(KNOWN, ""), str):
        return False
    return name not in FAMILIES or FAMILIES[name].facts_fit(facts)


def suite_of(name: str) -> "Suite[Any]":
    """Returns the audits of a family and its mechanisms, or of the noise that all of them draw.

    Raises:
        AuditError: There is no such family.
    """
    if name == _NOISE:
        from hushway.auditing.noise import SUITE

        return SUITE
    if name not in FAMILIES:
        raise AuditError(
            f"There are no audits of {name!r}.",
            advice=f"Choose one of: {', '.join(sorted([*FAMILIES, _NOISE]))}.",
        )
    suite = FAMILIES[name].suite
    brought = [spec.audits() for spec in FAMILIES[name].catalogue or () if spec.audits is not None]
    if not brought:
        return suite
    return replace(
        suite,
        audits=suite.audits + tuple(audit for each in brought for audit in each.audits),
        mutants=suite.mutants + tuple(mutant for each in brought for mutant in each.mutants),
    )
