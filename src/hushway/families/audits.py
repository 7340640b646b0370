"""Which audits there are; a new family of releases adds its own here."""

from typing import Any

from hushway.audit.noise import SUITE as NOISE
from hushway.audit.suite import Suite
from hushway.errors import AuditError
from hushway.families.density.audit.suite import SUITE as DENSITY
from hushway.families.links.audit.suite import SUITE as LINKS
from hushway.families.od.audit.suite import SUITE as OD
from hushway.families.sequences.audit.suite import SUITE as SEQUENCES

FAMILIES: dict[str, Suite[Any]] = {
    "density": DENSITY,
    "links": LINKS,
    "noise": NOISE,
    "od": OD,
    "sequences": SEQUENCES,
}


def suite_of(family: str) -> Suite[Any]:
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
