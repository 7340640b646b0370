"""A suite of audits, and the hunt for planted mistakes that proves that they can fail.

An audit that passes proves little unless the same audit fails on code that is known to be wrong.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from hushway.audit.bounds import runs_needed
from hushway.audit.harness import Examination, Finding, MutantFinding, Trial
from hushway.errors import AuditError
from hushway.progress import Progress, quiet

AnyProduct = TypeVar("AnyProduct")

Audit = Callable[[AnyProduct, Fraction], Examination]
"""Puts a product to a test of what it claims at an epsilon."""

EPSILONS = (Fraction(1), Fraction(4))
# Beyond it no affordable number of runs sees the rare event that a claim is about.
LARGEST_EPSILON = 10


@dataclass(frozen=True, kw_only=True)
class Mutant(Generic[AnyProduct]):
    """A mistake and the audits that must see it."""

    name: str
    product: AnyProduct
    audits: tuple[Audit[AnyProduct], ...]

    def hunt(self, epsilon: Fraction, runs: int) -> MutantFinding:
        """Looks for the mistake at one claim."""
        examinations = [audit(self.product, epsilon) for audit in self.audits]
        tried = [(examination, examination.examine(runs)) for examination in examinations]
        failed = [finding for examination, finding in tried if _convicts(examination, finding)]
        return MutantFinding(
            name=self.name,
            epsilon=float(epsilon),
            caught=bool(failed),
            by="; ".join(finding.name for finding in failed),
            epsilon_lower=max((finding.epsilon_lower for finding in failed), default=0.0),
        )


def mutant(name: str, product: AnyProduct, *audits: Audit[AnyProduct]) -> Mutant[AnyProduct]:
    """Returns a mistake by its name, the product that makes it, and the audits that must see it."""
    return Mutant(name=name, product=product, audits=audits)


@dataclass(frozen=True, kw_only=True)
class Suite(Generic[AnyProduct]):
    """The audits of one product.

    Attributes:
        real: The product as it is.
        audits: What it must pass, with the real source of noise.
        mutants: The same product with planted mistakes, each of which must be caught.
    """

    real: AnyProduct
    audits: tuple[Audit[AnyProduct], ...]
    mutants: tuple[Mutant[AnyProduct], ...] = ()

    def audit(
        self,
        *,
        runs: int,
        epsilons: Sequence[Fraction | int] = EPSILONS,
        progress: Progress = quiet,
    ) -> list[Finding]:
        """Audits the real code, claim after claim.

        Args:
            runs: Runs on each side of an audit of ordinary effort.
            epsilons: The claims to audit; Gaussian noise claims them with a delta of 1/100.
            progress: Told what is being audited.

        Raises:
            AuditError: There are too few runs for one of the epsilons.
        """
        claims = _checked_claims(runs, epsilons)
        cases = [(audit, epsilon) for epsilon in claims for audit in self.audits]
        findings = []
        for done, (audit, epsilon) in enumerate(cases):
            # Made one at a time: some hold much.
            examination = audit(self.real, epsilon)
            progress(examination.name, done / len(cases))
            findings.append(examination.examine(runs))
        progress("done", 1.0)
        return findings

    def hunt(
        self,
        *,
        runs: int,
        epsilons: Sequence[Fraction | int] = EPSILONS,
        progress: Progress = quiet,
    ) -> list[MutantFinding]:
        """Runs the audits on code with a planted mistake; every mistake should be caught.

        Args:
            runs: Runs on each side of an audit of ordinary effort.
            epsilons: The claims that the mutants make.
            progress: Told which mistake is being looked for.

        Raises:
            AuditError: There are too few runs for one of the epsilons.
        """
        claims = _checked_claims(runs, epsilons)
        cases = [(planted, epsilon) for epsilon in claims for planted in self.mutants]
        findings = []
        for done, (planted, epsilon) in enumerate(cases):
            progress(planted.name, done / len(cases))
            findings.append(planted.hunt(epsilon, runs))
        progress("done", 1.0)
        return findings


def _convicts(examination: Examination, finding: Finding) -> bool:
    """Tells whether a finding shows a mistake: too much noise is not what mutants are guilty of."""
    if isinstance(examination, Trial):
        return finding.epsilon_lower > finding.epsilon
    return not finding.passed


def _checked_claims(runs: int, epsilons: Sequence[Fraction | int]) -> tuple[Fraction, ...]:
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
