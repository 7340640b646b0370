"""The audits of the sequences family, and the proof that they can fail."""

from hushway.auditing.product import Product
from hushway.auditing.suite import Audit, Suite
from hushway.families.sequences.audit import learned, people, tree, tree_mutants

AUDITS: tuple[Audit[Product], ...] = (*tree.AUDITS, *learned.AUDITS, *people.AUDITS)
SUITE = Suite(
    real=Product(),
    audits=AUDITS,
    mutants=(*tree_mutants.MUTANTS, *learned.MUTANTS, *people.MUTANTS),
)
