"""The audits of the links family, and the proof that they can fail."""

from hushway.auditing.suite import Audit, Suite
from hushway.families.links.audit import counts, ends, limits, mutants
from hushway.families.links.audit.stage import LinkProduct

AUDITS: tuple[Audit[LinkProduct], ...] = (*counts.AUDITS, *limits.AUDITS, *ends.AUDITS)
MUTANTS = (*mutants.MUTANTS, *limits.MUTANTS)
SUITE = Suite(real=LinkProduct(), audits=AUDITS, mutants=MUTANTS)
