"""The audits of the density family, and the proof that they can fail."""

from hushway.auditing.product import Product
from hushway.auditing.suite import Audit, Suite
from hushway.families.density.audit import cuts, limits, mutants, questions, whole

AUDITS: tuple[Audit[Product], ...] = (
    *questions.AUDITS,
    *limits.AUDITS,
    *cuts.AUDITS,
    *whole.AUDITS,
)
MUTANTS = mutants.MUTANTS
SUITE = Suite(real=Product(), audits=AUDITS, mutants=MUTANTS)
