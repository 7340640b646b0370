"""What every suite of audits does: check the claims, run the audits, report on the way."""

from collections.abc import Callable, Sequence
from fractions import Fraction

from hushway.audit.bounds import runs_needed
from hushway.audit.finding import Finding, Progress
from hushway.audit.harness import Examination
from hushway.errors import AuditError

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
