"""The hunt for planted mistakes: audits that must fail, run on a product that is known to be wrong.

An audit that passes proves little unless the same audit fails on code that is known to be wrong.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from hushway.audit.bounds import runs_needed
from hushway.audit.finding import Finding, MutantFinding, Progress
from hushway.audit.harness import Examination, Trial
from hushway.errors import AuditError

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


Builder = Callable[[], Examination]

EPSILONS = (Fraction(1), Fraction(4))
# Beyond it no affordable number of runs sees the rare event that a claim is about.
LARGEST_EPSILON = 10


def checked_claims(runs: int, epsilons: Sequence[Fraction | int]) -> tuple[Fraction, ...]:
    """Returns the epsilons as fractions.

    Raises:
        AuditError: An epsilon is out of reach, or the runs are too few to see what correct code
            loses.
    """
    claims = tuple(Fraction(epsilon) for epsilon in epsilons)
    if not claims or not all(0 < epsilon <= LARGEST_EPSILON for epsilon in claims):
        raise AuditError(
            f"An audit needs claims above 0 and up to {LARGEST_EPSILON}.",
            advice="Give for example the epsilons 1 and 4.",
        )
    needed = max(runs_needed(epsilon) for epsilon in claims)
    if runs < needed:
        raise AuditError(
            f"{runs:,} runs are too few to audit these epsilons.",
            advice=f"Give at least {needed:,} runs.",
        )
    return claims


def examine_all(builders: Sequence[Builder], runs: int, progress: Progress) -> list[Finding]:
    """Puts one claim after another to the test."""
    findings = []
    for done, build in enumerate(builders):
        examination = build()
        progress(examination.name, done / len(builders))
        findings.append(examination.examine(runs))
    progress("done", 1.0)
    return findings
