"""The hunt for planted mistakes: audits that must fail, run on a product that is known to be wrong.

An audit that passes proves little unless the same audit fails on code that is known to be wrong.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from hushway.audit.finding import Finding, MutantFinding, Progress
from hushway.audit.harness import Examination, Trial

AnyProduct = TypeVar("AnyProduct")


@dataclass(frozen=True, kw_only=True)
class Mutant(Generic[AnyProduct]):
    """A mistake and the audits that must see it.

    Attributes:
        name: The mistake in words.
        product: The product with the mistake in it.
        audits: The audits that must fail.
    """

    name: str
    product: AnyProduct
    audits: tuple[Callable[[AnyProduct, Fraction], Examination], ...]


def hunt_all(
    mutants: Sequence[Mutant[AnyProduct]], claims: Sequence[Fraction], runs: int, progress: Progress
) -> list[MutantFinding]:
    """Looks for one mistake after another, at every claim."""
    cases = [(mutant, epsilon) for epsilon in claims for mutant in mutants]
    findings = []
    for done, (mutant, epsilon) in enumerate(cases):
        progress(mutant.name, done / len(cases))
        findings.append(_hunt(mutant, epsilon, runs))
    progress("done", 1.0)
    return findings


def _hunt(mutant: Mutant[AnyProduct], epsilon: Fraction, runs: int) -> MutantFinding:
    examinations = [audit(mutant.product, epsilon) for audit in mutant.audits]
    tried = [(examination, examination.examine(runs)) for examination in examinations]
    failed = [finding for examination, finding in tried if _convicts(examination, finding)]
    return MutantFinding(
        name=mutant.name,
        epsilon=float(epsilon),
        caught=bool(failed),
        by="; ".join(finding.name for finding in failed),
        epsilon_lower=max((finding.epsilon_lower for finding in failed), default=0.0),
    )


def _convicts(examination: Examination, finding: Finding) -> bool:
    """Tells whether a finding shows a mistake: too much noise is not what mutants are guilty of."""
    if isinstance(examination, Trial):
        return finding.epsilon_lower > finding.epsilon
    return not finding.passed
