"""Which audits there are; a new family of releases adds its own here."""

from collections.abc import Callable
from dataclasses import dataclass

from hushway.audit.finding import Finding, MutantFinding
from hushway.audit.noise import audit_noise
from hushway.errors import AuditError
from hushway.families.density.audit.suite import audit_density, audit_density_mutants
from hushway.families.links.audit.suite import audit_link_mutants, audit_links
from hushway.families.od.audit.suite import audit_mutants, audit_od
from hushway.families.sequences.audit.suite import audit_sequence_mutants, audit_sequences


@dataclass(frozen=True, kw_only=True)
class Suite:
    """The audits of one family. Both functions take `runs`, `epsilons` and `progress`.

    Attributes:
        audit: Audits the real code.
        mutants: Audits code with planted mistakes; answers nothing if the family has none.
    """

    audit: Callable[..., list[Finding]]
    mutants: Callable[..., list[MutantFinding]]


def _no_mutants(**_options: object) -> list[MutantFinding]:
    return []


FAMILIES = {
    "density": Suite(audit=audit_density, mutants=audit_density_mutants),
    "links": Suite(audit=audit_links, mutants=audit_link_mutants),
    "noise": Suite(audit=audit_noise, mutants=_no_mutants),
    "od": Suite(audit=audit_od, mutants=audit_mutants),
    "sequences": Suite(audit=audit_sequences, mutants=audit_sequence_mutants),
}


def suite_of(family: str) -> Suite:
    """Returns the audits of a family.

    Raises:
        AuditError: There is no such family.
    """
    if family not in FAMILIES:
        raise AuditError(
            f"There are no audits of {family!r}.",
            advice=f"Choose one of: {', '.join(sorted(FAMILIES))}.",
        )
    return FAMILIES[family]
